// path: cold
#include "actors/command/single_core.h"

#include <utility>

namespace pinstrike::command {

void make_single_core(actors::FeedConfig& config) {
    actors::PollerConfig poller;
    poller.name = "poll0";
    poller.ports = {config.ports.front().name};
    poller.wait = actors::WaitStrategy::park;
    for (const feed::LineConfig& line : config.lines) {
        poller.lines.push_back(line.number);
    }
    actors::CoreConfig core;
    core.name = "core0";
    core.wait = actors::WaitStrategy::park;
    core.actors.clear();
    config.pollers = {std::move(poller)};
    config.cores = {std::move(core)};
    config.publish = {};
    config.metrics_address.clear();
}

}  // namespace pinstrike::command
