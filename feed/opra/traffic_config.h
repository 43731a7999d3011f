// path: cold
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

enum class PacketShape : std::uint8_t {
    full,      ///< blocks filled to 1000 bytes, as in bursts: about 33 messages
    ordinary,  ///< geometric, 2.26 messages a packet on average
    blend,     ///< both: bursts amid ordinary traffic
};

/// Faults of one stream on the way to us. Probabilities are per packet, 0 to 1.
struct StreamFaults {
    double loss = 0;
    double duplicate = 0;
    double reorder = 0;
    double corrupt = 0;
    std::int64_t skew_ns = 0;  ///< later than the other stream
};

/// What `generate` and the sim port make. The same seed makes the same bytes.
struct TrafficConfig {
    std::uint64_t seed = 1;
    PacketShape shape = PacketShape::blend;
    std::size_t lines_count = 96;  ///< the first so many of the configured lines
    std::size_t roots_count = 4000;
    std::size_t series_count = 1'500'000;
    std::uint64_t messages_count = 1'000'000;
    double rate_messages_per_second = 1'000'000;
    double mix = 1;       ///< 0: plain short quotes only; 1: the realistic mix
    bool session = true;  ///< with start of day, open interest, end of day ...
    StreamFaults a;
    StreamFaults b;
};

}  // namespace pinstrike::feed::opra
