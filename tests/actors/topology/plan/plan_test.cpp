// path: cold
#include "actors/topology/plan/plan.h"

#include "tests/actors/topology/two_sockets.h"

#include <fmt/format.h>
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

TEST(Plan, states_the_memory_of_the_recorder_and_draws_its_thread) {
    FeedConfig config = config_of(0, 2, 4, 6);
    EXPECT_EQ(plan::make_plan(config, two_sockets(), "a machine").recorder, "");
    config.record.on = true;
    config.record.folder = "/data";
    const plan::Plan plan = plan::make_plan(config, two_sockets(), "a machine");
    const double mib = 64.0 * static_cast<double>(config.pollers.size());
    EXPECT_EQ(plan.recorder, fmt::format("{:.1f} MiB, writes to /data", mib));
    EXPECT_NE(plan::plan_text(plan).find("recorder"), std::string::npos);
    EXPECT_NE(plan::plan_text(plan).find(plan.recorder), std::string::npos);
}

}  // namespace
}  // namespace pinstrike::actors
