// path: cold
#include "actors/telemetry/log/watch.h"

#include "actors/poller/unknown_groups.h"
#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace pinstrike::actors {
namespace {

LineSnapshot blank_of(const LineSnapshot& now) {
    LineSnapshot blank;
    blank.line = now.line;
    blank.rejected.resize(now.rejected.size());
    return blank;
}

/// A snapshot of the same appliance with all counts zero.
CounterSnapshot blank_of(const CounterSnapshot& now) {
    CounterSnapshot blank = now;
    blank.hot_allocations = blank.clock_steps = 0;
    blank.recovery = {};
    if (blank.recorder) {
        blank.recorder = RecorderSnapshot{};
    }
    for (RefusedCalls& calls : blank.calls) {
        calls = {calls.thread, 0, "", 0};
    }
    for (PollerSnapshot& poller : blank.pollers) {
        poller.busy_ns = poller.idle_ns = 0;
        poller.recorded = poller.not_recorded = poller.filtered = 0;
        for (QueueSnapshot& queue : poller.queues) {
            QueueSnapshot none;
            none.port = queue.port;
            none.burst_packets = queue.burst_packets;
            queue = std::move(none);
        }
        for (LineSnapshot& line : poller.lines) {
            line = blank_of(line);
        }
    }
    for (CoreSnapshot& core : blank.cores) {
        core.busy_ns = core.idle_ns = 0;
        for (ActorSnapshot& actor : core.actors) {
            actor.service.sum_ns = 0;
        }
        for (RingSnapshot& ring : core.rings) {
            ring.counts[RingCount::refused] = 0;
        }
    }
    return blank;
}

/// Lines that were added between the two snapshots.
void add_new_lines(CounterSnapshot& before, const CounterSnapshot& now) {
    for (std::size_t i = 0; i < now.pollers.size(); ++i) {
        std::vector<LineSnapshot>& known = before.pollers[i].lines;
        for (std::size_t line = known.size(); line < now.pollers[i].lines.size(); ++line) {
            known.push_back(blank_of(now.pollers[i].lines[line]));
        }
    }
}

std::string line_subject(std::uint16_t line) {
    return fmt::format("line {}", line);
}

char stream_letter(std::size_t stream) {
    return stream == 0 ? 'A' : 'B';
}

/// "1 gap", "2 gaps".
std::string counted(std::uint64_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The share of the time between two snapshots that a thread was busy.
template <class Thread>
double busy_share(const Thread& now, const Thread& before) {
    const std::uint64_t busy_ns = now.busy_ns - before.busy_ns;
    return share(busy_ns, busy_ns + now.idle_ns - before.idle_ns);
}

/// The rows of a table that increased, in words, with the meaning of the most frequent one.
class Reasons {
  public:
    void add(const Row& row, std::uint64_t now, std::uint64_t before) {
        ever_ += now;
        const std::uint64_t count = now - before;
        if (count == 0) {
            return;
        }
        sum_ += count;
        if (count > most_) {
            most_ = count;
            meaning_ = row.sentence;
        }
        text_ += fmt::format("{}{} {}", text_.empty() ? "" : ", ", row.name, count);
    }

    [[nodiscard]] bool any() const { return sum_ != 0; }

    [[nodiscard]] std::string text(std::string_view unit) const {
        return fmt::format("{}, {} since the start: {} ({})", counted(sum_, unit), ever_, text_,
                           meaning_);
    }

  private:
    std::uint64_t sum_ = 0;
    std::uint64_t ever_ = 0;
    std::uint64_t most_ = 0;
    std::string text_;
    std::string_view meaning_;
};

/// The actor that used most of a core's time since the last snapshot, and its share.
std::string slowest_actor(const CoreSnapshot& now, const CoreSnapshot& before) {
    std::uint64_t longest_ns = 0;
    std::uint64_t all_ns = 0;
    std::string_view slowest;
    for (std::size_t i = 0; i < now.actors.size(); ++i) {
        const std::uint64_t spent_ns =
            now.actors[i].service.sum_ns - before.actors[i].service.sum_ns;
        all_ns += spent_ns;
        if (slowest.empty() || spent_ns > longest_ns) {
            longest_ns = spent_ns;
            slowest = now.actors[i].name;
        }
    }
    return slowest.empty() ? "no actor"
                           : fmt::format("{:.0f} % of its actors' time in {}",
                                         100 * share(longest_ns, all_ns), slowest);
}

/// Increases of counts that some drivers do not have.
std::uint64_t rise(const std::optional<std::uint64_t>& now,
                   const std::optional<std::uint64_t>& before) {
    return now.value_or(0) - std::min(before.value_or(0), now.value_or(0));
}

}  // namespace

void Watch::add(LogCode code, std::string subject, std::string text) {
    entries_.push_back({code, std::move(subject), std::move(text)});
}

std::vector<LogEntry> Watch::look(const CounterSnapshot& now) {
    if (!before_) {
        before_ = blank_of(now);
    }
    add_new_lines(*before_, now);
    watch_program(now);
    watch_reverse_path(now);
    watch_recovery(now.recovery, before_->recovery);
    if (now.recorder) {
        watch_recorder(now);
    }
    for (std::size_t i = 0; i < now.calls.size(); ++i) {
        watch_calls(now.calls[i], before_->calls[i]);
    }
    watch_links(now);
    for (std::size_t i = 0; i < now.pollers.size(); ++i) {
        const PollerSnapshot& poller = now.pollers[i];
        const PollerSnapshot& before = before_->pollers[i];
        for (std::size_t queue = 0; queue < poller.queues.size(); ++queue) {
            watch_devices(poller.queues[queue], before.queues[queue], poller);
            watch_drops(poller.queues[queue], before.queues[queue]);
        }
        for (std::size_t line = 0; line < poller.lines.size(); ++line) {
            watch_gaps(poller.lines[line], before.lines[line]);
            watch_rejects(poller.lines[line], before.lines[line], poller.reject_rows);
            watch_streams(poller.lines[line], before.lines[line], now.seconds);
            watch_line(poller.lines[line], before.lines[line]);
        }
        if (now.live) {
            watch_load(poller, before);
        }
    }
    for (std::size_t i = 0; i < now.cores.size(); ++i) {
        watch_core(now.cores[i], before_->cores[i]);
    }
    watch_loop_steps(now);
    watch_unheard(now);
    before_ = now;
    return std::exchange(entries_, {});
}

void Watch::watch_program(const CounterSnapshot& now) {
    if (const std::uint64_t more = now.hot_allocations - before_->hot_allocations; more != 0) {
        add(LogCode::hot_allocation, "hot threads",
            fmt::format("{}, {} since the start", counted(more, "allocation"),
                        now.hot_allocations));
    }
    if (const std::uint64_t more = now.clock_steps - before_->clock_steps; more != 0) {
        add(LogCode::clock_stepped, "clock",
            fmt::format("{}, {} since the start", counted(more, "step"), now.clock_steps));
    }
}

void Watch::watch_reverse_path(const CounterSnapshot& now) {
    if (const std::uint64_t more = rise(now.reverse_path_drops, before_->reverse_path_drops);
        more != 0) {
        add(LogCode::reverse_path_dropped, "feed",
            fmt::format("{} since the last check, on any interface of this network namespace",
                        counted(more, "packet")));
    }
}

void Watch::watch_recovery(const RecoverySnapshot& now, const RecoverySnapshot& before) {
    std::string text;
    const auto append = [&text](std::uint64_t more, std::string_view one, std::string_view what) {
        if (more != 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counted(more, one), what);
        }
    };
    append(now.abandoned - before.abandoned, "message", "requested without success");
    append(now.never_asked - before.never_asked, "message",
           "never requested (no source available, or the budget of requests used up)");
    append(now.untracked - before.untracked, "message", "not listed (recovery.ranges_max)");
    append(now.notes_dropped - before.notes_dropped, "hole", "not noted");
    append(now.repairs_dropped - before.repairs_dropped, "block",
           "received and dropped (ring full)");
    if (!text.empty()) {
        add(LogCode::recovery_short, "recovery", text);
    }
    if (!now.failure.empty()) {
        add(LogCode::recovery_ended, "recovery",
            fmt::format("its thread ended because of an error: {}; only a restart starts it again",
                        now.failure));
    }
    if (const std::uint64_t more = now.not_kept - before.not_kept; more != 0) {
        add(LogCode::history_short, "history",
            fmt::format("{} not kept, {} since the start", counted(more, "block"), now.not_kept));
    }
}

