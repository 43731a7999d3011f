// path: cold
#include "actors/topology/plan/plan.h"

#include "tests/actors/topology/two_sockets.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace pinstrike::actors {
namespace {

TEST(Plan, draws_a_port_on_the_node_of_its_device) {
    Machine machine = two_sockets();
    machine.pci_nodes = {{"0000:3b:00.0", 1}};
    FeedConfig config = config_of(0, 2, 4, 6);
    // The machine has no such device.
    config.ports[1].own.get<nic::dpdk::DpdkConfig>().pci = "0000:5e:00.0";
    const plan::Plan plan = plan::make_plan(config, machine, "a machine");
    const auto ports_at = [&plan](std::string_view end) {
        for (const plan::Panel& panel : plan.panels) {
            if (panel.name.ends_with(end)) {
                return panel.ports;
            }
        }
        return std::vector<std::size_t>{99};
    };
    EXPECT_EQ(ports_at("NUMA node 0"), std::vector<std::size_t>{});
    EXPECT_EQ(ports_at("NUMA node 1"), std::vector<std::size_t>{0});
    EXPECT_EQ(plan.panels.front().ports, std::vector<std::size_t>{1}) << "on no node";
}

}  // namespace
}  // namespace pinstrike::actors
