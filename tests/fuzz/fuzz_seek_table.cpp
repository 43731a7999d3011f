// path: cold
//
// Reads any bytes as a file in the seekable format of zstd, by its table and as a capture.
#include "config/check.h"
#include "nic/capture/seekable_zstd.h"
#include "nic/file_descriptor.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace pinstrike;

int fuzz_one(std::span<const std::byte> bytes) {
    const nic::FileDescriptor file{::memfd_create("fuzz", MFD_CLOEXEC)};
    PINSTRIKE_CHECK(::write(file.get(), bytes.data(), bytes.size()) ==
                    static_cast<ssize_t>(bytes.size()));
    auto opened = nic::SeekableZstd::open(file.get());
    if (!opened) {
        return 0;
    }
    constexpr std::uint64_t frames_max = 64;
    std::uint64_t at = 0;
    for (std::uint64_t frames = 0; frames < frames_max; ++frames) {
        const auto read = opened->read(at);
        if (read.empty()) {
            PINSTRIKE_CHECK(at == opened->bytes());
            break;
        }
        PINSTRIKE_CHECK(read.size() <= nic::zstd_frame_bytes_max);
        PINSTRIKE_CHECK(opened->read(at + read.size() - 1).size() == 1);
        at += read.size();
        PINSTRIKE_CHECK(at <= opened->bytes() && opened->file_offset() <= bytes.size());
    }
    return 0;
}