/// Packets that are missing while the disk fails are reported when it works again.
void Watch::watch_recorder(const CounterSnapshot& now) {
    const RecorderSnapshot& recorder = *now.recorder;
    const RecorderSnapshot& before = *before_->recorder;
    const std::uint64_t missing = not_recorded(now);
    const std::uint64_t missing_before = not_recorded(*before_);
    const auto failures = [](const RecorderSnapshot& of) {
        return of.counts[RecorderCount::failures];
    };
    if (recorder.counts[RecorderCount::snapshots_failed] !=
        before.counts[RecorderCount::snapshots_failed]) {
        add(LogCode::snapshot_failed, "recorder",
            fmt::format("the latest could not be written: {}; {} failed since the start",
                        std::strerror(recorder.snapshot_error),
                        recorder.counts[RecorderCount::snapshots_failed]));
    }
    if (recorder.counts[RecorderCount::compress_failures] !=
        before.counts[RecorderCount::compress_failures]) {
        add(LogCode::compression_failed, "recorder",
            fmt::format("{}; {} failed since the start", recorder.compress_failure,
                        recorder.counts[RecorderCount::compress_failures]));
    }
    if (!recorder.failure.empty() && before.failure.empty()) {
        add(LogCode::recording_failed, "recorder",
            fmt::format("its thread ended because of an error: {}; only a restart starts it again",
                        recorder.failure));
    }
    if (recorder.error != 0 && before.error == 0) {
        unrecorded_before_ = missing_before;
        add(LogCode::recording_failed, "recorder",
            fmt::format("nothing is written: {}; it is tried again each second",
                        std::strerror(recorder.error)));
    } else if (recorder.error == 0 && before.error != 0) {
        add(LogCode::recording_resumed, "recorder",
            fmt::format("{} not recorded since the disk failed",
                        counted(missing - unrecorded_before_, "packet")));
    } else if (missing != missing_before && recorder.error == 0 &&
               failures(recorder) == failures(before)) {
        const auto because = [&](MissingReason reason) {
            return recorder.missing[reason] - before.missing[reason];
        };
        // A thread that has no processor has not counted them yet.
        const MissingReason reason =
            because(MissingReason::disk_slow) > because(MissingReason::thread_starved)
                ? MissingReason::disk_slow
                : MissingReason::thread_starved;
        add(LogCode::recording_short, "recorder",
            fmt::format("{} not recorded, {} since the start: {}; longest write {}, longest pause "
                        "of the recorder's thread {}",
                        counted(missing - missing_before, "packet"), missing,
                        row_of(reason).sentence,
                        duration_text(static_cast<std::int64_t>(recorder.longest_write_ns)),
                        duration_text(static_cast<std::int64_t>(recorder.longest_pause_ns))));
    }
}

