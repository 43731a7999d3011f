// path: cold
//
// The kind of port `sim`.
#include "nic/port_kind.h"

#include "nic/sim/sim_port.h"

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace pinstrike::nic {
namespace {

Ports open(const PortOpening& opening) {
    Ports ports;
    if (!opening.make_source) {
        add_problem(
            opening.problems, "",
            fmt::format("port {}: kind sim needs a traffic generator, and this program has none "
                        "for the feed",
                        opening.config.name));
        return ports;
    }
    for (std::size_t queue = 0; queue < opening.groups_by_queue.size(); ++queue) {
        if (auto source = opening.make_source(opening.config, opening.groups_by_queue[queue],
                                              opening.problems)) {
            ports.push_back(
                std::make_unique<SimPort>(opening.queue_name(queue), std::move(source)));
        }
    }
    return ports;
}

}  // namespace

extern const PortKindRow sim_port;

constinit const PortKindRow sim_port{
    .word = "sim",
    .sentence = "the built-in traffic generator",
    .generates = true,
    .may_repeat_times = [](const PortConfig& /*port*/) { return true; },
    .source = [](const PortConfig& /*port*/) { return std::string{"simulator"}; },
    .open = open,
};

}  // namespace pinstrike::nic
