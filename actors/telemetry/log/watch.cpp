// path: cold
#include "actors/telemetry/log/watch.h"

#include "actors/poller/unknown_groups.h"
#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace pinstrike::actors {
namespace {

LineSnapshot blank_of(const LineSnapshot& now) {
    LineSnapshot blank;
    blank.rejected.resize(now.rejected.size());
    return blank;
}

/// A snapshot of the same appliance at the same time with all counts zero.
CounterSnapshot blank_of(const CounterSnapshot& now) {
    CounterSnapshot blank;
    blank.seconds = now.seconds;
    blank.reverse_path_drops = now.reverse_path_drops;  // since the host's boot
    blank.recorder.emplace();
    blank.calls.resize(now.calls.size());
    for (const PollerSnapshot& poller : now.pollers) {
        blank.pollers.emplace_back().queues.resize(poller.queues.size());
    }
    for (const CoreSnapshot& core : now.cores) {
        CoreSnapshot& part = blank.cores.emplace_back();
        part.actors.resize(core.actors.size());
        part.rings.resize(core.rings.size());
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

/// The entries of one look.
struct Entries {
    template <class... Values>
    void add(LogCode code, std::string subject, fmt::format_string<Values...> text,
             Values&&... values) {
        list.push_back(
            {code, std::move(subject), fmt::format(text, std::forward<Values>(values)...)});
    }

    std::vector<LogEntry> list;
};

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

/// Increases of counts that some drivers do not have, or that can fall.
std::uint64_t rise(const std::optional<std::uint64_t>& now,
                   const std::optional<std::uint64_t>& before) {
    return now.value_or(0) - std::min(before.value_or(0), now.value_or(0));
}

void watch_program(const CounterSnapshot& now, const CounterSnapshot& before, Entries& entries) {
    if (const std::uint64_t more = now.hot_allocations - before.hot_allocations; more != 0) {
        entries.add(LogCode::hot_allocation, "hot threads", "{}, {} since the start",
                    counted(more, "allocation"), now.hot_allocations);
    }
    if (const std::uint64_t more = now.clock_steps - before.clock_steps; more != 0) {
        entries.add(LogCode::clock_stepped, "clock", "{}, {} since the start",
                    counted(more, "step"), now.clock_steps);
    }
    if (const std::uint64_t more = rise(now.reverse_path_drops, before.reverse_path_drops);
        more != 0) {
        entries.add(LogCode::reverse_path_dropped, "feed",
                    "{} since the last check, on any interface of this network namespace",
                    counted(more, "packet"));
    }
}

void watch_recovery(const RecoverySnapshot& now, const RecoverySnapshot& before, Entries& entries) {
    std::string text;
    const auto append = [&text](std::uint64_t more, std::string_view one, std::string_view what) {
        if (more != 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counted(more, one), what);
        }
    };
    using feed::RecoveryCount;
    const RecoveryTotals none;
    const RecoveryTotals more = now.counts.value_or(none) - before.counts.value_or(none);
    append(more[RecoveryCount::abandoned], "message", "requested without success");
    append(more[RecoveryCount::never_asked], "message",
           "never requested (no source available, or the budget of requests used up)");
    append(more[RecoveryCount::untracked], "message", "not listed (recovery.ranges_max)");
    append(now.notes_dropped - before.notes_dropped, "hole", "not noted");
    append(more[RecoveryCount::repairs_dropped], "block", "received and dropped (ring full)");
    if (!text.empty()) {
        entries.add(LogCode::recovery_short, "recovery", "{}", text);
    }
    if (!now.failure.empty()) {
        entries.add(LogCode::recovery_ended, "recovery",
                    "its thread ended because of an error: {}; only a restart starts it again",
                    now.failure);
    }
    if (now.not_kept != before.not_kept) {
        entries.add(LogCode::history_short, "history", "{} not kept, {} since the start",
                    counted(now.not_kept - before.not_kept, "block"), now.not_kept);
    }
}

/// Packets that are missing while the disk fails are reported when it works again.
/// `failed_at`: how many were missing when the disk last began to fail.
void watch_recorder(const CounterSnapshot& now, const CounterSnapshot& earlier,
                    std::uint64_t& failed_at, Entries& entries) {
    const RecorderSnapshot& recorder = *now.recorder;
    const RecorderSnapshot& before = *earlier.recorder;
    const std::uint64_t missing = not_recorded(now);
    const std::uint64_t missing_before = not_recorded(earlier);
    const auto more = recorder.counts - before.counts;
    if (more[RecorderCount::snapshots_failed] != 0) {
        entries.add(LogCode::snapshot_failed, "recorder",
                    "the latest could not be written: {}; {} failed since the start",
                    std::strerror(recorder.snapshot_error),
                    recorder.counts[RecorderCount::snapshots_failed]);
    }
    if (more[RecorderCount::compress_failures] != 0) {
        entries.add(LogCode::compression_failed, "recorder", "{}; {} failed since the start",
                    recorder.compress_failure, recorder.counts[RecorderCount::compress_failures]);
    }
    if (!recorder.failure.empty() && before.failure.empty()) {
        entries.add(LogCode::recording_failed, "recorder",
                    "its thread ended because of an error: {}; only a restart starts it again",
                    recorder.failure);
    }
    if (recorder.error != 0 && before.error == 0) {
        failed_at = missing_before;
        entries.add(LogCode::recording_failed, "recorder",
                    "nothing is written: {}; it is tried again each second",
                    std::strerror(recorder.error));
    } else if (recorder.error == 0 && before.error != 0) {
        entries.add(LogCode::recording_resumed, "recorder", "{} not recorded since the disk failed",
                    counted(missing - failed_at, "packet"));
    } else if (missing != missing_before && recorder.error == 0 &&
               more[RecorderCount::failures] == 0) {
        const auto because = recorder.missing - before.missing;
        // A thread that has no processor has not counted them yet.
        const MissingReason reason =
            because[MissingReason::disk_slow] > because[MissingReason::thread_starved]
                ? MissingReason::disk_slow
                : MissingReason::thread_starved;
        entries.add(LogCode::recording_short, "recorder",
                    "{} not recorded, {} since the start: {}; longest write {}, longest pause "
                    "of the recorder's thread {}",
                    counted(missing - missing_before, "packet"), missing, row_of(reason).sentence,
                    duration_text(static_cast<std::int64_t>(recorder.longest_write_ns)),
                    duration_text(static_cast<std::int64_t>(recorder.longest_pause_ns)));
    }
}

void watch_calls(const RefusedCalls& now, const RefusedCalls& before, Entries& entries) {
    const std::string subject = "thread " + now.thread;
    if (now.count != before.count) {
        entries.add(LogCode::call_refused, subject,
                    "{} refused, {} since the start; the last was {}",
                    counted(now.count - before.count, "system call"), now.count, now.last);
    }
    if (now.unfiltered != before.unfiltered) {
        entries.add(LogCode::calls_unfiltered, subject, "the kernel refused the filter: {}",
                    std::strerror(now.unfiltered));
    }
}

/// All queues of a port share one link.
void watch_links(const CounterSnapshot& now, const CounterSnapshot& earlier, Entries& entries) {
    std::set<std::string_view> logged;
    for (std::size_t i = 0; i < now.pollers.size(); ++i) {
        for (std::size_t j = 0; j < now.pollers[i].queues.size(); ++j) {
            const QueueSnapshot& queue = now.pollers[i].queues[j];
            const QueueSnapshot& before = earlier.pollers[i].queues[j];
            if (!queue.device.link_up || !logged.insert(queue.port).second) {
                continue;
            }
            const bool up = *queue.device.link_up;
            const std::uint64_t changes = queue.counts[nic::PortCount::link_changes];
            const std::uint64_t changed = changes - before.counts[nic::PortCount::link_changes];
            const std::string subject = "port " + queue.port;
            if (before.device.link_up != up) {
                entries.add(up ? LogCode::link_up : LogCode::link_down, subject,
                            "the link is {}; it has changed {} since the start", up ? "up" : "down",
                            counted(changes, "time"));
            } else if (changed > 1) {
                entries.add(LogCode::link_flapped, subject,
                            "the link changed {} and is {} as before", counted(changed, "time"),
                            up ? "up" : "down");
            }
        }
    }
}

void watch_devices(const QueueSnapshot& now, const QueueSnapshot& before,
                   const PollerSnapshot& poller, bool live, Entries& entries) {
    const std::string subject = "port " + now.port;
    const std::uint64_t missed = rise(now.device.missed, before.device.missed);
    const std::uint64_t no_buffer = rise(now.device.no_buffer, before.device.no_buffer);
    if (missed + no_buffer != 0) {
        entries.add(LogCode::device_missed, subject,
                    "{} found no descriptor and {} no buffer, {} and {} since the start: {} "
                    "reads too slowly",
                    counted(missed, "packet"), no_buffer, now.device.missed.value_or(0),
                    now.device.no_buffer.value_or(0), poller.name);
    }
    // For captures, the remarks report it.
    const std::uint64_t errors = rise(now.device.errors, before.device.errors);
    if (errors != 0 && live) {
        entries.add(LogCode::device_errors, subject, "{} damaged, {} since the start",
                    counted(errors, "packet"), now.device.errors.value_or(0));
    }
}

void watch_drops(const QueueSnapshot& now, const QueueSnapshot& before, Entries& entries) {
    Reasons dropped;
    Reasons ignored;
    for (std::size_t i = 0; i < nic::Drop_count; ++i) {
        const auto drop = static_cast<nic::Drop>(i);
        Reasons& reasons = nic::is_network_control(drop) ? ignored : dropped;
        reasons.add(nic::Drop_rows[i], now.dropped[drop], before.dropped[drop]);
    }
    const std::string subject = "port " + now.port;
    if (dropped.any()) {
        const bool more =
            now.dropped[nic::Drop::unknown_group] != before.dropped[nic::Drop::unknown_group];
        entries.add(LogCode::packets_dropped, subject, "{}{}", dropped.text("packet"),
                    more ? "; groups of no line: " + to_text(now.unknown_groups) : "");
    }
    if (ignored.any()) {
        entries.add(LogCode::packets_ignored, subject, "{}", ignored.text("packet"));
    }
}

/// The poller was busy nearly all the time, and nearly all packets came in full bursts. Only both
/// together show overload: a fast stream leaves no empty step, and a poller that slept finds full
/// bursts.
void watch_load(const PollerSnapshot& now, const PollerSnapshot& before, Entries& entries) {
    constexpr double nearly_all = 0.95;
    std::uint64_t packets = 0;
    std::uint64_t in_full_bursts = 0;
    for (std::size_t i = 0; i < now.queues.size(); ++i) {
        const PortTotals more = now.queues[i].counts - before.queues[i].counts;
        packets += more[nic::PortCount::packets];
        in_full_bursts += more[nic::PortCount::full_bursts] * now.queues[i].burst_packets;
    }
    const double busy = busy_share(now, before);
    const double full = share(in_full_bursts, packets);
    if (busy >= nearly_all && full >= nearly_all) {
        entries.add(LogCode::poller_behind, "poller " + now.name,
                    "busy {:.0f} % of the time, {:.0f} % of {} in full bursts", 100 * busy,
                    100 * full, counted(packets, "packet"));
    }
}

void watch_gaps(const LineSnapshot& now, const LineSnapshot& before, Entries& entries) {
    using feed::LineCount;
    const std::string subject = line_subject(now.line);
    const LineTotals more = now.counts - before.counts;
    const std::uint64_t gaps = more[LineCount::gaps];
    const std::uint64_t lost = now.counts[LineCount::lost];
    // false: all of the gaps have been filled since
    const bool loses = lost > before.counts[LineCount::lost];
    if (gaps != 0 && loses) {
        entries.add(LogCode::gap_declared, subject,
                    "{} declared; {} lost since the start, {} of them new", counted(gaps, "gap"),
                    counted(lost, "message"), more[LineCount::lost]);
    }
    const std::uint64_t late = more[LineCount::late];
    const std::uint64_t repaired =
        rise(now.counts[LineCount::repaired], before.counts[LineCount::repaired]);
    if (late + repaired != 0 || (gaps != 0 && !loses)) {
        const std::string filled =
            gaps != 0 && !loses
                ? fmt::format("{} declared and filled meanwhile; ", counted(gaps, "gap"))
                : "";
        entries.add(LogCode::gap_mended, subject,
                    "{}{} received late, {} by retransmission; {} lost since the start", filled,
                    counted(late, "message"), repaired, lost);
    }
    if (const std::uint64_t resets = more[LineCount::resets_inferred]; resets != 0) {
        entries.add(LogCode::reset_inferred, subject, "{} inferred, {} since the start",
                    counted(resets, "reset"), now.counts[LineCount::resets_inferred]);
    }
}

void watch_rejects(const LineSnapshot& now, const LineSnapshot& before, std::span<const Row> rows,
                   Entries& entries) {
    Reasons reasons;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        reasons.add(rows[row], now.rejected[row], before.rejected[row]);
    }
    if (reasons.any()) {
        entries.add(LogCode::blocks_rejected, line_subject(now.line), "{}", reasons.text("block"));
    }
}

/// watch_unheard() reports the streams that were never heard.
void watch_streams(const LineSnapshot& now, const LineSnapshot& before, double seconds,
                   Entries& entries) {
    for (std::size_t i = 0; i < feed::streams_count; ++i) {
        const std::string subject =
            fmt::format("{} stream {}", line_subject(now.line), stream_letter(i));
        const std::uint64_t packets = now.streams[i][feed::StreamCount::packets];
        if (packets != 0 && before.streams[i][feed::StreamCount::packets] == 0) {
            entries.add(LogCode::stream_heard, subject, "first packet {:.1f} s after the start",
                        seconds);
        }
        if (packets == 0 || now.states[i] == before.states[i]) {
            continue;
        }
        if (now.states[i] == feed::LineState::up) {
            entries.add(LogCode::stream_back, subject, "heard again");
        } else {
            const bool down = now.states[i] == feed::LineState::stream_down;
            entries.add(down ? LogCode::stream_down : LogCode::stream_silent, subject,
                        "no packet any more; {} before, the last at {}", counted(packets, "packet"),
                        time_text(now.heard_ns[i]));
        }
    }
}

void watch_line(const LineSnapshot& now, const LineSnapshot& before, Entries& entries) {
    if (now.down == before.down || (now.streams[0][feed::StreamCount::packets] == 0 &&
                                    now.streams[1][feed::StreamCount::packets] == 0)) {
        return;
    }
    entries.add(now.down ? LogCode::line_down : LogCode::line_back, line_subject(now.line), "{}",
                now.down ? "neither stream is heard" : "heard again");
}

/// One entry for all streams together. Returns whether there are such streams.
bool watch_unheard(const CounterSnapshot& now, Entries& entries) {
    constexpr std::size_t named_max = 8;
    std::size_t all = 0;
    std::size_t unheard = 0;
    std::string names;
    for (const LineSnapshot& line : parts_of(now, &PollerSnapshot::lines)) {
        for (std::size_t i = 0; i < feed::streams_count; ++i) {
            all += line.received[i] ? 1 : 0;
            if (!line.received[i] || line.streams[i][feed::StreamCount::packets] != 0 ||
                line.states[i] == feed::LineState::up) {
                continue;
            }
            if (++unheard <= named_max) {
                names += fmt::format("{}{} {}", unheard == 1 ? "" : ", ", line_subject(line.line),
                                     stream_letter(i));
            }
        }
    }
    if (unheard != 0) {
        entries.add(LogCode::streams_unheard, "feed", "{} of {} have had no packet yet: {}{}",
                    unheard, counted(all, "stream"), names,
                    unheard > named_max ? " and others" : "");
    }
    return unheard != 0;
}

/// For captures, threads end when the captures do.
void watch_loop_steps(const CounterSnapshot& now, const CounterSnapshot& earlier,
                      Entries& entries) {
    constexpr double look_s_min = 0.5;  // an idle thread that sleeps wakes far more often
    const double seconds = now.seconds - earlier.seconds;
    if (!now.live || seconds < look_s_min) {
        return;
    }
    const auto look = [&](const char* kind, const auto& threads, const auto& before) {
        for (std::size_t i = 0; i < threads.size(); ++i) {
            if (threads[i].steps == before[i].steps) {
                entries.add(LogCode::thread_stalled, kind + threads[i].name,
                            "no loop step for {:.1f} s", seconds);
            }
        }
    };
    look("poller ", now.pollers, earlier.pollers);
    look("core ", now.cores, earlier.cores);
}

void watch_core(const CoreSnapshot& now, const CoreSnapshot& before, Entries& entries) {
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
    entries.add(LogCode::core_slow, "core " + now.name,
                "{} refused by full rings, {} since the start: {}; it was busy {:.0f} % of "
                "the time, {}",
                counted(refused, "message"), refused_ever, rings, 100 * busy_share(now, before),
                slowest_actor(now, before));
}

void watch_poller(const PollerSnapshot& now, const PollerSnapshot& before,
                  const CounterSnapshot& whole, Entries& entries) {
    for (std::size_t i = 0; i < now.queues.size(); ++i) {
        watch_devices(now.queues[i], before.queues[i], now, whole.live, entries);
        watch_drops(now.queues[i], before.queues[i], entries);
    }
    for (std::size_t i = 0; i < now.lines.size(); ++i) {
        watch_gaps(now.lines[i], before.lines[i], entries);
        watch_rejects(now.lines[i], before.lines[i], now.reject_rows, entries);
        watch_streams(now.lines[i], before.lines[i], whole.seconds, entries);
        watch_line(now.lines[i], before.lines[i], entries);
    }
    if (whole.live) {
        watch_load(now, before, entries);
    }
}

}  // namespace

std::vector<LogEntry> Watch::look(const CounterSnapshot& now) {
    if (!before_) {
        before_ = blank_of(now);
    }
    add_new_lines(*before_, now);
    Entries entries;
    watch_program(now, *before_, entries);
    watch_recovery(now.recovery, before_->recovery, entries);
    if (now.recorder) {
        watch_recorder(now, *before_, unrecorded_before_, entries);
    }
    for (std::size_t i = 0; i < now.calls.size(); ++i) {
        watch_calls(now.calls[i], before_->calls[i], entries);
    }
    watch_links(now, *before_, entries);
    for (std::size_t i = 0; i < now.pollers.size(); ++i) {
        watch_poller(now.pollers[i], before_->pollers[i], now, entries);
    }
    for (std::size_t i = 0; i < now.cores.size(); ++i) {
        watch_core(now.cores[i], before_->cores[i], entries);
    }
    watch_loop_steps(now, *before_, entries);
    if (!unheard_logged_) {
        unheard_logged_ = watch_unheard(now, entries);
    }
    before_ = now;
    return std::move(entries.list);
}

}  // namespace pinstrike::actors
