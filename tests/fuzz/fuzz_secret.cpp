// path: cold
//
// Reads any bytes as a secret file. The result is either a secret of valid length without blanks
// around it, or a problem. The text of the problem must not depend on the bytes of the secret.
#include "actors/peer/secret_file.h"
#include "config/check.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace pinstrike;

/// Reads the bytes from a file in memory with mode 0600.
std::optional<actors::peer::Secret> read(std::span<const std::byte> bytes, Problems& problems) {
    static const int file = ::memfd_create("secret", MFD_CLOEXEC);
    const bool written =
        ::fchmod(file, S_IRUSR | S_IWUSR) == 0 && ::ftruncate(file, 0) == 0 &&
        ::pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    PINSTRIKE_CHECK(written);
    return actors::peer::read_secret("peer.secret_file", "/proc/self/fd/" + std::to_string(file),
                                     problems);
}

bool is_blank(std::byte byte) {
    constexpr std::string_view blanks = " \t\r\n";
    return blanks.find(static_cast<char>(byte)) != std::string_view::npos;
}

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    Problems problems;
    const auto secret = read(bytes, problems);
    PINSTRIKE_CHECK(secret.has_value() == problems.empty());
    if (secret) {
        const auto kept = secret->bytes();
        PINSTRIKE_CHECK(kept.size() >= actors::peer::secret_bytes_min &&
                        kept.size() <= actors::peer::secret_bytes_max);
        PINSTRIKE_CHECK(!is_blank(kept.front()) && !is_blank(kept.back()));
        return 0;
    }
    std::vector<std::byte> others(bytes.begin(), bytes.end());
    std::replace_if(
        others.begin(), others.end(), [](std::byte byte) { return !is_blank(byte); },
        std::byte{'x'});
    Problems same;
    PINSTRIKE_CHECK(!read(others, same) && same.size() == 1 && problems.size() == 1);
    PINSTRIKE_CHECK(same[0].text == problems[0].text);
    return 0;
}
