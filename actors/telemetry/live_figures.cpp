// path: cold
#include "actors/telemetry/live_figures.h"

#include <algorithm>

namespace pinstrike::actors {

namespace {

void add_port(LiveFigures& figures, const PollerTask& poller, std::size_t i) {
    const nic::Port& port = poller.port(i);
    figures.packets += port.counters().packets.read();
    figures.bytes += port.counters().bytes.read();
    figures.dropped += poller.drops(i).sum();
    const nic::DeviceStatistics device = port.statistics();
    figures.missed += device.missed.value_or(0) + device.no_buffer.value_or(0);
}

void add_line(LiveFigures& figures, PollerTask& poller, std::size_t i) {
    using feed::LineCount;
    using feed::StreamCount;
    feed::Arbiter& arbiter = poller.arbiter(i);
    LineFigures line;
    line.line = poller.line_number(i);
    const auto up = [&](feed::Stream stream) {
        return arbiter.counters(stream).read(StreamCount::packets) != 0 &&
               poller.watch(i).state(stream) == feed::LineState::up;
    };
    line.a_up = up(feed::Stream::a);
    line.b_up = up(feed::Stream::b);
    line.received = {poller.watch(i).receives(feed::Stream::a),
                     poller.watch(i).receives(feed::Stream::b)};
    figures.lines.push_back(line);
    for (const feed::Stream stream : {feed::Stream::a, feed::Stream::b}) {
        figures.rejected += arbiter.counters(stream).read(StreamCount::rejected);
    }
    const feed::LineCounters& counters = arbiter.counters();
    figures.delivered += counters.read(LineCount::delivered);
    figures.lost += counters.read(LineCount::lost);
    figures.gaps += counters.read(LineCount::gaps);
    figures.repaired += counters.read(LineCount::repaired);
}

ThreadFigures thread_of(const LoopCounters& loop, const std::string& name) {
    ThreadFigures thread;
    thread.name = name;
    thread.busy_ns = loop.busy_ns.read();
    thread.idle_ns = loop.idle_ns.read();
    thread.longest_step_ns = loop.longest_step_ns.read();
    return thread;
}

void add_poller(LiveFigures& figures, Appliance& appliance, std::size_t index) {
    PollerTask& poller = appliance.poller(index);
    ThreadFigures thread = thread_of(poller.counters(), poller.name());
    thread.polls = true;
    const std::uint64_t packets_before = figures.packets;
    for (std::size_t i = 0; i < poller.ports_count(); ++i) {
        add_port(figures, poller, i);
    }
    thread.count = figures.packets - packets_before;
    figures.threads.push_back(std::move(thread));
    for (std::size_t i = 0; i < poller.lines_count(); ++i) {
        add_line(figures, poller, i);
    }
    const Router& router = poller.router();
    for (std::size_t i = 0; i < router.rings_count(); ++i) {
        RingFigures ring;
        ring.name = poller.name() + ":" + appliance.core(i).info().name;
        ring.high_water_records = router.high_water(i).read();
        ring.capacity_records = router.capacity(i);
        figures.refused += router.counters(i).refused.read();
        figures.rings.push_back(std::move(ring));
    }
    figures.exchange_to_decoded.add(poller.counters().exchange_to_decoded_ns.snapshot());
}

void add_busiest(LiveFigures& figures, const BusiestBoard& board) {
    const auto ranking = board.read();
    if (!ranking) {
        return;
    }
    std::copy_if(ranking->begin(), ranking->end(), std::back_inserter(figures.busiest),
                 [](const BusySeries& series) { return series.quotes > 0; });
}

void add_core(LiveFigures& figures, const Appliance& appliance, std::size_t index) {
    const Core& core = appliance.core(index);
    ThreadFigures thread = thread_of(core.counters(), core.info().name);
    thread.count = core.counters().events.read();
    figures.threads.push_back(std::move(thread));
    figures.receive_to_actor.add(core.counters().receive_to_actor_ns.snapshot());
    for (std::size_t i = 0; i < core.actors_count(); ++i) {
        const ActorCounters& counters = core.actor_counters(i);
        figures.actors.push_back({core.info().name + ' ' + std::string{core.actor(i).name()},
                                  counters.events.read(), counters.waiting_ns.snapshot(),
                                  counters.service_ns.snapshot()});
        if (const BusiestBoard* board = core.actor(i).busiest()) {
            add_busiest(figures, *board);
        }
    }
}

}  // namespace

LiveFigures take_figures(Appliance& appliance) {
    LiveFigures figures;
    figures.seconds = appliance.seconds();
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        add_poller(figures, appliance, i);
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        add_core(figures, appliance, i);
    }
    return figures;
}

}  // namespace pinstrike::actors