void Watch::watch_calls(const RefusedCalls& now, const RefusedCalls& before) {
    const std::string subject = "thread " + now.thread;
    if (now.count != before.count) {
        add(LogCode::call_refused, subject,
            fmt::format("{} refused, {} since the start; the last was {}",
                        counted(now.count - before.count, "system call"), now.count, now.last));
    }
    if (now.unfiltered != before.unfiltered) {
        add(LogCode::calls_unfiltered, subject,
            fmt::format("the kernel refused the filter: {}", std::strerror(now.unfiltered)));
    }
}

/// All queues of a port share one link.
void Watch::watch_links(const CounterSnapshot& now) {
    std::vector<std::string_view> logged;
    for (std::size_t i = 0; i < now.pollers.size(); ++i) {
        for (std::size_t j = 0; j < now.pollers[i].queues.size(); ++j) {
            const QueueSnapshot& queue = now.pollers[i].queues[j];
            const QueueSnapshot& before = before_->pollers[i].queues[j];
            if (!queue.device.link_up ||
                std::find(logged.begin(), logged.end(), queue.port) != logged.end()) {
                continue;
            }
            logged.push_back(queue.port);
            const bool up = *queue.device.link_up;
            const std::string subject = "port " + queue.port;
            if (before.device.link_up != up) {
                add(up ? LogCode::link_up : LogCode::link_down, subject,
                    fmt::format("the link is {}; it has changed {} since the start",
                                up ? "up" : "down",
                                counted(queue.counts[nic::PortCount::link_changes], "time")));
            } else if (queue.counts[nic::PortCount::link_changes] >
                       before.counts[nic::PortCount::link_changes] + 1) {
                add(LogCode::link_flapped, subject,
                    fmt::format("the link changed {} and is {} as before",
                                counted(queue.counts[nic::PortCount::link_changes] -
                                            before.counts[nic::PortCount::link_changes],
                                        "time"),
                                up ? "up" : "down"));
            }
        }
    }
}

