// path: cold
#include "actors/telemetry/latency/latency_text.h"

#include "actors/telemetry/latency/latency_rows.h"
#include "config/units.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

namespace pinstrike::actors {
namespace {

std::string microseconds(std::optional<std::uint64_t> ns) {
    return ns ? fmt::format("{:.{}f}", static_cast<double>(*ns) / 1e3, *ns < 100'000 ? 2 : 0) : "-";
}

/// Keeps columns apart whose names are longer than the usual width.
std::string named(std::string_view stage, std::string_view thread) {
    return fmt::format("{:<22} {:<9}", stage, thread);
}

void add_row(std::string& out, const LatencyRow& row) {
    const bool part = row.kind == LatencyRow::Kind::without_preemption;
    out += named(part ? "  without preemption" : row.stage, part ? "" : row.thread);
    out += fmt::format("{:>14}",
                       row.kind == LatencyRow::Kind::by_time ? "-" : grouped(row.taken.count));
    for (const Percentile& percentile : percentiles) {
        out += fmt::format(" {:>8}", microseconds(percentile_ns(row, percentile)));
    }
    const bool any = row.taken.count != 0;
    out += fmt::format(" {:>8}\n",
                       microseconds(any ? std::optional{row.taken.highest_ns} : std::nullopt));
}

void add_percentiles(std::string& out, const std::vector<LatencyRow>& rows) {
    out += named("latency, us", "thread") + fmt::format("{:>14}", "count");
    for (const Percentile& percentile : percentiles) {
        out += fmt::format(" {:>8}", percentile.name);
    }
    out += fmt::format(" {:>8}\n", "max");
    for (const LatencyRow& row : rows) {
        if (row.kind != LatencyRow::Kind::preemption) {
            add_row(out, row);
        }
    }
}

struct PreemptionLength {
    const char* name;
    std::uint64_t from_ns;
};

constexpr std::array<PreemptionLength, 6> preemption_lengths{{{"5-10", 5'000},
                                                              {"10-20", 10'000},
                                                              {"20-50", 20'000},
                                                              {"50-200", 50'000},
                                                              {"-1 ms", 200'000},
                                                              {"> 1 ms", 1'000'000}}};

std::array<std::uint64_t, preemption_lengths.size()> by_length(
    const Histogram::Snapshot& preemptions) {
    std::array<std::uint64_t, preemption_lengths.size()> counts{};
    for (std::size_t i = 0; i < Histogram::buckets_count; ++i) {
        const std::uint64_t length_ns = Histogram::upper_bound(i) - 1;
        std::size_t column = 0;
        while (column + 1 < preemption_lengths.size() &&
               length_ns >= preemption_lengths[column + 1].from_ns) {
            ++column;
        }
        counts[column] += preemptions.buckets[i];
    }
    return counts;
}

void add_preemptions(std::string& out, const LatencyReading& reading) {
    out += fmt::format("{:<15} {:<9}", "preemption, us", "thread") +
           fmt::format("{:>8} {:>7}", "per s", "of time");
    for (const PreemptionLength& length : preemption_lengths) {
        out += fmt::format(" {:>7}", length.name);
    }
    out += fmt::format(" {:>8}\n", "longest");
    for (const LoopReading& loop : reading.loops) {
        const double seconds = static_cast<double>(loop.looked_ns) * 1e-9;
        const double share = seconds > 0 ? static_cast<double>(loop.preemptions.sum_ns) /
                                               static_cast<double>(loop.looked_ns)
                                         : 0;
        out += fmt::format("{:<15} {:<9}", "", loop.thread) +
               fmt::format("{:>8.1f} {:>5.2f} %",
                           seconds > 0 ? static_cast<double>(loop.preemptions.count) / seconds : 0,
                           share * 100);
        for (const std::uint64_t count : by_length(loop.preemptions)) {
            out += fmt::format(" {:>7}", count);
        }
        const bool any = loop.preemptions.count != 0;
        out += fmt::format(" {:>8}\n", microseconds(any ? std::optional{loop.preemptions.highest_ns}
                                                        : std::nullopt));
    }
}

constexpr std::string_view live_notes =
    "arrival to poll: no timestamp shows it. It is estimated from the lengths of the poller's\n"
    "  loop steps: how long a packet that arrives at any time waits until the next poll. Packets\n"
    "  of a burst arrive together, perhaps at the worst time. The stages below contain it only if\n"
    "  the NIC stamps packets.\n"
    "exchange to decoded: from the exchange's clock to this host's clock, so the difference of\n"
    "  the two clocks is included. Each packet counts as the first of its burst.\n"
    "receive to actor, waiting: from the timestamp of the NIC or kernel, or else from the poll,\n"
    "  until the core takes the batch, and until it calls the actor. Each message counts as the\n"
    "  first of its batch, so none waited longer. Waiting and service: of one batch in 8.\n";

constexpr std::string_view due_notes =
    "due to decoded, due to actor, waiting: from the time when the packet was due by the\n"
    "  captures' times and the pace, so a late replay counts as latency. Each packet counts as\n"
    "  the first of its burst, each message as the first of its batch, so none waited longer. The\n"
    "  poller reads the captures, which is included. Waiting and service: of one batch in 8.\n";

constexpr std::string_view preemption_notes =
    "preemption: loop steps of 5 us or longer in which a thread did nothing, because of the\n"
    "  hypervisor, interrupts or other threads. \"without preemption\" leaves out samples that\n"
    "  overlap a preemption, and samples taken while the thread worked off the backlog, for at "
    "most\n"
    "  as long again. Preemption during work cannot be distinguished from the work: it is not\n"
    "  detected and stays in all figures.\n"
    "-: too few values. The precision of values is 1/16.\n";

}  // namespace

std::string latency_text(const LatencyReading& reading) {
    std::string out =
        fmt::format("feed {}, pinstrike {}, running {:.1f} s; figures of {:.1f} s\n\n",
                    reading.feed, reading.version, reading.running_s, reading.seconds);
    add_percentiles(out, latency_rows(reading));
    out += '\n';
    add_preemptions(out, reading);
    out += '\n';
    out += reading.from_due ? due_notes : live_notes;
    out += preemption_notes;
    out += fmt::format("This host's clock is known to {} us.",
                       microseconds(static_cast<std::uint64_t>(reading.clock_error_s * 1e9)));
    if (reading.clock_steps != 0) {
        out += fmt::format(" It was set {} times meanwhile: figures are off by as much.",
                           reading.clock_steps);
    }
    return out + '\n';
}

}  // namespace pinstrike::actors
