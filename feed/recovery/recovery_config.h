// path: cold
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::feed {

/// Who is asked for what is missing.
enum class RepairKind : std::uint8_t {
    retransmission,  ///< the published groups: nobody is asked, what comes is waited for
    peer,            ///< another instance
    arf,             ///< the venue's own request facility; its format is not public
};

struct RecoveryConfig {
    std::vector<RepairKind> sources;                 ///< in this order; empty: no recovery
    std::int64_t request_after_ns = 500'000;         ///< the other stream may fill the hole
    std::int64_t answer_within_ns = 20'000'000;      ///< then the next source is asked
    std::int64_t give_up_after_ns = 10'000'000'000;  ///< of a hole, from its first note
    std::uint32_t requests_per_second = 500;         ///< over all lines and sources
    std::uint32_t messages_per_second = 200'000;     ///< asked for, likewise
    std::size_t ranges_max = 4096;                   ///< of each line
};

[[nodiscard]] inline bool has_source(const RecoveryConfig& config, RepairKind kind) {
    return std::find(config.sources.begin(), config.sources.end(), kind) != config.sources.end();
}

}  // namespace pinstrike::feed
