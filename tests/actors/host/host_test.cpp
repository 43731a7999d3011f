// path: cold
//
// What `check` reports about hosts that are written by hand.
#include "actors/host/host_report.h"
#include "actors/host/listening.h"
#include "actors/topology/load_config.h"
#include "tests/config/problems.h"
#include "tests/nic/frames.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

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

HostResources good_host() {
    HostResources host;
    host.machine.memory_bytes = std::size_t{8} << 30;
    host.machine.cpus = {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}};
    host.dpdk.hugepages = {{two_mebibytes, 0, 1024, 1000}, {std::size_t{1} << 30, 0, 0, 0}};
    host.dpdk.capabilities.effective = ~0ULL;
    host.interfaces = {"eth1"};
    host.files = {"there.pcap"};
    return host;
}

HostReport report(const HostResources& host, const FeedConfig& config) {
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
    HostResources host = good_host();
    host.dpdk.hugepages[0].free_count = 3;
    const HostReport got =
        report(host, config_of("  - {name: d, kind: dpdk, vdev: net_null0, membership: static}\n"));
    ASSERT_EQ(got.problems.size(), 1U);
    EXPECT_NE(got.problems[0].text.find("6 MiB are free"), std::string::npos);
    EXPECT_NE(
        got.problems[0].text.find(" > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"),
        std::string::npos);
}

TEST(HostReport, WhatIsNotThereIsReportedAtOnce) {
    const HostReport got = report(good_host(), config_of("  - {name: u, kind: uring, interface: "
                                                         "eth9}\n",
                                                         "7"));
    EXPECT_EQ(text_of(got.problems),
              ": p: cpu 7 is not one that this process may use; there are 3\n"
              ": port u: there is no interface eth9\n");
    const HostReport files = report(
        good_host(), config_of("  - {name: f, kind: pcap, files: [there.pcap, gone.pcap]}\n"));
    EXPECT_EQ(text_of(files.problems), ": port f: gone.pcap cannot be read\n");
    const HostReport looped =
        report(good_host(), config_of("  - {name: d, kind: dpdk, membership: static, vdev: "
                                      "\"net_pcap0,rx_pcap=gone.pcap\"}\n"));
    EXPECT_EQ(text_of(looped.problems), ": port d: cannot read the capture gone.pcap\n");
}

TEST(HostReport, SaysWhatARetryMayFix) {
    const FeedConfig late = config_of("  - {name: u, kind: uring, interface: eth9}\n");
    EXPECT_EQ(exit_of(report(good_host(), late).problems), Exit::failed);
    const FeedConfig pages = config_of(
        "  - {name: d, kind: dpdk, vdev: net_null0, membership: "
        "static}\n");
    HostResources host = good_host();
    host.dpdk.hugepages[0].free_count = 3;
    EXPECT_EQ(exit_of(report(host, pages).problems), Exit::failed);
    host.dpdk.hugepages[0].total_count = 3;
    EXPECT_EQ(exit_of(report(host, pages).problems), Exit::config);
    const FeedConfig plain = config_of("  - {name: s, kind: sim}\n");
    host.machine.free_bytes = 1 << 20;
    EXPECT_EQ(exit_of(report(host, plain).problems), Exit::failed);
    host.machine.memory_bytes = 1 << 20;
    host.machine.memory_owner = "the control group /a";
    const HostReport got = report(host, plain);
    EXPECT_EQ(exit_of(got.problems), Exit::config);
    EXPECT_NE(text_of(got.problems).find("of the control group /a's 1.0 MiB are free 1.0 MiB"),
              std::string::npos)
        << text_of(got.problems);
}

TEST(HostReport, OpenFilesThatAreNeeded) {
    HostResources host = good_host();
    const FeedConfig config = config_of("  - {name: u, kind: uring, interface: eth1}\n");
    host.machine.open_files_max = 128 + 4;  // two lines, a socket for each stream
    EXPECT_EQ(text_of(report(host, config).problems), "");
    host.machine.open_files_max = 128 + 3;
    const Problems problems = report(host, config).problems;
    EXPECT_EQ(exit_of(problems), Exit::config);
    EXPECT_NE(text_of(problems).find("found a limit of 131 open files, expected 132 or more"),
              std::string::npos)
        << text_of(problems);
}

TEST(HostReport, CapturesThatTheProgramWouldRefuse) {
    const nic::ScratchDirectory scratch;
    std::filesystem::create_directory(scratch.file("empty"));
    std::ofstream(scratch.file("text.pcap")) << "no capture";
    const FeedConfig config =
        config_of("  - {name: f, kind: pcap, files: ['" + scratch.file("empty") + "', '" +
                  scratch.file("text.pcap") + "', '" + scratch.file("gone.pcap") + "']}\n");
    HostResources host = good_host();
    host.content = read_host_resources(config).content;
    host.files = {scratch.file("empty"), scratch.file("text.pcap"), scratch.file("gone.pcap")};
    const Problems problems = report(host, config).problems;
    EXPECT_EQ(exit_of(problems), Exit::config);
    ASSERT_EQ(problems.size(), 2U) << text_of(problems);
    EXPECT_NE(problems[0].text.find("the folder has no capture"), std::string::npos);
    EXPECT_NE(problems[1].text.find("cannot be read as a capture"), std::string::npos);
}

TEST(Listening, NeedsARightBelowThePortsThatAreForAll) {
    FeedConfig config;
    config.metrics_address = "127.0.0.1:1023";
    config.peer.listen = {{0x7F00'0001}, 1024};
    Problems problems;
    check_listening(config, {1024, false}, problems);
    EXPECT_EQ(text_of(problems),
              ": metrics_address: found 127.0.0.1:1023, expected a port from 1024 on, or the right "
              "CAP_NET_BIND_SERVICE (AmbientCapabilities of the service's unit)\n");
    EXPECT_EQ(exit_of(problems), Exit::config);
    problems.clear();
    check_listening(config, {1024, true}, problems);
    check_listening(config, {1023, false}, problems);
    EXPECT_EQ(text_of(problems), "");
    check_listening(config, {1025, false}, problems);
    EXPECT_EQ(problems.size(), 2U);
}

TEST(HostReport, ReadsThisHost) {
    const HostResources host =
        read_host_resources(config_of("  - {name: f, kind: pcap, files: [/proc/self/stat]}\n"));
    EXPECT_FALSE(host.machine.cpus.empty());
    EXPECT_TRUE(host.interfaces.contains("lo"));
    EXPECT_TRUE(host.files.contains("/proc/self/stat"));
}

}  // namespace
}  // namespace pinstrike::actors
