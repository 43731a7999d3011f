// path: cold
//
// What `check` says of a host, on hosts made by hand.
#include "actors/host_report.h"
#include "actors/load_config.h"
#include "tests/config/problems.h"

#include <gtest/gtest.h>

namespace pinstrike::actors {
namespace {

constexpr std::size_t two_mebibytes = 2 << 20;

FeedConfig config_of(const std::string& ports, const std::string& poller_cpu = "1") {
    Problems problems;
    auto config =
        parse_config("lines: 1-2\nports:\n" + ports + "pollers: [{name: p, cpu: " + poller_cpu +
                         "}]\ncores: [{name: c, cpu: 2}]\n",
                     "f", problems);
    EXPECT_TRUE(config) << text_of(problems);
    return config.value_or(FeedConfig{});
}

Host good_host() {
    Host host;
    host.machine.memory_bytes = std::size_t{8} << 30;
    host.machine.cpus = {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}};
    host.dpdk.hugepages = {{two_mebibytes, 0, 1024, 1000}, {std::size_t{1} << 30, 0, 0, 0}};
    host.dpdk.capabilities.effective = ~0ULL;
    host.interfaces = {"eth1"};
    host.files = {"there.pcap"};
    return host;
}

HostReport report(const Host& host, const FeedConfig& config) {
    return report_on(host, config, plan_topology(config));
}

TEST(HostReport, GoodHost) {
    const FeedConfig config = config_of(
        "  - {name: u, kind: uring, interface: eth1}\n"
        "  - {name: d, kind: dpdk, vdev: net_null0, membership: static}\n");
    const HostReport got = report(good_host(), config);
    EXPECT_EQ(text_of(got.problems), "");
    EXPECT_TRUE(got.remarks.empty());
    EXPECT_NE(got.text.find("hugepages of 2 MiB on node 0: 1000 free of 1024\n"),
              std::string::npos);
    EXPECT_NE(got.text.find("hugepages of 1024 MiB on node 0: 0 free of 0\n"), std::string::npos);
    EXPECT_NE(got.text.find("port d: 1 queue x "), std::string::npos);
}

TEST(HostReport, NoHugepagesNeededWithoutDpdk) {
    const HostReport got = report(good_host(), config_of("  - {name: s, kind: sim}\n"));
    EXPECT_NE(got.text.find("no hugepages needed"), std::string::npos);
}

TEST(HostReport, TooFewHugepagesNamesNeedAndCommand) {
    Host host = good_host();
    host.dpdk.hugepages[0].free_count = 3;
    const HostReport got =
        report(host, config_of("  - {name: d, kind: dpdk, vdev: net_null0, membership: static}\n"));
    ASSERT_EQ(got.problems.size(), 1U);
    EXPECT_NE(got.problems[0].text.find("6 MiB are free"), std::string::npos);
    EXPECT_NE(got.problems[0].text.find("sysctl -w vm.nr_hugepages="), std::string::npos);
}

TEST(HostReport, WhatIsNotThereIsToldAtOnce) {
    const HostReport got = report(good_host(), config_of("  - {name: u, kind: uring, interface: "
                                                         "eth9}\n",
                                                         "7"));
    EXPECT_EQ(text_of(got.problems),
              ": p: cpu 7 is not one that this process may use; there are 3\n"
              ": port u: there is no interface eth9\n");
    const HostReport files = report(
        good_host(), config_of("  - {name: f, kind: pcap, files: [there.pcap, gone.pcap]}\n"));
    EXPECT_EQ(text_of(files.problems), ": port f: gone.pcap cannot be read\n");
}

TEST(HostReport, ReadsThisHost) {
    const Host host = read_host(config_of("  - {name: f, kind: pcap, files: [/proc/self/stat]}\n"));
    EXPECT_FALSE(host.machine.cpus.empty());
    EXPECT_TRUE(host.interfaces.contains("lo"));
    EXPECT_TRUE(host.files.contains("/proc/self/stat"));
}

}  // namespace
}  // namespace pinstrike::actors
