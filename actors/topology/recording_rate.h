// path: cold
//
// How much a feed's recording takes on the disk.
#pragma once

#include "actors/topology/feed_config.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pinstrike::actors {

/// The messages a second that the feed's sim ports generate; nullopt: it has none.
[[nodiscard]] std::optional<double> generated_rate(const FeedConfig& config);

/// The bytes a second that are recorded of a feed with so many messages, which are taken to be
/// evenly distributed among its lines.
[[nodiscard]] double recorded_bytes_per_second(const FeedConfig& config,
                                               double messages_per_second);

/// The hours for which a rate is taken to be the average: the regular trading session.
inline constexpr double trading_day_s = 6.5 * 3600;

/// The space that a recording can have.
struct RecordingSpace {
    std::uint64_t free_bytes = 0;
    std::uint64_t recorded_bytes = 0;  ///< of segments that are there
};

/// What `pinstrike check` says of a feed's recording. `space`: of its disk, if that is known.
[[nodiscard]] std::string recording_text(const FeedConfig& config,
                                         std::optional<double> messages_per_second,
                                         const std::optional<RecordingSpace>& space);

}  // namespace pinstrike::actors
