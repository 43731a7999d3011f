// path: cold
//
// The part of a recording that a command replays, with the snapshot that it begins with.
#pragma once

#include "actors/command/progress.h"
#include "actors/command/range_options.h"
#include "actors/snapshot/replay_from.h"
#include "actors/snapshot/snapshot_loader.h"
#include "config/problem.h"
#include "nic/capture/capture_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::command {

/// What a command that replays a part of a recording needs of the packets around it.
struct RangeNeeds {
    std::int64_t before_ns = 0;  ///< state and packets from so long before --from
    std::int64_t behind_ns = 0;  ///< packets until so long behind --to
    bool takes_snapshot = true;  ///< false: what is before is replayed from the recording's begin
    /// Without a snapshot, what is before is replayed from the recording's begin. Else the replay
    /// begins without state.
    bool needs_state = false;
};

struct ReplayRange {
    nic::CapturePart part;
    std::optional<actors::ReplayFrom> from;  ///< nullopt: the books begin empty
    std::vector<std::uint16_t> lines;        ///< sorted; none: all
    std::optional<std::int64_t> from_ns;     ///< --from; nullopt: not given
    std::optional<std::int64_t> to_ns;       ///< --to; likewise
    ShareRead share_read;                    ///< of the packets
};

/// The packets of this time before a snapshot are replayed, too, so that the numbers of the lines
/// are known when its state is given to the books.
inline constexpr std::int64_t before_snapshot_ns = 1'000'000'000;

struct SnapshotPlace {
    std::string path;
    std::int64_t begin_ns = 0;
    std::string feed;  ///< that it is of
};

/// The last snapshot of the trade date of `from_ns` that was complete by then.
[[nodiscard]] std::optional<SnapshotPlace> snapshot_before(const std::string& folder,
                                                           std::int64_t from_ns);

/// Finds the range in the recording, and says which snapshot it begins with, or that there is none.
/// Without options: all packets of the files. Ends the command if there is no such range, or if the
/// files are not one folder.
[[nodiscard]] ReplayRange replay_range(const std::vector<std::string>& files,
                                       const RangeOptions& options, const RangeNeeds& needs = {});

/// Prints what became of the snapshot that a replay began with.
/// `loader`: null if it began with none.
[[nodiscard]] Exit finish_snapshot(const actors::SnapshotLoader* loader);

/// The recording behind its last snapshot of the trade date of `begun_before_ns`, with segments
/// that were begun before. Of the snapshot, states of this date are taken. Ends the command if
/// there is none, or if it is of another feed.
[[nodiscard]] ReplayRange range_behind_snapshot(const std::string& folder, const std::string& feed,
                                                std::int64_t begun_before_ns);

}  // namespace pinstrike::command