void Watch::watch_devices(const QueueSnapshot& now, const QueueSnapshot& before,
                          const PollerSnapshot& poller) {
    const std::string subject = "port " + now.port;
    const std::uint64_t missed = rise(now.device.missed, before.device.missed);
    const std::uint64_t no_buffer = rise(now.device.no_buffer, before.device.no_buffer);
    if (missed + no_buffer != 0) {
        add(LogCode::device_missed, subject,
            fmt::format("{} found no descriptor and {} no buffer, {} and {} since the start: {} "
                        "reads too slowly",
                        counted(missed, "packet"), no_buffer, now.device.missed.value_or(0),
                        now.device.no_buffer.value_or(0), poller.name));
    }
    // For captures, the remarks report it.
    const std::uint64_t errors = rise(now.device.errors, before.device.errors);
    if (errors != 0 && before_->live) {
        add(LogCode::device_errors, subject,
            fmt::format("{} damaged, {} since the start", counted(errors, "packet"),
                        now.device.errors.value_or(0)));
    }
}

void Watch::watch_drops(const QueueSnapshot& now, const QueueSnapshot& before) {
    Reasons dropped;
    Reasons ignored;
    for (std::size_t i = 0; i < nic::Drop_count; ++i) {
        Reasons& reasons = nic::is_network_control(static_cast<nic::Drop>(i)) ? ignored : dropped;
        reasons.add(nic::Drop_rows[i], now.dropped[i], before.dropped[i]);
    }
    const std::string subject = "port " + now.port;
    if (dropped.any()) {
        constexpr auto unknown = static_cast<std::size_t>(nic::Drop::unknown_group);
        const bool more = now.dropped[unknown] != before.dropped[unknown];
        add(LogCode::packets_dropped, subject,
            dropped.text("packet") +
                (more ? "; groups of no line: " + to_text(now.unknown_groups) : ""));
    }
    if (ignored.any()) {
        add(LogCode::packets_ignored, subject, ignored.text("packet"));
    }
}

