// path: cold
#include "actors/peer/secret_file.h"

#include "config/byte_order_mark.h"
#include "nic/file_descriptor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace pinstrike::actors::peer {

namespace {

/// Returns why an open file must not be used as a private file; empty: it may be used.
std::string fault_of(int descriptor, const std::string& path) {
    struct stat about {};

    if (::fstat(descriptor, &about) != 0) {
        return fmt::format("{}: {}", path, std::strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return fmt::format("found {}, expected a file", path);
    }
    constexpr unsigned all_bits = 07777;
    constexpr unsigned others_bits = 077;
    const unsigned mode = about.st_mode & all_bits;
    if ((mode & others_bits) != 0) {
        return fmt::format(
            "found {} with mode {:04o}, expected 0600 or less, so that only its owner can read it: "
            "chmod 600 {}",
            path, mode, path);
    }
    if (about.st_uid != ::geteuid() && about.st_uid != 0) {
        return fmt::format(
            "found {} of user {}, expected user {}, who runs this, or root: chown {} {}", path,
            about.st_uid, ::geteuid(), ::geteuid(), path);
    }
    return "";
}

/// Returns the descriptor of a file that passed the checks. On an error, returns -1 and adds a
/// problem.
int open_private(const std::string& key, const std::string& path, Problems& problems) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        const int error = errno;
        add_problem(problems, Place{}, fmt::format("{}: {}: {}", key, path, std::strerror(error)),
                    remedy_of(error));
        return -1;
    }
    const std::string fault = fault_of(descriptor, path);
    if (!fault.empty()) {
        add_problem(problems, Place{}, fmt::format("{}: {}", key, fault));
        ::close(descriptor);
        return -1;
    }
    return descriptor;
}

}  // namespace

std::optional<Secret> read_secret(const std::string& key, const std::string& path,
                                  Problems& problems) {
    const nic::FileDescriptor file(open_private(key, path, problems));
    if (file.get() < 0) {
        return std::nullopt;
    }
    std::array<char, secret_bytes_max + 16> buffer{};
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    std::string_view text(buffer.data(), count < 0 ? 0 : static_cast<std::size_t>(count));
    text = without_byte_order_mark(text);
    constexpr std::string_view blanks = " \t\n\r";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    std::optional<Secret> secret;
    if (count < 0) {
        const int error = errno;
        add_problem(problems, Place{}, fmt::format("{}: {}: {}", key, path, std::strerror(error)),
                    remedy_of(error));
    } else if (text.size() < secret_bytes_min || text.size() > secret_bytes_max) {
        add_problem(
            problems, Place{},
            fmt::format("{}: found {} with a secret of {} characters, expected {} to {}: openssl "
                        "rand -hex 32 > {}",
                        key, path, text.size(), secret_bytes_min, secret_bytes_max, path));
    } else {
        secret.emplace(std::as_bytes(std::span{text}));
    }
    wipe(std::as_writable_bytes(std::span{buffer}));
    return secret;
}

bool check_private(const std::string& key, const std::string& path, Problems& problems) {
    return nic::FileDescriptor(open_private(key, path, problems)).get() >= 0;
}

}  // namespace pinstrike::actors::peer
