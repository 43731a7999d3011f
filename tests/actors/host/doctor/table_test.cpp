// path: cold
//
// The table of checks: its rows are complete, and each check can have a good and a bad result.
#include "tests/actors/host/doctor/machines.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace pinstrike::actors::doctor {
namespace {

/// "binding" of "binding.{nic}" and of "binding.0000:3b:00.0".
std::string check_of(std::string_view id) {
    return std::string{id.substr(0, id.find_first_of(".{"))};
}

TEST(Table, RowsAreComplete) {
    std::set<std::string> ids;
    std::set<std::string_view> reasons;
    for (const CheckRow& row : Check_rows) {
        if (row.id.empty()) {
            EXPECT_FALSE(ids.empty() || (row.wanted.empty() && row.why.empty()));
        } else {
            EXPECT_TRUE(ids.insert(check_of(row.id)).second) << row.id;
            EXPECT_FALSE(row.what.empty() || row.wanted.empty()) << row.id;
            EXPECT_TRUE(!row.why.empty() || row.id == "machine") << row.id;  // see its cases
        }
        EXPECT_TRUE(row.why.empty() || reasons.insert(row.why).second) << row.why;
    }
}

/// The untuned server, with more faults than a new machine has.
Host faulty_server() {
    Host host = untuned_server();
    host.hypervisor = true;
    host.free_bytes = 1 << 20;
    host.cpu_flags = {"hypervisor"};
    host.allowed_cpus = {9};
    host.limits = HostLimits{8 << 20, 64};
    for (auto& [key, value] : host.sysctls) {
        value = key == "kernel/numa_balancing" ? 1 : 0;
    }
    for (HostNic& card : host.nics) {
        card.iommu_group = 1;
        card.group_members = {{"0000:3b:00.1", "ice", false}};
    }
    host.interfaces["eth1"] = {true, true, false, 1, std::vector<std::string>{}, false};
    return host;
}

/// Findings for hosts and needs in which each check is good once and bad once.
std::vector<Findings> many_findings() {
    const auto feed = [](const std::string& name, int port, int cpu, int core_cpu) {
        return config_of(fmt::format(
            "name: {}\nlines: 1\nmetrics_address: 127.0.0.1:{}\ncontrol_cpu: 2\n"
            "ports: [{{name: u, kind: uring, interface: eth1}}]\n"
            "pollers: [{{name: p, cpu: {}}}]\ncores: [{{name: c, cpu: {}}}, {{name: d}}]\n",
            name, port, cpu, core_cpu));
    };
    const Need crossed = need_of({feed("x", 9464, 2, 9), feed("y", 9464, 2, 9)});
    const Need apart = need_of({feed("x", 9464, 9, 11), feed("y", 9465, 13, 15)});
    Host good = tuned_server();
    good.interfaces["eth1"] = {true, true, true, 0, std::vector<std::string>{"10.0.0.5"}, false};
    Host split = good;
    for (HostCpu& cpu : split.cpus) {
        cpu.cache =
            cpu.index < 8 ? CpuSet{0, 1, 2, 3, 4, 5, 6, 7} : CpuSet{8, 9, 10, 11, 12, 13, 14, 15};
    }
    return {judge(good, two_nics()),
            judge(good, one_interface()),
            judge(good, apart),
            judge(split, crossed),
            judge(faulty_server(), crossed),
            judge(faulty_server(), two_nics()),
            judge(good, publisher("shm")),
            judge(good, publisher("hugetlbfs")),
            judge(faulty_server(), publisher("shm")),
            judge(faulty_server(), publisher("hugetlbfs")),
            judge(good, recorder(1e6)),
            judge(faulty_server(), recorder(1e6)),
            judge(good, Need{})};
}

TEST(Table, EachCheckCanBeGoodAndBad) {
    std::map<std::string, std::set<Severity>> severities;
    for (const Findings& findings : many_findings()) {
        for (const Finding& finding : findings) {
            severities[check_of(finding.id)].insert(finding.severity);
        }
    }
    // `doctor` cannot judge these, or (start) the command line finds them.
    const std::set<std::string> never_judged{"config", "firmware", "membership"};
    for (const CheckRow& row : Check_rows) {
        const std::string check = check_of(row.id);
        if (row.id.empty() || check == "start") {
            continue;
        }
        const std::set<Severity>& found = severities[check];
        if (never_judged.contains(check)) {
            EXPECT_EQ(found, std::set<Severity>{Severity::unknown}) << check;
        } else {
            EXPECT_TRUE(found.contains(Severity::ok)) << check << " is never good";
            EXPECT_TRUE(!found.empty() && *found.rbegin() >= Severity::advice)
                << check << " is never bad";
        }
    }
}

}  // namespace
}  // namespace pinstrike::actors::doctor