/// The poller was busy nearly all the time, and nearly all packets came in full bursts. Only both
/// together show overload: a fast stream leaves no empty step, and a poller that slept finds full
/// bursts.
void Watch::watch_load(const PollerSnapshot& now, const PollerSnapshot& before) {
    constexpr double nearly_all = 0.95;
    std::uint64_t packets = 0;
    std::uint64_t in_full_bursts = 0;
    for (std::size_t i = 0; i < now.queues.size(); ++i) {
        packets += now.queues[i].counts[nic::PortCount::packets] -
                   before.queues[i].counts[nic::PortCount::packets];
        in_full_bursts += (now.queues[i].counts[nic::PortCount::full_bursts] -
                           before.queues[i].counts[nic::PortCount::full_bursts]) *
                          now.queues[i].burst_packets;
    }
    const double busy = busy_share(now, before);
    const double full = share(in_full_bursts, packets);
    if (busy >= nearly_all && full >= nearly_all) {
        add(LogCode::poller_behind, "poller " + now.name,
            fmt::format("busy {:.0f} % of the time, {:.0f} % of {} in full bursts", 100 * busy,
                        100 * full, counted(packets, "packet")));
    }
}

void Watch::watch_gaps(const LineSnapshot& now, const LineSnapshot& before) {
    const std::string subject = line_subject(now.line);
    const std::uint64_t gaps =
        now.counts[feed::LineCount::gaps] - before.counts[feed::LineCount::gaps];
    const bool loses =
        now.counts[feed::LineCount::lost] >
        before.counts[feed::LineCount::lost];  // false: all of the gaps have been filled since
    if (gaps != 0 && loses) {
        add(LogCode::gap_declared, subject,
            fmt::format("{} declared; {} lost since the start, {} of them new",
                        counted(gaps, "gap"), counted(now.counts[feed::LineCount::lost], "message"),
                        now.counts[feed::LineCount::lost] - before.counts[feed::LineCount::lost]));
    }
    const std::uint64_t late =
        now.counts[feed::LineCount::late] - before.counts[feed::LineCount::late];
    const std::uint64_t repaired =
        now.counts[feed::LineCount::repaired] -
        std::min(before.counts[feed::LineCount::repaired], now.counts[feed::LineCount::repaired]);
    if (late + repaired != 0 || (gaps != 0 && !loses)) {
        const std::string filled =
            gaps != 0 && !loses
                ? fmt::format("{} declared and filled meanwhile; ", counted(gaps, "gap"))
                : "";
        add(LogCode::gap_mended, subject,
            fmt::format("{}{} received late, {} by retransmission; {} lost since the start", filled,
                        counted(late, "message"), repaired, now.counts[feed::LineCount::lost]));
    }
    if (const std::uint64_t more = now.counts[feed::LineCount::resets_inferred] -
                                   before.counts[feed::LineCount::resets_inferred];
        more != 0) {
        add(LogCode::reset_inferred, subject,
            fmt::format("{} inferred, {} since the start", counted(more, "reset"),
                        now.counts[feed::LineCount::resets_inferred]));
    }
}

void Watch::watch_rejects(const LineSnapshot& now, const LineSnapshot& before,
                          std::span<const Row> rows) {
    Reasons reasons;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        reasons.add(rows[row], now.rejected[row], before.rejected[row]);
    }
    if (reasons.any()) {
        add(LogCode::blocks_rejected, line_subject(now.line), reasons.text("block"));
    }
}

/// watch_unheard() reports the streams that were never heard.
void Watch::watch_streams(const LineSnapshot& now, const LineSnapshot& before, double seconds) {
    for (std::size_t i = 0; i < feed::streams_count; ++i) {
        const std::string subject =
            fmt::format("{} stream {}", line_subject(now.line), stream_letter(i));
        if (now.streams[i][feed::StreamCount::packets] != 0 &&
            before.streams[i][feed::StreamCount::packets] == 0) {
            add(LogCode::stream_heard, subject,
                fmt::format("first packet {:.1f} s after the start", seconds));
        }
        if (now.streams[i][feed::StreamCount::packets] == 0 || now.states[i] == before.states[i]) {
            continue;
        }
        if (now.states[i] == feed::LineState::up) {
            add(LogCode::stream_back, subject, "heard again");
        } else {
            const bool down = now.states[i] == feed::LineState::stream_down;
            add(down ? LogCode::stream_down : LogCode::stream_silent, subject,
                fmt::format("no packet any more; {} before, the last at {}",
                            counted(now.streams[i][feed::StreamCount::packets], "packet"),
                            time_text(now.heard_ns[i])));
        }
    }
}

