// path: cold
#include "actors/telemetry/admin/views.h"

#include "feed/arbitration/line_counts.h"
#include "nic/packet/address.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors::admin {
namespace {

using nlohmann::json;

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

/// Nothing was measured: no figures, rather than zeros.
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

/// "line 3 delivered": a counter's own name.
std::string named(std::string_view of, std::string_view what) {
    return fmt::format("{} {}", of, what);
}

/// Null: never heard.
json seconds_since(std::uint64_t wall_ns) {
    if (wall_ns == 0) {
        return nullptr;
    }
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const double seconds = std::chrono::duration<double>(now).count();
    return std::max(seconds - static_cast<double>(wall_ns) * 1e-9, 0.0);
}

std::string_view stream_state(PollerTask& poller, std::size_t line, feed::Stream stream) {
    if (!poller.watch(line).receives(stream)) {
        return "not received";
    }
    return poller.heard(line, stream) ? word_of(poller.watch(line).state(stream)) : "unheard";
}

std::string_view line_state(PollerTask& poller, std::size_t line) {
    return poller.watch(line).down() ? "down" : poller.line_up(line) ? "up" : "unheard";
}

json stream_of(PollerTask& poller, std::size_t line, feed::Stream stream, Tally& tally) {
    const std::string of =
        fmt::format("line {} {}", poller.line_number(line), stream == feed::Stream::a ? 'A' : 'B');
    json view{{"state", stream_state(poller, line, stream)},
              {"heard_seconds_ago", seconds_since(poller.watch(line).heard_ns(stream))}};
    const feed::StreamCounters& counters = poller.arbiter(line).counters(stream);
    for (std::size_t i = 0; i < feed::StreamCount_count; ++i) {
        const std::string name{feed::StreamCount_rows[i].name};
        view[name] = tally.count(named(of, name), counters.read(static_cast<feed::StreamCount>(i)));
    }
    view["ahead"] = times_of(tally.times(named(of, "ahead"), poller.lead(line, stream)));
    return view;
}

json line_of(PollerTask& poller, std::size_t line, Tally& tally) {
    const std::string of = fmt::format("line {}", poller.line_number(line));
    json view{{"line", poller.line_number(line)},
              {"poller", poller.name()},
              {"state", line_state(poller, line)}};
    const feed::LineCounters& counters = poller.arbiter(line).counters();
    for (std::size_t i = 0; i < feed::LineCount_count; ++i) {
        const std::string name{feed::LineCount_rows[i].name};
        view[name] = tally.count(named(of, name), counters.read(static_cast<feed::LineCount>(i)));
    }
    json rejects = json::object();
    for (std::size_t row = 0; row < poller.reject_rows().size(); ++row) {
        const std::string name{poller.reject_rows()[row].name};
        const std::uint64_t count = tally.count(named(of, name), poller.rejects(line, row));
        if (count != 0) {
            rejects[name] = count;
        }
    }
    view["rejects"] = std::move(rejects);
    view["a"] = stream_of(poller, line, feed::Stream::a, tally);
    view["b"] = stream_of(poller, line, feed::Stream::b, tally);
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

json port_of(PollerTask& poller, std::size_t i, Tally& tally) {
    const nic::Port& port = poller.port(i);
    const std::string of = fmt::format("port {} of {}", port.name(), poller.name());
    const nic::DeviceStatistics device = port.statistics();
    json dropped = json::object();
    for (std::size_t row = 0; row < nic::Drop_count; ++row) {
        const std::string name{nic::Drop_rows[row].name};
        const std::uint64_t count =
            tally.count(named(of, name), poller.drops(i).read(static_cast<nic::Drop>(row)));
        if (count != 0) {
            dropped[name] = count;
        }
    }
    const auto device_count = [&](std::string_view name, const std::optional<std::uint64_t>& now) {
        return or_null(now ? std::optional{tally.count(named(of, name), *now)} : std::nullopt);
    };
    const nic::PortCounters& counters = port.counters();
    return {{"port", port.name()},
            {"poller", poller.name()},
            {"link", device.link_up ? json(*device.link_up ? "up" : "down") : json(nullptr)},
            {"packets", tally.count(named(of, "packets"), counters.packets.read())},
            {"bytes", tally.count(named(of, "bytes"), counters.bytes.read())},
            {"full_bursts", tally.count(named(of, "full_bursts"), counters.full_bursts.read())},
            {"link_changes", tally.count(named(of, "link_changes"), counters.link_changes.read())},
            {"to_lines", tally.count(named(of, "to_lines"), poller.handed(i))},
            {"missed", device_count("missed", device.missed)},
            {"no_buffer", device_count("no_buffer", device.no_buffer)},
            {"errors", device_count("errors", device.errors)},
            {"dropped", std::move(dropped)},
            {"unknown_groups", groups_of(poller.unknown_groups(i).most_frequent())}};
}

json thread_of(const LoopCounters& loop, const std::string& name, std::string_view kind,
               CpuIndex cpu, Tally& tally) {
    return {{"thread", name},
            {"kind", kind},
            {"cpu", cpu < 0 ? json("any") : json(cpu)},
            {"turns", tally.count(named(name, "turns"), loop.steps.read())},
            {"busy_ns", tally.count(named(name, "busy"), loop.busy_ns.read())},
            {"idle_ns", tally.count(named(name, "idle"), loop.idle_ns.read())},
            {"longest_step_ns", loop.longest_step_ns.read()},
            {"stops", times_of(tally.times(named(name, "stops"), loop.stops_ns))}};
}

std::string_view letter_of(feed::Stream stream) {
    return stream == feed::Stream::a ? "A" : "B";
}

/// Adds `with[name]` of each element of an array.
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

json lines_view(Appliance& appliance, Tally& tally) {
    json lines = json::array();
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        for (std::size_t line = 0; line < appliance.poller(i).lines_count(); ++line) {
            lines.push_back(line_of(appliance.poller(i), line, tally));
        }
    }
    return lines;
}

json ports_view(Appliance& appliance, Tally& tally) {
    json ports = json::array();
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        for (std::size_t port = 0; port < appliance.poller(i).ports_count(); ++port) {
            ports.push_back(port_of(appliance.poller(i), port, tally));
        }
    }
    return ports;
}

