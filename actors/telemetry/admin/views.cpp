// path: cold
#include "actors/telemetry/admin/views.h"

#include "feed/arbitration/line_counts.h"
#include "nic/packet/address.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors::admin {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, feed::streams_count> stream_letters{"A", "B"};

std::string_view word_of(feed::LineState state) {
    switch (state) {
        case feed::LineState::up:
            return "up";
        case feed::LineState::stream_silent:
            return "silent";
        case feed::LineState::stream_down:
        case feed::LineState::line_down:
            return "down";
    }
    return "?";
}

json or_null(const std::optional<std::uint64_t>& value) {
    return value ? json(*value) : json(nullptr);
}

/// Without samples there are no percentiles, rather than zeros.
json times_of(const Histogram::Snapshot& taken) {
    json times{{"count", taken.count}};
    if (taken.count != 0) {
        times["p50_ns"] = taken.quantile_ns(0.5);
        times["p90_ns"] = taken.quantile_ns(0.9);
        times["p99_ns"] = taken.quantile_ns(0.99);
        times["p999_ns"] = taken.quantile_ns(0.999);
        times["highest_ns"] = taken.highest_ns;
    }
    return times;
}

/// The name of a counter in the tally, such as "line 3 delivered".
std::string named(std::string_view of, std::string_view what) {
    return fmt::format("{} {}", of, what);
}

/// Null if the stream was never heard.
json seconds_since(std::int64_t wall_ns) {
    if (wall_ns == 0) {
        return nullptr;
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const double seconds = std::chrono::duration<double>(now).count();
    return std::max(seconds - static_cast<double>(wall_ns) * 1e-9, 0.0);
}

bool heard(const LineSnapshot& line, std::size_t stream) {
    return line.streams[stream][feed::StreamCount::packets] != 0;
}

std::string_view stream_state(const LineSnapshot& line, std::size_t stream) {
    return !line.received[stream] ? "not received"
           : heard(line, stream)  ? word_of(line.states[stream])
                                  : "unheard";
}

std::string_view line_state(const LineSnapshot& line) {
    return line.down ? "down" : line.up ? "up" : "unheard";
}

/// Every row of a table with its count.
template <class Enum, std::size_t Count>
void add_counts(json& view, const std::string& of, const std::array<Row, Count>& rows,
                const RowTotals<Enum, Count>& totals, Tally& tally) {
    for (std::size_t i = 0; i < Count; ++i) {
        const std::string name{rows[i].name};
        view[name] = tally.count(named(of, name), totals[static_cast<Enum>(i)]);
    }
}

/// The rows that are not 0.
template <class Rows, class Counts>
json reasons_of(const std::string& of, const Rows& rows, const Counts& counts, Tally& tally) {
    json reasons = json::object();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string name{rows[i].name};
        if (const std::uint64_t count = tally.count(named(of, name), counts[i]); count != 0) {
            reasons[name] = count;
        }
    }
    return reasons;
}

json stream_of(const LineSnapshot& line, std::size_t stream, Tally& tally) {
    const std::string of = fmt::format("line {} {}", line.line, stream_letters[stream]);
    json view{{"state", stream_state(line, stream)},
              {"heard_seconds_ago", seconds_since(line.heard_ns[stream])}};
    add_counts(view, of, feed::StreamCount_rows, line.streams[stream], tally);
    view["ahead"] = times_of(tally.times(named(of, "ahead"), line.skews[stream]));
    return view;
}

json line_of(const PollerSnapshot& poller, const LineSnapshot& line, Tally& tally) {
    const std::string of = fmt::format("line {}", line.line);
    json view{{"line", line.line}, {"poller", poller.name}, {"state", line_state(line)}};
    add_counts(view, of, feed::LineCount_rows, line.counts, tally);
    view["rejects"] = reasons_of(of, poller.reject_rows, line.rejected, tally);
    view["a"] = stream_of(line, 0, tally);
    view["b"] = stream_of(line, 1, tally);
    return view;
}

