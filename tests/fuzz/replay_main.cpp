// path: cold
//
// Replays corpora without a fuzzer, so that every compiler and sanitizer can run them: all files
// below the given folders, and prefixes of each file. With `-` it runs standard input once, as
// AFL++ requires.
//
//     replay_NAME PREFIXES FOLDER... | -
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>
#include <vector>

namespace {

using Bytes = std::vector<std::byte>;

Bytes read_all(std::istream& in) {
    const std::vector<char> chars{std::istreambuf_iterator<char>{in}, {}};
    const auto bytes = std::as_bytes(std::span{chars});
    return {bytes.begin(), bytes.end()};
}

/// For a long input, only every n-th prefix runs, so that a replay stays short.
void run_with_prefixes(const Bytes& whole, std::size_t prefixes) {
    const std::size_t step = std::max<std::size_t>(1, whole.size() / prefixes);
    for (std::size_t length = 0; length < whole.size(); length += step) {
        const Bytes exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        fuzz_one(exact);
    }
    fuzz_one(whole);
}

std::size_t replay(const std::filesystem::path& folder, std::size_t prefixes) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
        if (entry.is_regular_file()) {
            std::ifstream in{entry.path(), std::ios::binary};
            run_with_prefixes(read_all(in), prefixes);
            ++files;
        }
    }
    return files;
}

}  // namespace

int main(int argc, char** argv) {
    const std::size_t prefixes = argc < 2 ? 0 : std::strtoul(argv[1], nullptr, 10);
    if (prefixes == 0) {
        std::fprintf(stderr, "expected: PREFIXES FOLDER..., or PREFIXES -\n");
        return 2;
    }
    std::size_t files = 0;
    for (int i = 2; i < argc; ++i) {
        if (std::string_view{argv[i]} == "-") {
            fuzz_one(read_all(std::cin));
            ++files;
        } else {
            files += replay(argv[i], prefixes);
        }
    }
    std::printf("%zu inputs\n", files);
    return files == 0 ? 1 : 0;  // an empty corpus must not pass
}
