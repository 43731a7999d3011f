// path: cold
#include "actors/command/replay_range.h"

#include "actors/telemetry/log/log.h"
#include "feed/recording/moment.h"
#include "feed/recording/recorded_packets.h"
#include "feed/recording/recording_part.h"
#include "feed/recording/state_file.h"
#include "nic/capture/replay_gate.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace pinstrike::command {
namespace {

/// The time at which a snapshot was complete. Nothing, with a printed reason, if it is damaged.
std::optional<std::int64_t> end_of(feed::StateFile& file) {
    std::int64_t end_ns = file.head().begin_ns;
    while (const auto chunk = file.next()) {
        end_ns = chunk->end_ns;
        if (file.frames().empty()) {
            break;
        }
    }
    if (!file.damage().empty()) {
        complain("{}: it is not used", file.damage());
        return std::nullopt;
    }
    return end_ns;
}

/// Sets where the replay begins, for a range with --from.
void set_beginning(const std::string& folder, const RangeNeeds& needs, std::int64_t first_ns,
                   feed::PacketRange& range, ReplayRange& found) {
    const std::int64_t state_ns = range.from_ns - needs.before_ns;
    found.part.from_ns = range.from_ns;
    const auto snapshot =
        needs.takes_snapshot ? snapshot_before(folder, state_ns) : std::optional<SnapshotPlace>{};
    if (snapshot) {
        found.part.gate = std::make_shared<nic::ReplayGate>();
        found.from = actors::ReplayFrom{snapshot->path, state_ns, found.part.gate};
        range.from_ns = snapshot->begin_ns - before_snapshot_ns;
        complain("the books begin with the snapshot of {}", actors::time_text(snapshot->begin_ns));
        if (first_ns > snapshot->begin_ns) {
            complain("the recording lacks the packets from there to {}",
                     actors::time_text(first_ns));
        }
    } else if (needs.takes_snapshot && needs.needs_state) {
        complain(
            "there is no snapshot of this day before --from: the recording is replayed from its "
            "beginning");
    } else if (needs.takes_snapshot) {
        complain(
            "there is no snapshot of this day before --from: a series is unknown until its first "
            "message");
    }
    if (!snapshot && (needs.needs_state || !needs.takes_snapshot)) {
        range.from_ns = feed::PacketRange{}.from_ns;
    }
}

}  // namespace

std::optional<SnapshotPlace> snapshot_before(const std::string& folder, std::int64_t from_ns) {
    Problems problems;
    std::vector<feed::FoundState> states = feed::states_in(folder, problems);
    std::ranges::reverse(states);
    for (const feed::FoundState& state : states) {
        if (state.begin_ns >= from_ns) {
            continue;
        }
        auto file = feed::StateFile::open(state.path, problems);
        if (!file) {
            continue;
        }
        if (file->head().trade_date != feed::trade_date_of(from_ns)) {
            break;
        }
        if (const auto end_ns = end_of(*file); end_ns && *end_ns <= from_ns) {
            print_problems(problems);
            return SnapshotPlace{state.path, file->head().begin_ns, file->head().feed};
        }
    }
    print_problems(problems);
    return std::nullopt;
}

ReplayRange replay_range(const std::vector<std::string>& files, const RangeOptions& options,
                         const RangeNeeds& needs) {
    if (!options.any()) {
        return {};
    }
    std::error_code unknown;
    if (files.size() != 1 || !std::filesystem::is_directory(files[0], unknown)) {
        complain("--from, --to and --lines: expected one folder, a recording");
        throw Ended{Exit::usage};
    }
    const std::string& folder = files[0];
    const feed::RecordedPackets packets = open_recording(folder);
    feed::PacketRange range = range_of(options, packets);
    ReplayRange found;
    found.lines = range.lines;
    if (!options.to.empty()) {
        found.to_ns = range.to_ns;
        range.to_ns += needs.behind_ns;
    }
    if (!options.from.empty()) {
        found.from_ns = range.from_ns;
        set_beginning(folder, needs, packets.first_ns(), range, found);
    }
    const auto part = std::make_shared<feed::RecordingPart>(folder, std::move(range));
    found.share_read = [part] { return part->share_read(); };
    found.part.frames = part;
    return found;
}

ReplayRange range_behind_snapshot(const std::string& folder, const std::string& feed,
                                  std::int64_t begun_before_ns) {
    const std::uint32_t trade_date = feed::trade_date_of(begun_before_ns);
    const auto end_without_snapshot = [trade_date] {
        complain("the recording has no whole snapshot of the trade date {}", trade_date);
        throw Ended{Exit::ok};
    };
    Problems problems;
    const std::vector<feed::FoundState> states = feed::states_in(folder, problems);
    if (states.empty() && problems.empty()) {
        end_without_snapshot();
    }
    print_problems(problems);
    feed::SegmentSpan span;
    span.since_ns = states.empty() ? span.since_ns : states.back().begin_ns;
    span.begun_before_ns = begun_before_ns;
    const feed::RecordedPackets packets = open_recording(folder, span);
    std::optional<SnapshotPlace> snapshot;
    if (feed::trade_date_of(packets.last_ns()) == trade_date) {
        snapshot = snapshot_before(folder, begun_before_ns);
    }
    if (!snapshot) {
        end_without_snapshot();
    }
    if (snapshot->feed != feed) {
        complain("{} is of the feed {}: the folder of a recording can have one feed only",
                 snapshot->path, snapshot->feed);
        throw Ended{};
    }
    feed::PacketRange range;
    range.from_ns = snapshot->begin_ns - before_snapshot_ns;
    span.since_ns = range.from_ns;
    ReplayRange found;
    found.part.from_ns = packets.last_ns() + 1;
    found.part.gate = std::make_shared<nic::ReplayGate>();
    found.from = actors::ReplayFrom{snapshot->path, found.part.from_ns, found.part.gate,
                                    feed::trade_date_begin_ns(begun_before_ns)};
    found.part.frames = std::make_shared<feed::RecordingPart>(folder, std::move(range), span);
    return found;
}

Exit finish_snapshot(const actors::SnapshotLoader* loader) {
    if (loader == nullptr) {
        return Exit::ok;
    }
    if (!loader->over()) {
        complain("the replay ended before --from");
        return Exit::failed;
    }
    complain("the snapshot had the states of {} series", loader->series().read());
    if (const std::uint64_t refused = loader->refused().read(); refused != 0) {
        complain(
            "{} of them join no message of the recording: what they say is unknown until the "
            "series' next message",
            refused);
    }
    return Exit::ok;
}

}  // namespace pinstrike::command