json groups_of(const std::vector<UnknownGroup>& unknown) {
    json groups = json::array();
    for (const UnknownGroup& each : unknown) {
        groups.push_back({{"group", nic::text_of(each.group.address)},
                          {"port", each.group.port},
                          {"from", nic::text_of(each.from)},
                          {"packets", each.packets}});
    }
    return groups;
}

json port_of(const PollerSnapshot& poller, const QueueSnapshot& queue, Tally& tally) {
    const std::string of = fmt::format("port {} of {}", queue.port, poller.name);
    const nic::DeviceStatistics& device = queue.device;
    const auto count = [&](std::string_view name, std::uint64_t now) {
        return tally.count(named(of, name), now);
    };
    const auto device_count = [&](std::string_view name, const std::optional<std::uint64_t>& now) {
        return or_null(now ? std::optional{count(name, *now)} : std::nullopt);
    };
    return {{"port", queue.port},
            {"poller", poller.name},
            {"link", device.link_up ? json(*device.link_up ? "up" : "down") : json(nullptr)},
            {"packets", count("packets", queue.packets)},
            {"bytes", count("bytes", queue.bytes)},
            {"full_bursts", count("full_bursts", queue.full_bursts)},
            {"link_changes", count("link_changes", queue.link_changes)},
            {"to_lines", count("to_lines", queue.handed)},
            {"missed", device_count("missed", device.missed)},
            {"no_buffer", device_count("no_buffer", device.no_buffer)},
            {"errors", device_count("errors", device.errors)},
            {"dropped", reasons_of(of, nic::Drop_rows, queue.dropped, tally)},
            {"unknown_groups", groups_of(queue.unknown_groups)}};
}

json thread_of(const LoopSnapshot& loop, const std::string& name, std::string_view kind,
               CpuIndex cpu, Tally& tally) {
    return {{"thread", name},
            {"kind", kind},
            {"cpu", cpu < 0 ? json("any") : json(cpu)},
            {"turns", tally.count(named(name, "turns"), loop.turns)},
            {"busy_ns", tally.count(named(name, "busy"), loop.busy_ns)},
            {"idle_ns", tally.count(named(name, "idle"), loop.idle_ns)},
            {"longest_step_ns", loop.longest_step_ns},
            {"stops", times_of(tally.times(named(name, "stops"), loop.stops))}};
}

/// The sum of member `name` over the elements of an array.
std::uint64_t sum_of(const json& elements, const char* name) {
    std::uint64_t sum = 0;
    for (const json& element : elements) {
        const json& value = element.at(name);
        sum += value.is_null() ? 0 : value.get<std::uint64_t>();
    }
    return sum;
}

std::uint64_t dropped_of(const json& ports) {
    std::uint64_t sum = 0;
    for (const json& port : ports) {
        for (const json& count : port.at("dropped")) {
            sum += count.get<std::uint64_t>();
        }
    }
    return sum;
}

}  // namespace

json lines_view(const CounterSnapshot& counters, Tally& tally) {
    json lines = json::array();
    for (const PollerSnapshot& poller : counters.pollers) {
        for (const LineSnapshot& line : poller.lines) {
            lines.push_back(line_of(poller, line, tally));
        }
    }
    return lines;
}

json ports_view(const CounterSnapshot& counters, Tally& tally) {
    json ports = json::array();
    for (const PollerSnapshot& poller : counters.pollers) {
        for (const QueueSnapshot& queue : poller.queues) {
            ports.push_back(port_of(poller, queue, tally));
        }
    }
    return ports;
}

json threads_view(const CounterSnapshot& counters, Tally& tally) {
    json threads = json::array();
    for (const PollerSnapshot& poller : counters.pollers) {
        threads.push_back(thread_of(poller, poller.name, "poller", poller.cpu, tally));
        std::uint64_t packets = 0;
        for (const QueueSnapshot& queue : poller.queues) {
            packets += queue.packets;
        }
        threads.back()["packets"] = tally.count(named(poller.name, "packets"), packets);
    }
    for (const CoreSnapshot& core : counters.cores) {
        threads.push_back(thread_of(core, core.name, "core", core.cpu, tally));
        threads.back()["messages"] = tally.count(named(core.name, "messages"), core.events);
        threads.back()["sleeps"] = tally.count(named(core.name, "sleeps"), core.sleeps);
    }
    return threads;
}

