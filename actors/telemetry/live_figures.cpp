// path: cold
#include "actors/telemetry/live_figures.h"

#include <numeric>

namespace pinstrike::actors {
namespace {

ThreadFigures thread_of(const LoopSnapshot& loop, const std::string& name, std::uint64_t count,
                        bool polls) {
    return {name, loop.busy_ns, loop.idle_ns, loop.longest_step_ns, count, polls};
}

void add_queue(LiveFigures& figures, const QueueSnapshot& queue) {
    figures.packets += queue.packets;
    figures.bytes += queue.bytes;
    figures.dropped +=
        std::accumulate(queue.dropped.begin(), queue.dropped.end(), std::uint64_t{0});
    figures.missed += queue.device.missed.value_or(0) + queue.device.no_buffer.value_or(0);
}

void add_line(LiveFigures& figures, const LineSnapshot& line) {
    const auto up = [&line](std::size_t stream) {
        return line.streams[stream][feed::StreamCount::packets] != 0 &&
               line.states[stream] == feed::LineState::up;
    };
    figures.lines.push_back({line.line, up(0), up(1), line.received});
    for (const StreamTotals& stream : line.streams) {
        figures.rejected += stream[feed::StreamCount::rejected];
    }
    figures.delivered += line.counts[feed::LineCount::delivered];
    figures.lost += line.counts[feed::LineCount::lost];
    figures.gaps += line.counts[feed::LineCount::gaps];
    figures.repaired += line.counts[feed::LineCount::repaired];
}

void add_core(LiveFigures& figures, const CoreSnapshot& core) {
    figures.threads.push_back(thread_of(core, core.name, core.events, false));
    figures.receive_to_actor.add(core.receive_to_actor.all);
    for (const ActorSnapshot& actor : core.actors) {
        figures.actors.push_back(
            {core.name + ' ' + actor.name, actor.events, actor.waiting.all, actor.service});
    }
    figures.busiest.insert(figures.busiest.end(), core.busiest.begin(), core.busiest.end());
}

}  // namespace

LiveFigures figures_of(const CounterSnapshot& counters) {
    LiveFigures figures;
    figures.seconds = counters.seconds;
    for (std::size_t i = 0; i < counters.pollers.size(); ++i) {
        const PollerSnapshot& poller = counters.pollers[i];
        const std::uint64_t packets_before = figures.packets;
        for (const QueueSnapshot& queue : poller.queues) {
            add_queue(figures, queue);
        }
        figures.threads.push_back(
            thread_of(poller, poller.name, figures.packets - packets_before, true));
        for (const LineSnapshot& line : poller.lines) {
            add_line(figures, line);
        }
        for (const CoreSnapshot& core : counters.cores) {
            const RingSnapshot& ring = core.rings[i];
            figures.refused += ring.refused;
            figures.rings.push_back(
                {poller.name + ":" + core.name, ring.high_water_records, ring.capacity_records});
        }
        figures.exchange_to_decoded.add(poller.exchange_to_decoded.all);
    }
    for (const CoreSnapshot& core : counters.cores) {
        add_core(figures, core);
    }
    return figures;
}

}  // namespace pinstrike::actors