void Watch::watch_line(const LineSnapshot& now, const LineSnapshot& before) {
    if (now.down == before.down || (now.streams[0][feed::StreamCount::packets] == 0 &&
                                    now.streams[1][feed::StreamCount::packets] == 0)) {
        return;
    }
    add(now.down ? LogCode::line_down : LogCode::line_back, line_subject(now.line),
        now.down ? "neither stream is heard" : "heard again");
}

/// One entry for all streams together.
void Watch::watch_unheard(const CounterSnapshot& now) {
    constexpr std::size_t named_max = 8;
    std::size_t all = 0;
    std::size_t unheard = 0;
    std::string names;
    for (const PollerSnapshot& poller : now.pollers) {
        for (const LineSnapshot& line : poller.lines) {
            for (std::size_t i = 0; i < feed::streams_count; ++i) {
                if (!line.received[i]) {
                    continue;
                }
                ++all;
                if (line.streams[i][feed::StreamCount::packets] != 0 ||
                    line.states[i] == feed::LineState::up) {
                    continue;
                }
                if (++unheard <= named_max) {
                    names += fmt::format("{}{} {}", unheard == 1 ? "" : ", ",
                                         line_subject(line.line), stream_letter(i));
                }
            }
        }
    }
    if (unheard != 0 && !std::exchange(unheard_logged_, true)) {
        add(LogCode::streams_unheard, "feed",
            fmt::format("{} of {} have had no packet yet: {}{}", unheard, counted(all, "stream"),
                        names, unheard > named_max ? " and others" : ""));
    }
}

/// For captures, threads end when the captures do.
void Watch::watch_loop_steps(const CounterSnapshot& now) {
    constexpr double look_s_min = 0.5;  // an idle thread that sleeps wakes far more often
    const double seconds = now.seconds - before_->seconds;
    if (!now.live || seconds < look_s_min) {
        return;
    }
    const auto look = [&](const char* kind, const auto& threads, const auto& before) {
        for (std::size_t i = 0; i < threads.size(); ++i) {
            if (threads[i].steps == before[i].steps) {
                add(LogCode::thread_stalled, kind + threads[i].name,
                    fmt::format("no loop step for {:.1f} s", seconds));
            }
        }
    };
    look("poller ", now.pollers, before_->pollers);
    look("core ", now.cores, before_->cores);
}

void Watch::watch_core(const CoreSnapshot& now, const CoreSnapshot& before) {
    std::uint64_t refused = 0;
    std::uint64_t refused_ever = 0;
    std::string rings;
    for (std::size_t i = 0; i < now.rings.size(); ++i) {
        const std::uint64_t more =
            now.rings[i].counts[RingCount::refused] - before.rings[i].counts[RingCount::refused];
        refused += more;
        refused_ever += now.rings[i].counts[RingCount::refused];
        if (more != 0) {
            rings += fmt::format("{}{} from {} ({} records)", rings.empty() ? "" : ", ", more,
                                 now.rings[i].from, now.rings[i].capacity_records);
        }
    }
    if (refused == 0) {
        return;
    }
    add(LogCode::core_slow, "core " + now.name,
        fmt::format("{} refused by full rings, {} since the start: {}; it was busy {:.0f} % of "
                    "the time, {}",
                    counted(refused, "message"), refused_ever, rings, 100 * busy_share(now, before),
                    slowest_actor(now, before)));
}

}  // namespace pinstrike::actors
