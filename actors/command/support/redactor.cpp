// path: cold
#include "actors/command/support/redactor.h"

#include "actors/topology/feed_keys.h"
#include "config/byte_order_mark.h"
#include "config/yaml.h"
#include "nic/packet/address.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

namespace pinstrike::actors::support {

namespace {

constexpr std::string_view hidden = "(redacted)";
constexpr std::size_t secret_bytes_least = 8;

/// Keys whose value is the path of a file with a secret.
constexpr std::array<std::string_view, 2> secret_files{"peer.secret_file", "peer.tls.key"};

/// True if the address does not identify a host.
bool is_common(nic::Ipv4 address) {
    const std::uint32_t first = address.value >> 24U;
    return nic::is_multicast(address) || first == 127 || first == 0 || first == 255;
}

bool is_part_of_word(char c) {
    return c == '.' || (c >= '0' && c <= '9');
}

std::string trimmed(std::string_view line) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!line.empty() && blank(line.front())) {
        line.remove_prefix(1);
    }
    while (!line.empty() && blank(line.back())) {
        line.remove_suffix(1);
    }
    return std::string{line};
}

std::set<std::string> known_paths() {
    std::vector<KeyDoc> docs;
    document_section(feed_section(), "", docs);
    std::set<std::string> paths;
    for (const KeyDoc& doc : docs) {
        paths.insert(doc.path);
    }
    return paths;
}

class ConfigRedaction {
  public:
    explicit ConfigRedaction(Redactor& redactor) : redactor_(redactor) {}

    void walk(Node& node, const std::string& path) {
        for (Node& child : node.children) {
            const std::string at = node.kind != Node::Kind::mapping ? path
                                   : path.empty()                   ? child.key
                                                                    : path + "." + child.key;
            if (node.kind == Node::Kind::mapping && !known_.contains(at)) {
                hide(child);
            } else if (child.kind == Node::Kind::scalar && is_secret_file(at)) {
                keep_only_a_path(child);
            } else {
                walk(child, at);
            }
        }
    }

  private:
    static bool is_secret_file(const std::string& path) {
        return std::find(secret_files.begin(), secret_files.end(), path) != secret_files.end();
    }

    /// Keeps the value only if it is an absolute path, because some users write the secret itself
    /// instead of the path of its file.
    void keep_only_a_path(Node& node) {
        if (node.text.starts_with('/')) {
            redactor_.hide_content_of(node.text);
        } else {
            hide(node);
        }
    }

    /// Hides the text of a node and of all nodes below it.
    void hide(Node& node) {
        redactor_.hide(node.text);
        for (Node& child : node.children) {
            hide(child);
        }
        std::string key = std::move(node.key);
        node = Node::plain(std::string{hidden});
        node.key = std::move(key);
    }

    Redactor& redactor_;
    std::set<std::string> known_ = known_paths();
};

}  // namespace

void Redactor::hide(std::string_view secret) {
    if (secret.size() >= secret_bytes_least) {
        secrets_.emplace_back(secret);
        std::sort(secrets_.begin(), secrets_.end(),
                  [](const auto& one, const auto& other) { return one.size() > other.size(); });
    }
}

void Redactor::hide_content_of(const std::string& file) {
    std::ifstream in{file, std::ios::binary};
    std::string line;
    while (std::getline(in, line)) {
        const std::string_view text = without_byte_order_mark(line);
        if (!text.starts_with("-----")) {  // the first and last lines of PEM files are no secrets
            hide(trimmed(text));
        }
    }
}

void Redactor::hide_private_files_of(std::string_view text) {
    constexpr std::string_view ends = " \t\r\n\"',;{}[]";
    constexpr off_t small_bytes = 65536;
    for (std::size_t at = text.find('/'); at != std::string_view::npos; at = text.find('/', at)) {
        const std::size_t end = std::min(text.find_first_of(ends, at), text.size());
        const std::string path{text.substr(at, end - at)};

        struct stat status {};

        if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_size <= small_bytes && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0) {
            hide_content_of(path);
        }
        at = end;
    }
}

std::string Redactor::redacted(std::string_view text) {
    std::string out{text};
    for (const std::string& secret : secrets_) {
        for (std::size_t at = out.find(secret); at != std::string::npos;
             at = out.find(secret, at + hidden.size())) {
            out.replace(at, secret.size(), hidden);
        }
    }
    return keeps_addresses_ ? out : without_addresses(out);
}

std::string Redactor::without_addresses(const std::string& text) {
    std::string out;
    std::size_t at = 0;
    while (at < text.size()) {
        if (!is_part_of_word(text[at])) {
            out += text[at++];
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && is_part_of_word(text[end])) {
            ++end;
        }
        std::string word = text.substr(at, end - at);
        at = end;
        const std::string ending = word.ends_with('.') ? "." : "";  // the full stop of a sentence
        word.resize(word.size() - ending.size());
        const auto address = nic::parse_ipv4(word);
        if (address && !is_common(*address)) {
            const std::size_t next = hosts_.size() + 1;
            word = fmt::format("host{}", hosts_.try_emplace(word, next).first->second);
        }
        out += word + ending;
    }
    return out;
}

std::string redacted_config(std::string_view text, Redactor& redactor, std::string& complaint) {
    redactor.hide_private_files_of(text);
    Problems problems;
    auto root = parse_yaml(text, "config", problems);
    if (!root || root->kind != Node::Kind::mapping) {
        complaint =
            "it is no YAML mapping, so secrets in it cannot be found; see check.txt for what is "
            "wrong";
        return {};
    }
    ConfigRedaction{redactor}.walk(*root, "");
    return to_yaml(*root);
}

}  // namespace pinstrike::actors::support
