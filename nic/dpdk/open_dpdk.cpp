// path: cold
#include "nic/dpdk/open_dpdk.h"

#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/dpdk_port.h"
#include "nic/dpdk/eal.h"
#include "nic/dpdk/eal_arguments.h"

#include <fmt/format.h>

#include <utility>

namespace pinstrike::nic::dpdk {
namespace {

MembershipConfig membership_of(const PortConfig& config, const Device& device,
                               const std::vector<std::vector<Group>>& groups_by_queue) {
    const DpdkConfig& own = own_of(config);
    MembershipConfig membership;
    for (const std::vector<Group>& groups : groups_by_queue) {
        for (const Group& group : groups) {
            membership.groups.push_back(group.address);
        }
    }
    membership.host.address = own.source_address;
    membership.host.mac = device.mac();
    membership.host.vlan = own.vlan;
    membership.version = own.igmp_version;
    return membership;
}

}  // namespace

std::vector<std::unique_ptr<Port>> open_dpdk(const PortConfig& config,
                                             const std::vector<std::vector<Group>>& groups_by_queue,
                                             Problems& problems) {
    const auto queues = static_cast<unsigned>(groups_by_queue.size());
    const PortDemand demand = demand_of(config, queues);
    std::shared_ptr<Eal> eal = Eal::running();
    if (eal != nullptr) {  // a running EAL cannot change its arguments and memory
        const Problems wrong = check_devices(std::span(&demand, 1), read_port_resources());
        problems.insert(problems.end(), wrong.begin(), wrong.end());
        eal = wrong.empty() ? eal : nullptr;
    } else {
        eal = Eal::start({{demand}, {}, {}}, problems);
    }
    if (eal == nullptr) {
        return {};
    }
    const std::shared_ptr<Device> device = Device::open(eal, config, groups_by_queue, problems);
    if (device == nullptr) {
        return {};
    }
    std::vector<std::unique_ptr<Port>> ports;
    for (std::uint16_t queue = 0; queue < queues; ++queue) {
        QueueConfig of_queue{queue, config.burst_packets, {}, config.keeps_packets};
        if (queue == 0 && own_of(config).membership == Membership::igmp) {
            of_queue.membership = membership_of(config, *device, groups_by_queue);
        }
        ports.push_back(std::make_unique<DpdkPort>(
            queues == 1 ? config.name : fmt::format("{}/{}", config.name, queue), device,
            std::move(of_queue)));
    }
    return ports;
}

}  // namespace pinstrike::nic::dpdk
