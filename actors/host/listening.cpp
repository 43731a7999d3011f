// path: cold
#include "actors/host/listening.h"

#include "config/units.h"
#include "nic/dpdk/host.h"
#include "nic/packet/address.h"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <string_view>

namespace pinstrike::actors {
namespace {

void check(std::string_view key, const std::string& address, ListeningRights rights,
           Problems& problems) {
    const auto port = parse_integer(std::string_view{address}.substr(address.rfind(':') + 1));
    if (port && *port < rights.first_free_port && !rights.below_too) {
        add_problem(problems, "",
                    fmt::format("{}: found {}, expected a port from {} on, or the right "
                                "CAP_NET_BIND_SERVICE (AmbientCapabilities of the service's unit)",
                                key, address, rights.first_free_port));
    }
}

}  // namespace

ListeningRights read_listening_rights() {
    constexpr unsigned net_bind_service = 10;
    ListeningRights rights;
    rights.below_too = nic::dpdk::read_capabilities().has(net_bind_service);
    std::ifstream in("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    if (unsigned port = 0; in >> port) {
        rights.first_free_port = port;
    }
    return rights;
}

void check_listening(const FeedConfig& config, ListeningRights rights, Problems& problems) {
    if (!config.metrics_address.empty()) {
        check("metrics_address", config.metrics_address, rights, problems);
    }
    if (config.peer.listen != nic::Group{}) {
        check("peer.listen", nic::text_of(config.peer.listen), rights, problems);
    }
}

}  // namespace pinstrike::actors
