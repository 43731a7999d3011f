// path: cold
//
// The kind of port `uring`: its keys, rules and needs.
#include "nic/port_kind.h"

#include "nic/uring/uring_config.h"
#include "nic/uring/uring_port.h"

#include <cstddef>
#include <string>

namespace pinstrike::nic {
namespace {

Form<std::string> interface_form() {
    return or_word<std::string>("none", "",
                                text_like("a network interface, at most 15 characters",
                                          "^[^ /]{1,15}$", [](const std::string& text) {
                                              return text.size() <= 15 &&
                                                     text.find_first_of(" /") == std::string::npos;
                                          }));
}

void add_keys(Section<PortConfig>& section) {
    section
        .key("interface", own(&UringConfig::interface), interface_form(),
             "Kernel interface that joins the groups.")
        .key("kernel_buffer", own(&UringConfig::kernel_buffer_bytes),
             converted<std::size_t>(bytes64(64 << 10, 1ULL << 30)),
             "Receive buffer requested from the kernel for each socket; net.core.rmem_max is its "
             "limit.");
}

std::string interface_of(const PortConfig& port) {
    return port.own.get<UringConfig>().interface;
}

void check(const PortRules& rules, std::size_t i) {
    if (interface_of(rules.ports[i]).empty() && rules.sound(i, {"interface"})) {
        rules.report(rules.path(i, "interface"), "found none, expected the kernel interface");
    }
}

std::string source_of(const PortConfig& port) {
    return "interface " + interface_of(port);
}

Ports open(const PortOpening& opening) {
    Ports ports;
    const GroupsByQueue& groups = opening.groups_by_queue;
    for (std::size_t queue = 0; queue < groups.size() && opening.problems.empty(); ++queue) {
        ports.push_back(UringPort::open(opening.config, opening.queue_name(queue), groups[queue],
                                        opening.problems));
    }
    return ports;
}

}  // namespace

extern const PortKindRow uring_port;

constinit const PortKindRow uring_port{
    .word = "uring",
    .sentence = "the kernel's sockets by io_uring",
    .live = true,
    .socket_for_each_group = true,
    .add_keys = add_keys,
    .check = check,
    .source = source_of,
    .interface = interface_of,
    .socket_buffer_bytes =
        [](const PortConfig& port) { return port.own.get<UringConfig>().kernel_buffer_bytes; },
    .system_calls = [](const PortConfig& /*port*/) -> std::vector<SystemCall> {
        return {ask_link, {"io_uring_enter"}};
    },
    .open = open,
};

}  // namespace pinstrike::nic
