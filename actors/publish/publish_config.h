// path: cold
//
// The config of what a feed publishes to other programs on its host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pinstrike::actors {

enum class PublishMemory : std::uint8_t { off, shm, hugetlbfs };

struct PublishConfig {
    PublishMemory memory = PublishMemory::off;
    bool stream = false;
    /// Records of 64 bytes in the stream of each core, a power of two. The 32 MiB hold 50 ms at
    /// 10 M messages/s.
    std::size_t stream_records = std::size_t{1} << 19;
    std::string name;   ///< under which readers find it; empty: that of the feed
    bool kept = false;  ///< the memory stays after the end

    [[nodiscard]] bool on() const { return memory != PublishMemory::off; }
};

}  // namespace pinstrike::actors
