// path: cold
//
// How much a feed's recording takes on the disk.
#pragma once

#include "actors/recorder/recording_disk.h"
#include "actors/topology/feed_config.h"

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

/// What `pinstrike check` says of a feed's recording. `disk`: if it is known.
[[nodiscard]] std::string recording_text(const FeedConfig& config,
                                         std::optional<double> messages_per_second,
                                         const std::optional<RecordingDisk>& disk);

}  // namespace pinstrike::actors
