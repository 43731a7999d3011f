// path: cold
#include "actors/gateway/client_keys.h"

#include "actors/market/reader_keys.h"
#include "actors/peer/secret_file.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <set>

namespace pinstrike::actors::gateway {
namespace {

struct KeyFile {
    ClientKeys keys;
};

bool is_key(const std::string& text) {
    return text.size() == key_bytes && std::all_of(text.begin(), text.end(), [](char c) {
               return c > ' ' && c <= '~' && c != '|' && c != '=';
           });
}

/// A key as a config key. Problems must not show a secret, so this form reports no text.
Form<std::string> secret_key_form() {
    Form<std::string> form =
        text_like("32 printable characters without '|' and '='", "^[!-<>-{}~]{32}$", is_key);
    form.read = [](const Node& node, const std::string& path, std::string& into, Reader& reader) {
        if (node.kind != Node::Kind::scalar || !is_key(node.text)) {
            reader.mark_bad(path);
            reader.report(node.mark,
                          path + ": expected 32 printable characters without '|' and '='");
            return false;
        }
        into = node.text;
        return true;
    };
    form.write = [](const std::string&) { return Node::plain("secret"); };
    return form;
}

Section<KeyFile> file_section() {
    Section<KeyFile> section{"a file of keys"};
    section
        .key("keys", &KeyFile::keys, list_of(section_form(client_key_section()), "a list of keys"),
             "Keys of clients.")
        .required();
    return section;
}

/// A random letter or digit for each byte below the largest multiple of their number.
constexpr std::string_view challenge_letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

}  // namespace

bool ClientKey::allows(std::string_view root) const {
    return underlyings.empty() ||
           std::find(underlyings.begin(), underlyings.end(), root) != underlyings.end();
}

Section<ClientKey> client_key_section() {
    Section<ClientKey> section{"a key"};
    section
        .key("user", &ClientKey::user, name_text(),
             "Who has the key, as log, metrics and usage reports name it.")
        .required()
        .key("key", &ClientKey::key, secret_key_form(),
             "The secret of 32 characters, as clients are given it: db- and 29 letters or digits.")
        .required()
        .key("underlyings", &ClientKey::underlyings, roots_form(),
             "Roots that the key may subscribe; ALL_SYMBOLS then means these. Empty: all.")
        .key("sessions", &ClientKey::sessions, integer(1U, 1000U), "Most sessions open at once.")
        .unit("sessions")
        .key("subscriptions", &ClientKey::subscriptions, integer(1U, 1'000'000U),
             "Most subscription lines of a session.")
        .unit("lines")
        .key("records_per_second", &ClientKey::records_per_second,
             or_word<std::uint64_t>("unlimited", 0, integer<std::uint64_t>(1, 1'000'000'000)),
             "Most records sent to a session in a second; the others are skipped, and an error "
             "record "
             "says how many.")
        .unit("records")
        .key("replays", &ClientKey::replays, integer(0U, 64U),
             "Most replays of the recording at once, of all its sessions; 0: none is allowed.")
        .unit("replays");
    return section;
}

bool is_example(const std::string& path) {
    return path.ends_with(".example");
}

bool read_client_keys(const std::string& path, ClientKeys& keys, Problems& problems) {
    const std::size_t before = problems.size();
    if (!is_example(path) && !peer::check_private("keys", path, problems)) {
        return false;
    }
    KeyFile file;
    static_cast<void>(read_file(file_section(), path, file, problems));
    std::set<std::string> users;
    std::set<std::string> secrets;
    for (const ClientKey& key : file.keys) {
        if (!users.insert(key.user).second) {
            add_problem(problems, path, fmt::format("two keys of user {}", key.user));
        }
        if (!secrets.insert(key.key).second) {
            add_problem(problems, path,
                        fmt::format("the key of user {} is that of another user too", key.user));
        }
    }
    if (problems.size() == before && file.keys.empty()) {
        add_problem(problems, path, "found no key, expected one at least");
    }
    if (problems.size() != before) {
        return false;
    }
    keys = std::move(file.keys);
    return true;
}

std::string new_challenge() {
    std::string text;
    while (text.size() < challenge_bytes) {
        std::array<unsigned char, challenge_bytes> random{};
        if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
            continue;  // interrupted by a signal
        }
        constexpr std::size_t fair = 256 / challenge_letters.size() * challenge_letters.size();
        for (const unsigned char byte : random) {
            if (byte < fair && text.size() < challenge_bytes) {
                text += challenge_letters[byte % challenge_letters.size()];
            }
        }
    }
    return text;
}

std::string answer_of(std::string_view challenge, std::string_view key) {
    const std::string asked = fmt::format("{}|{}", challenge, key);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned count = 0;
    EVP_Digest(asked.data(), asked.size(), digest.data(), &count, EVP_sha256(), nullptr);
    std::string hex;
    for (unsigned i = 0; i < count; ++i) {
        hex += fmt::format("{:02x}", digest[i]);
    }
    return hex + '-' + std::string{key.substr(key.size() - std::min(key.size(), bucket_bytes))};
}

const ClientKey* authenticate(const ClientKeys& keys, std::string_view challenge,
                              std::string_view auth) {
    const ClientKey* found = nullptr;
    const std::string_view bucket = auth.substr(auth.size() - std::min(auth.size(), bucket_bytes));
    for (const ClientKey& key : keys) {
        if (!key.key.ends_with(bucket)) {
            continue;  // clients state the end of their key in clear text; the rest stays secret
        }
        const std::string wanted = answer_of(challenge, key.key);
        if (wanted.size() == auth.size() &&
            CRYPTO_memcmp(wanted.data(), auth.data(), wanted.size()) == 0) {
            found = &key;
        }
    }
    return found;
}

}  // namespace pinstrike::actors::gateway
