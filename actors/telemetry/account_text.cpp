// path: cold
//
// The account as tables.
#include "actors/poller/unknown_groups.h"
#include "actors/telemetry/account.h"
#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace pinstrike::actors {
namespace {

constexpr std::size_t lines_shown_max = 16;

void add_head(std::string& out, std::string_view subject,
              std::initializer_list<std::string_view> columns) {
    out += fmt::format("{:<20}", subject);
    for (const std::string_view column : columns) {
        out += fmt::format(" {:>15}", column);
    }
    out += '\n';
}

/// A dash if the count is unknown.
void add_row(std::string& out, std::string_view name,
             std::initializer_list<std::optional<std::uint64_t>> counts) {
    out += fmt::format("{:<20}", name);
    for (const std::optional<std::uint64_t>& count : counts) {
        out += fmt::format(" {:>15}", count ? grouped(*count) : "-");
    }
    out += '\n';
}

/// "name 3, name 1" for the counts that are not zero.
std::string reasons_text(const std::vector<AccountRow>& counts) {
    std::string text;
    for (const auto& [name, count] : counts) {
        if (count != 0) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, grouped(count));
        }
    }
    return text;
}

/// Some wrong checksums are damaged packets. If all are wrong, the sender did not fill them in.
bool has_only_wrong_checksums(const QueueSnapshot& queue) {
    return queue.to_lines == 0 && queue.dropped[nic::Drop::udp_checksum] != 0 &&
           queue.dropped[nic::Drop::unknown_group] == 0 &&
           queue.dropped[nic::Drop::foreign_source] == 0;
}

void add_drops(std::string& out, const QueueSnapshot& queue) {
    if (const std::string reasons = reasons_text(named_counts(nic::Drop_rows, queue.dropped));
        !reasons.empty()) {
        out += fmt::format("  dropped: {}\n", reasons);
    }
    if (!queue.unknown_groups.empty()) {
        out += fmt::format("  unknown groups: {}\n", to_text(queue.unknown_groups));
    }
    if (has_only_wrong_checksums(queue)) {
        out +=
            "  every UDP checksum is wrong: the packets were presumably captured on the host that "
            "sent them, whose NIC fills checksums in (checksum offload); a config whose port has "
            "udp_checksum: off accepts them (replay --config)\n";
    }
}

void add_ports(std::string& out, const CounterSnapshot& counters) {
    add_head(out, "port", {"packets", "to lines", "missed", "no buffer", "errors"});
    for (const QueueSnapshot& queue : parts_of(counters, &PollerSnapshot::queues)) {
        add_row(out, queue.name,
                {queue.counts[nic::PortCount::packets], queue.to_lines, queue.device.missed,
                 queue.device.no_buffer, queue.device.errors});
        add_drops(out, queue);
    }
}

using LineFigures = std::array<std::uint64_t, 5>;

LineFigures figures_of(const LineSnapshot& line) {
    using feed::LineCount;
    using feed::StreamCount;
    return {line.counts[LineCount::delivered], line.streams[0][StreamCount::accepted],
            line.streams[1][StreamCount::accepted], line.counts[LineCount::repaired],
            line.counts[LineCount::lost]};
}

void add_line(std::string& out, std::string_view name, const LineFigures& figures) {
    const auto [delivered, by_a, by_b, repaired, lost] = figures;
    add_row(out, name, {delivered, by_a, by_b, repaired, lost});
}

void add_lines(std::string& out, const CounterSnapshot& counters) {
    add_head(out, "line", {"delivered", "first by A", "first by B", "repaired", "lost"});
    const auto lines = parts_of(counters, &PollerSnapshot::lines);
    const auto count = static_cast<std::size_t>(std::ranges::distance(lines));
    std::size_t unshown_count = 0;
    std::size_t shown_count = 0;
    LineFigures sum{};
    std::uint64_t left_out = 0;
    for (const LineSnapshot& line : lines) {
        left_out += line.left_out;
        const LineFigures figures = figures_of(line);
        std::ranges::transform(sum, figures, sum.begin(), std::plus{});
        if (count > lines_shown_max && line.counts[feed::LineCount::lost] == 0) {
            continue;
        }
        if (shown_count == lines_shown_max) {
            ++unshown_count;
            continue;
        }
        ++shown_count;
        add_line(out, fmt::format("{}", line.line), figures);
    }
    if (unshown_count != 0) {
        out += fmt::format("  {} more lines lost messages\n", unshown_count);
    }
    if (count != 1) {
        add_line(out, fmt::format("all {}", count), sum);
    }
    if (left_out != 0) {
        out += fmt::format("  {} messages were left out by `record cut`, and are not lost\n",
                           grouped(left_out));
    }
}

void add_rings(std::string& out, const CounterSnapshot& counters) {
    add_head(out, "ring", {"routed", "pushed", "refused"});
    for (const RingSnapshot& ring : parts_of(counters, &PollerSnapshot::rings)) {
        add_row(out, ring.from + ":" + ring.to,
                {ring.counts[RingCount::routed], ring.counts[RingCount::pushed],
                 ring.counts[RingCount::refused]});
    }
}

void add_cores(std::string& out, const CounterSnapshot& counters) {
    add_head(out, "core", {"events", "gap events", "controls"});
    for (const CoreSnapshot& core : counters.cores) {
        add_row(out, core.name,
                {core.counts[CoreCount::events], core.counts[CoreCount::gap_events],
                 core.counts[CoreCount::control_events]});
        if (const std::string rows = reasons_text(account_rows_of(core)); !rows.empty()) {
            out += "  " + rows + "\n";
        }
    }
}

/// Empty if the books began without recorded state.
std::string recovered_text(const CounterSnapshot& counters) {
    if (counters.recorder->recovered_series == 0) {
        return "";
    }
    return fmt::format(
        "{} series began with recorded state; {} messages are missing between the recording and "
        "the first messages since the start\n",
        counters.recorder->recovered_series, missed_before_start(counters));
}

}  // namespace

std::string account_text(const CounterSnapshot& counters) {
    std::string out;
    add_ports(out, counters);
    add_lines(out, counters);
    add_rings(out, counters);
    add_cores(out, counters);
    if (counters.recorder) {
        const auto& counts = counters.recorder->counts;
        add_head(out, "recording",
                 {"recorded", "not recorded", "filtered", "segments", "bytes", "snapshots"});
        add_row(out, "packets",
                {counts[RecorderCount::written], not_recorded(counters),
                 filtered_by_recorder(counters), counts[RecorderCount::segments],
                 counts[RecorderCount::bytes], counts[RecorderCount::snapshots]});
        out += recovered_text(counters);
    }
    if (const std::string reasons = reasons_text(rejects_of(counters)); !reasons.empty()) {
        out += fmt::format("blocks rejected or accepted with a remark: {}\n", reasons);
    }
    return out;
}

}  // namespace pinstrike::actors
