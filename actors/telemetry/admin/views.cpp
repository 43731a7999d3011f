// path: cold
#include "actors/telemetry/admin/views.h"

#include "actors/telemetry/json_parts.h"
#include "config/version.h"
#include "feed/arbitration/line_counts.h"
#include "feed/event/decimal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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
    view["skew"] = times_of(tally.times(named(of, "skew"), line.skews[stream]));
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

json port_of(const PollerSnapshot& poller, const QueueSnapshot& queue, Tally& tally) {
    const std::string of = fmt::format("port {} of {}", queue.port, poller.name);
    const nic::DeviceStatistics& device = queue.device;
    const auto count = [&](std::string_view name, std::uint64_t now) {
        return tally.count(named(of, name), now);
    };
    const auto device_count = [&](std::string_view name, const std::optional<std::uint64_t>& now) {
        return or_null<json>(now ? std::optional{count(name, *now)} : std::nullopt);
    };
    return {{"port", queue.port},
            {"poller", poller.name},
            {"link", device.link_up ? json(*device.link_up ? "up" : "down") : json(nullptr)},
            {"packets", count("packets", queue.counts[nic::PortCount::packets])},
            {"bytes", count("bytes", queue.counts[nic::PortCount::bytes])},
            {"full_bursts", count("full_bursts", queue.counts[nic::PortCount::full_bursts])},
            {"link_changes", count("link_changes", queue.counts[nic::PortCount::link_changes])},
            {"to_lines", count("to_lines", queue.to_lines)},
            {"missed", device_count("missed", device.missed)},
            {"no_buffer", device_count("no_buffer", device.no_buffer)},
            {"errors", device_count("errors", device.errors)},
            {"dropped", reasons_of(of, nic::Drop_rows, queue.dropped, tally)},
            {"unknown_groups", queue.unknown_groups}};
}

json thread_of(const LoopSnapshot& loop, const std::string& name, std::string_view kind,
               CpuIndex cpu, Tally& tally) {
    return {{"thread", name},
            {"kind", kind},
            {"cpu", cpu < 0 ? json("any") : json(cpu)},
            {"steps", tally.count(named(name, "steps"), loop.steps)},
            {"busy_ns", tally.count(named(name, "busy"), loop.busy_ns)},
            {"idle_ns", tally.count(named(name, "idle"), loop.idle_ns)},
            {"longest_step_ns", loop.longest_step_ns},
            {"preemptions", times_of(tally.times(named(name, "preemptions"), loop.preemptions))}};
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
            packets += queue.counts[nic::PortCount::packets];
        }
        threads.back()["packets"] = tally.count(named(poller.name, "packets"), packets);
    }
    for (const CoreSnapshot& core : counters.cores) {
        threads.push_back(thread_of(core, core.name, "core", core.cpu, tally));
        threads.back()["messages"] =
            tally.count(named(core.name, "messages"), core.counts[CoreCount::events]);
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
            rings.push_back(
                {{"from", ring.from},
                 {"to", core.name},
                 {"capacity_records", ring.capacity_records},
                 {"high_water_records", ring.high_water_records},
                 {"routed", tally.count(named(of, "routed"), ring.counts[RingCount::routed])},
                 {"refused", tally.count(named(of, "refused"), ring.counts[RingCount::refused])},
                 {"waits", tally.count(named(of, "waits"), ring.counts[RingCount::waits])}});
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

/// "SPXW  2026-03-19 C 5900"
std::string series_text(const feed::SeriesKey& key) {
    const auto bytes = key.bytes();
    std::string symbol(bytes.data(), feed::SeriesKey::symbol_bytes);
    for (char& character : symbol) {
        // Replaces control characters, because the text comes from the network.
        character = character > ' ' && character < 0x7F ? character : ' ';
    }
    return fmt::format("{} {:04}-{:02}-{:02} {} {}{}", symbol, key.year(), key.month(), key.day(),
                       key.call() ? 'C' : 'P', feed::normalised_decimal(key.strike_e8),
                       key.gth() ? " GTH" : "");
}

json price_of(std::optional<std::int64_t> price_e8) {
    return price_e8 ? json(feed::normalised_decimal(*price_e8)) : json(nullptr);
}

json busiest_view(const CounterSnapshot& counters, Tally&) {
    json busiest = json::array();
    for (const CoreSnapshot& core : counters.cores) {
        for (const RankedSeries& series : core.busiest) {
            busiest.push_back({{"core", core.name},
                               {"series", series_text(series.key)},
                               {"quotes", series.quotes},
                               {"bid", price_of(series.bid_e8)},
                               {"offer", price_of(series.offer_e8)}});
        }
    }
    return busiest;
}

json status_of(const json& lines, const json& ports, const json& rings) {
    std::size_t up = 0;
    json down = json::array();
    json silent = json::array();
    for (const json& line : lines) {
        up += line.at("state") == "up" ? 1 : 0;
        if (line.at("state") == "down") {
            down.push_back(line.at("line"));
        }
        for (const auto& [name, letter] : {std::pair{"a", "A"}, std::pair{"b", "B"}}) {
            const json& state = line.at(name).at("state");
            if (state != "up" && state != "not received") {
                silent.push_back(line.at("line").dump() + letter);
            }
        }
    }
    json view{{"lines", lines.size()},
              {"lines_up", up},
              {"lines_down", std::move(down)},
              {"streams_not_up", std::move(silent)},
              {"packets", sum_of(ports, "packets")},
              {"bytes", sum_of(ports, "bytes")},
              {"dropped", dropped_of(ports)},
              {"missed", sum_of(ports, "missed") + sum_of(ports, "no_buffer")},
              {"refused", sum_of(rings, "refused")}};
    for (const char* count : {"delivered", "lost", "repaired", "late", "gaps"}) {
        view[count] = sum_of(lines, count);
    }
    return view;
}

json status_view(const CounterSnapshot& counters, Tally& tally) {
    return status_of(lines_view(counters, tally), ports_view(counters, tally),
                     rings_view(counters, tally));
}

struct View {
    std::string_view name;
    json (*make)(const CounterSnapshot&, Tally&);
};

constexpr std::array<View, 8> views_there_are{{{"status", status_view},
                                               {"lines", lines_view},
                                               {"ports", ports_view},
                                               {"threads", threads_view},
                                               {"rings", rings_view},
                                               {"actors", actors_view},
                                               {"latency", latency_view},
                                               {"busiest", busiest_view}}};

}  // namespace

json views(const CounterSnapshot& counters, Tally& tally, std::string_view ask) {
    json reply{
        {"feed", counters.feed}, {"version", version}, {"running_seconds", counters.seconds}};
    const bool all = ask == "all";
    for (const View& view : views_there_are) {
        if (ask == view.name || (all && view.name != "status")) {
            reply[std::string{view.name}] = view.make(counters, tally);
        }
    }
    if (all) {  // from the views already made, because a rolling Tally returns each time span only
                // once
        reply["status"] = status_of(reply.at("lines"), reply.at("ports"), reply.at("rings"));
    }
    return reply;
}

}  // namespace pinstrike::actors::admin
