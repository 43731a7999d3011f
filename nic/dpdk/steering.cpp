// path: cold
#include "nic/dpdk/steering.h"

#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/library.h"
#include "nic/packet/address.h"
#include "nic/packet/datagram.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>

namespace pinstrike::nic::dpdk {
namespace {

/// One rule in the form of rte_flow. It matches a group address and, optionally, a UDP port and a
/// VLAN tag.
class Flow {
  public:
    Flow(const SteeringRule& rule, bool tagged, bool by_port) {
        ip_.hdr.dst_addr = rte_cpu_to_be_32(rule.group.address.value);
        ip_mask_.hdr.dst_addr = UINT32_MAX;
        if (!by_port) {  // match only UDP, because IGMP queries for the group belong on queue 0
            ip_.hdr.next_proto_id = ip_protocol::udp;
            ip_mask_.hdr.next_proto_id = UINT8_MAX;
        }
        udp_.hdr.dst_port = rte_cpu_to_be_16(rule.group.port);
        udp_mask_.hdr.dst_port = UINT16_MAX;
        queue_.index = rule.queue;
        std::size_t item = 0;
        pattern_[item++].type = RTE_FLOW_ITEM_TYPE_ETH;
        if (tagged) {
            pattern_[item++].type = RTE_FLOW_ITEM_TYPE_VLAN;
        }
        pattern_[item++] = {RTE_FLOW_ITEM_TYPE_IPV4, &ip_, nullptr, &ip_mask_};
        if (by_port) {
            pattern_[item++] = {RTE_FLOW_ITEM_TYPE_UDP, &udp_, nullptr, &udp_mask_};
        }
        pattern_[item].type = RTE_FLOW_ITEM_TYPE_END;
        actions_[0] = {RTE_FLOW_ACTION_TYPE_QUEUE, &queue_};
        actions_[1].type = RTE_FLOW_ACTION_TYPE_END;
    }

    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    /// Installs the rule. Returns the driver's error text; empty if the driver accepted the rule.
    [[nodiscard]] std::string install(std::uint16_t device) const {
        rte_flow_attr ingress{};
        ingress.ingress = 1;
        rte_flow_error error{};
        if (rte_flow_create(device, &ingress, pattern_.data(), actions_.data(), &error) !=
            nullptr) {
            return {};
        }
        return error.message != nullptr ? error.message : rte_strerror(rte_errno);
    }

  private:
    rte_flow_item_ipv4 ip_{};
    rte_flow_item_ipv4 ip_mask_{};
    rte_flow_item_udp udp_{};
    rte_flow_item_udp udp_mask_{};
    rte_flow_action_queue queue_{};
    std::array<rte_flow_item, 5> pattern_{};
    std::array<rte_flow_action, 2> actions_{};
};

/// True if no group address belongs to two queues. The first queue counts too, although it has no
/// rules.
bool addresses_suffice(const std::vector<std::vector<Group>>& groups_by_queue) {
    std::map<std::uint32_t, std::size_t> queues;
    for (std::size_t queue = 0; queue < groups_by_queue.size(); ++queue) {
        for (const Group& group : groups_by_queue[queue]) {
            const auto [entry, added] = queues.emplace(group.address.value, queue);
            if (!added && entry->second != queue) {
                return false;
            }
        }
    }
    return true;
}

/// Returns the rule that the driver refused, with its reason; empty if all rules are installed.
std::string install_all(std::uint16_t device, const std::vector<SteeringRule>& rules, bool tagged,
                        bool by_port) {
    std::set<std::uint32_t> addresses;
    for (const SteeringRule& rule : rules) {
        if (!by_port && !addresses.insert(rule.group.address.value).second) {
            continue;  // one rule per address
        }
        const std::string refusal = Flow(rule, tagged, by_port).install(device);
        if (!refusal.empty()) {
            rte_flow_error error{};
            rte_flow_flush(device, &error);
            return fmt::format("the rule {} ({})", text_of(rule), refusal);
        }
    }
    return {};
}

}  // namespace

std::string text_of(const SteeringRule& rule) {
    return fmt::format("{} to queue {}", nic::text_of(rule.group), rule.queue);
}

std::vector<SteeringRule> plan_steering(const PortConfig& port,
                                        const std::vector<std::vector<Group>>& groups_by_queue,
                                        Problems& problems) {
    std::vector<SteeringRule> rules;
    std::map<Group, std::uint16_t> queues;
    for (std::size_t queue = 0; queue < groups_by_queue.size(); ++queue) {
        for (const Group& group : groups_by_queue[queue]) {
            const SteeringRule rule{group, static_cast<std::uint16_t>(queue)};
            const auto [entry, added] = queues.emplace(group, rule.queue);
            if (!added && entry->second != rule.queue) {
                add_problem(
                    problems, "",
                    fmt::format("port {}: group {} is needed on queues {} and {}; a frame reaches "
                                "one queue only",
                                port.name, nic::text_of(group), entry->second, queue));
            } else if (added && queue != 0) {
                rules.push_back(rule);
            }
        }
    }
    return rules;
}

bool install_steering(std::uint16_t device, const PortConfig& port,
                      const std::vector<std::vector<Group>>& groups_by_queue, Problems& problems) {
    const std::size_t problems_before = problems.size();
    const std::vector<SteeringRule> rules = plan_steering(port, groups_by_queue, problems);
    if (problems.size() != problems_before) {
        return false;
    }
    const bool tagged = own_of(port).vlan != 0;
    std::string refused = install_all(device, rules, tagged, true);
    if (!refused.empty() && addresses_suffice(groups_by_queue)) {
        refused = install_all(device, rules, tagged, false);
    }
    if (refused.empty()) {
        return true;
    }
    add_problem(
        problems, "",
        fmt::format("port {}: the driver refuses to steer groups to queues: {}. Let one poller "
                    "read this port (one queue needs no steering), or give each poller a port of "
                    "its own",
                    port.name, refused));
    return false;
}

}  // namespace pinstrike::nic::dpdk
