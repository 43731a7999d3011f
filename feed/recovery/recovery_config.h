// path: cold
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::feed {

/// The kinds of sources of missing messages.
enum class RepairKind : std::uint8_t {
    retransmission,  ///< the published groups, which take no requests
    peer,            ///< another instance
};

struct RecoveryConfig {
    std::vector<RepairKind> sources;                 ///< tried in this order; empty: no recovery
    std::int64_t request_after_ns = 500'000;         ///< time for the other stream to fill a hole
    std::int64_t answer_within_ns = 20'000'000;      ///< after it, the next source gets a request
    std::int64_t give_up_after_ns = 10'000'000'000;  ///< counted from the first note of a hole
    std::uint32_t requests_per_second = 500;         ///< over all lines and sources
    std::uint32_t messages_per_second = 200'000;     ///< requested, over all lines and sources
    std::size_t ranges_max = 4096;                   ///< per line
};

[[nodiscard]] inline bool has_source(const RecoveryConfig& config, RepairKind kind) {
    return std::find(config.sources.begin(), config.sources.end(), kind) != config.sources.end();
}

}  // namespace pinstrike::feed
