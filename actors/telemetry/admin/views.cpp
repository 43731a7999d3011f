// path: cold
#include "actors/telemetry/admin/views.h"

#include "actors/telemetry/json_parts.h"
#include "config/version.h"
#include "config/wall_time.h"
#include "feed/arbitration/line_counts.h"
#include "feed/event/decimal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace pinstrike::actors::admin {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, feed::streams_count> stream_letters{"A", "B"};

std::string_view word_of(feed::LineState state) {
    return state == feed::LineState::up              ? "up"
           : state == feed::LineState::stream_silent ? "silent"
                                                     : "down";
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

/// What the tally has of one object.
struct Counted {
    std::string of;  ///< "line 3"
    Tally& tally;

    [[nodiscard]] std::uint64_t count(std::string_view what, std::uint64_t now) const {
        return tally.count(fmt::format("{} {}", of, what), now);
    }

    [[nodiscard]] json times(std::string_view what, const Histogram::Snapshot& now) const {
        return times_of(tally.times(fmt::format("{} {}", of, what), now));
    }

    /// Every row of a table with its count.
    void add(json& view, std::span<const Row> rows, std::span<const std::uint64_t> counts) const {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            view[std::string{rows[i].name}] = count(rows[i].name, counts[i]);
        }
    }

    /// The rows that are not 0.
    [[nodiscard]] json reasons(std::span<const Row> rows,
                               std::span<const std::uint64_t> counts) const {
        json view = json::object();
        add(view, rows, counts);
        for (auto each = view.begin(); each != view.end();) {
            each = *each == 0 ? view.erase(each) : std::next(each);
        }
        return view;
    }
};

/// Null if the stream was never heard.
json seconds_since(std::int64_t then_ns) {
    return then_ns == 0 ? json(nullptr)
                        : json(std::max(static_cast<double>(wall_ns() - then_ns) * 1e-9, 0.0));
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

json stream_of(const LineSnapshot& line, std::size_t stream, Tally& tally) {
    const Counted counted{fmt::format("line {} {}", line.line, stream_letters[stream]), tally};
    json view{{"state", stream_state(line, stream)},
              {"heard_seconds_ago", seconds_since(line.heard_ns[stream])},
              {"skew", counted.times("skew", line.skews[stream])}};
    counted.add(view, feed::StreamCount_rows, line.streams[stream]);
    return view;
}

json line_of(const PollerSnapshot& poller, const LineSnapshot& line, Tally& tally) {
    const Counted counted{fmt::format("line {}", line.line), tally};
    json view{{"line", line.line},
              {"poller", poller.name},
              {"state", line_state(line)},
              {"rejects", counted.reasons(poller.reject_rows, line.rejected)},
              {"a", stream_of(line, 0, tally)},
              {"b", stream_of(line, 1, tally)}};
    counted.add(view, feed::LineCount_rows, line.counts);
    return view;
}

json port_of(const PollerSnapshot& poller, const QueueSnapshot& queue, Tally& tally) {
    const Counted counted{fmt::format("port {} of {}", queue.port, poller.name), tally};
    const nic::DeviceStatistics& device = queue.device;
    const auto device_count = [&](std::string_view name, const std::optional<std::uint64_t>& now) {
        return now ? json(counted.count(name, *now)) : json(nullptr);
    };
    json view{{"port", queue.port},
              {"poller", poller.name},
              {"link", device.link_up ? json(*device.link_up ? "up" : "down") : json(nullptr)},
              {"to_lines", counted.count("to_lines", queue.to_lines)},
              {"missed", device_count("missed", device.missed)},
              {"no_buffer", device_count("no_buffer", device.no_buffer)},
              {"errors", device_count("errors", device.errors)},
              {"dropped", counted.reasons(nic::Drop_rows, queue.dropped)},
              {"unknown_groups", queue.unknown_groups}};
    counted.add(view, nic::PortCount_rows, queue.counts);
    return view;
}

json thread_of(const LoopSnapshot& loop, const std::string& name, std::string_view kind,
               CpuIndex cpu, Tally& tally) {
    const Counted counted{name, tally};
    return {{"thread", name},
            {"kind", kind},
            {"cpu", cpu < 0 ? json("any") : json(cpu)},
            {"steps", counted.count("steps", loop.steps)},
            {"busy_ns", counted.count("busy", loop.busy_ns)},
            {"idle_ns", counted.count("idle", loop.idle_ns)},
            {"longest_step_ns", loop.longest_step_ns},
            {"preemptions", counted.times("preemptions", loop.preemptions)}};
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
        threads.back()["packets"] = Counted{poller.name, tally}.count("packets", packets);
    }
    for (const CoreSnapshot& core : counters.cores) {
        threads.push_back(thread_of(core, core.name, "core", core.cpu, tally));
        const Counted counted{core.name, tally};
        threads.back()["messages"] = counted.count("messages", core.counts[CoreCount::events]);
        threads.back()["sleeps"] = counted.count("sleeps", core.sleeps);
    }
    return threads;
}

json rings_view(const CounterSnapshot& counters, Tally& tally) {
    json rings = json::array();
    for (std::size_t poller = 0; poller < counters.pollers.size(); ++poller) {
        for (const CoreSnapshot& core : counters.cores) {
            const RingSnapshot& ring = core.rings[poller];
            const Counted counted{fmt::format("ring {} {}", ring.from, core.name), tally};
            rings.push_back({{"from", ring.from},
                             {"to", core.name},
                             {"capacity_records", ring.capacity_records},
                             {"high_water_records", ring.high_water_records},
                             {"routed", counted.count("routed", ring.counts[RingCount::routed])},
                             {"refused", counted.count("refused", ring.counts[RingCount::refused])},
                             {"waits", counted.count("waits", ring.counts[RingCount::waits])}});
        }
    }
    return rings;
}

json actors_view(const CounterSnapshot& counters, Tally& tally) {
    json actors = json::array();
    for (const CoreSnapshot& core : counters.cores) {
        for (std::size_t i = 0; i < core.actors.size(); ++i) {
            const ActorSnapshot& actor = core.actors[i];
            const Counted counted{fmt::format("actor {} {} {}", core.name, i, actor.name), tally};
            actors.push_back({{"core", core.name},
                              {"actor", actor.name},
                              {"messages", counted.count("messages", actor.events)},
                              {"batches", counted.count("batches", actor.batches)},
                              {"waiting", counted.times("waiting", actor.waiting.all)},
                              {"service", counted.times("service", actor.service)}});
        }
    }
    return actors;
}

json latency_view(const CounterSnapshot& counters, Tally& tally) {
    Histogram::Snapshot decoded;
    for (const PollerSnapshot& poller : counters.pollers) {
        decoded.add(
            tally.times(poller.name + " exchange_to_decoded", poller.exchange_to_decoded.all));
    }
    Histogram::Snapshot handled;
    for (const CoreSnapshot& core : counters.cores) {
        handled.add(tally.times(core.name + " receive_to_actor", core.receive_to_actor.all));
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