json rings_view(const CounterSnapshot& counters, Tally& tally) {
    json rings = json::array();
    for (std::size_t poller = 0; poller < counters.pollers.size(); ++poller) {
        for (const CoreSnapshot& core : counters.cores) {
            const RingSnapshot& ring = core.rings[poller];
            const std::string of = fmt::format("ring {} {}", ring.from, core.name);
            rings.push_back({{"from", ring.from},
                             {"to", core.name},
                             {"capacity_records", ring.capacity_records},
                             {"high_water_records", ring.high_water_records},
                             {"routed", tally.count(named(of, "routed"), ring.routed)},
                             {"refused", tally.count(named(of, "refused"), ring.refused)},
                             {"waits", tally.count(named(of, "waits"), ring.waits)}});
        }
    }
    return rings;
}

json actors_view(const CounterSnapshot& counters, Tally& tally) {
    json actors = json::array();
    for (const CoreSnapshot& core : counters.cores) {
        for (std::size_t i = 0; i < core.actors.size(); ++i) {
            const ActorSnapshot& actor = core.actors[i];
            const std::string of = fmt::format("actor {} {} {}", core.name, i, actor.name);
            actors.push_back(
                {{"core", core.name},
                 {"actor", actor.name},
                 {"messages", tally.count(named(of, "messages"), actor.events)},
                 {"batches", tally.count(named(of, "batches"), actor.batches)},
                 {"waiting", times_of(tally.times(named(of, "waiting"), actor.waiting.all))},
                 {"service", times_of(tally.times(named(of, "service"), actor.service))}});
        }
    }
    return actors;
}

json latency_view(const CounterSnapshot& counters, Tally& tally) {
    Histogram::Snapshot decoded;
    for (const PollerSnapshot& poller : counters.pollers) {
        decoded.add(
            tally.times(named(poller.name, "exchange_to_decoded"), poller.exchange_to_decoded.all));
    }
    Histogram::Snapshot handled;
    for (const CoreSnapshot& core : counters.cores) {
        handled.add(tally.times(named(core.name, "receive_to_actor"), core.receive_to_actor.all));
    }
    return {{"exchange_to_decoded", times_of(decoded)}, {"receive_to_actor", times_of(handled)}};
}

json status_view(const CounterSnapshot& counters, Tally& tally) {
    std::size_t up = 0;
    json down = json::array();
    json silent = json::array();
    for (const PollerSnapshot& poller : counters.pollers) {
        for (const LineSnapshot& line : poller.lines) {
            up += line.up ? 1 : 0;
            if (line.down) {
                down.push_back(line.line);
            }
            for (std::size_t stream = 0; stream < feed::streams_count; ++stream) {
                const std::string_view state = stream_state(line, stream);
                if (state != "up" && state != "not received") {
                    silent.push_back(fmt::format("{}{}", line.line, stream_letters[stream]));
                }
            }
        }
    }
    const json lines = lines_view(counters, tally);
    const json ports = ports_view(counters, tally);
    json view{{"lines", lines.size()},
              {"lines_up", up},
              {"lines_down", std::move(down)},
              {"streams_not_up", std::move(silent)},
              {"packets", sum_of(ports, "packets")},
              {"bytes", sum_of(ports, "bytes")},
              {"dropped", dropped_of(ports)},
              {"missed", sum_of(ports, "missed") + sum_of(ports, "no_buffer")},
              {"refused", sum_of(rings_view(counters, tally), "refused")}};
    for (const char* count : {"delivered", "lost", "repaired", "late", "gaps"}) {
        view[count] = sum_of(lines, count);
    }
    return view;
}

}  // namespace pinstrike::actors::admin