json threads_view(Appliance& appliance, Tally& tally) {
    json threads = json::array();
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const PollerTask& poller = appliance.poller(i);
        threads.push_back(thread_of(poller.counters(), poller.name(), "poller",
                                    appliance.config().pollers[i].cpu, tally));
        std::uint64_t packets = 0;
        for (std::size_t port = 0; port < poller.ports_count(); ++port) {
            packets += poller.port(port).counters().packets.read();
        }
        threads.back()["packets"] = tally.count(named(poller.name(), "packets"), packets);
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        const Core& core = appliance.core(i);
        const std::string& name = core.info().name;
        threads.push_back(
            thread_of(core.counters(), name, "core", appliance.config().cores[i].cpu, tally));
        threads.back()["messages"] =
            tally.count(named(name, "messages"), core.counters().events.read());
        threads.back()["sleeps"] = tally.count(named(name, "sleeps"), appliance.sleeps(i));
    }
    return threads;
}

json rings_view(Appliance& appliance, Tally& tally) {
    json rings = json::array();
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const Router& router = appliance.poller(i).router();
        for (std::size_t core = 0; core < router.rings_count(); ++core) {
            const std::string& from = appliance.poller(i).name();
            const std::string& to = appliance.core(core).info().name;
            const std::string of = fmt::format("ring {} {}", from, to);
            const RingCounters& counters = router.counters(core);
            rings.push_back(
                {{"from", from},
                 {"to", to},
                 {"capacity_records", router.capacity(core)},
                 {"high_water_records", router.high_water(core).read()},
                 {"routed", tally.count(named(of, "routed"), counters.routed.read())},
                 {"refused", tally.count(named(of, "refused"), counters.refused.read())},
                 {"waits", tally.count(named(of, "waits"), counters.waits.read())}});
        }
    }
    return rings;
}

json actors_view(Appliance& appliance, Tally& tally) {
    json actors = json::array();
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        const Core& core = appliance.core(i);
        for (std::size_t actor = 0; actor < core.actors_count(); ++actor) {
            const std::string name{core.actor(actor).name()};
            const std::string of = fmt::format("actor {} {} {}", core.info().name, actor, name);
            const ActorCounters& counters = core.actor_counters(actor);
            actors.push_back(
                {{"core", core.info().name},
                 {"actor", name},
                 {"messages", tally.count(named(of, "messages"), counters.events.read())},
                 {"batches", tally.count(named(of, "batches"), counters.batches.read())},
                 {"waiting", times_of(tally.times(named(of, "waiting"), counters.waiting_ns))},
                 {"service", times_of(tally.times(named(of, "service"), counters.service_ns))}});
        }
    }
    return actors;
}

json latency_view(Appliance& appliance, Tally& tally) {
    Histogram::Snapshot decoded;
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const PollerTask& poller = appliance.poller(i);
        decoded.add(tally.times(named(poller.name(), "exchange_to_decoded"),
                                poller.counters().exchange_to_decoded_ns));
    }
    Histogram::Snapshot handled;
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        const Core& core = appliance.core(i);
        handled.add(tally.times(named(core.info().name, "receive_to_actor"),
                                core.counters().receive_to_actor_ns));
    }
    return {{"exchange_to_decoded", times_of(decoded)}, {"receive_to_actor", times_of(handled)}};
}

json status_view(Appliance& appliance, Tally& tally) {
    std::size_t up = 0;
    json down = json::array();
    json silent = json::array();
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        PollerTask& poller = appliance.poller(i);
        for (std::size_t line = 0; line < poller.lines_count(); ++line) {
            up += poller.line_up(line) ? 1 : 0;
            if (poller.watch(line).down()) {
                down.push_back(poller.line_number(line));
            }
            for (const feed::Stream stream : {feed::Stream::a, feed::Stream::b}) {
                const std::string_view state = stream_state(poller, line, stream);
                if (state != "up" && state != "not received") {
                    silent.push_back(
                        fmt::format("{}{}", poller.line_number(line), letter_of(stream)));
                }
            }
        }
    }
    const json lines = lines_view(appliance, tally);
    const json ports = ports_view(appliance, tally);
    json view{{"lines", lines.size()},
              {"lines_up", up},
              {"lines_down", std::move(down)},
              {"streams_not_up", std::move(silent)},
              {"packets", sum_of(ports, "packets")},
              {"bytes", sum_of(ports, "bytes")},
              {"dropped", dropped_of(ports)},
              {"missed", sum_of(ports, "missed") + sum_of(ports, "no_buffer")},
              {"refused", sum_of(rings_view(appliance, tally), "refused")}};
    for (const char* count : {"delivered", "lost", "repaired", "late", "gaps"}) {
        view[count] = sum_of(lines, count);
    }
    return view;
}

}  // namespace pinstrike::actors::admin
