// path: cold
//
// Judges the state of the CPUs of hot threads.
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "actors/host/doctor/read_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pinstrike::actors::doctor {
namespace {

/// The longest wake-up time of a sleep state for a hot CPU. Rings hold 5 ms, but each wake-up adds
/// latency.
constexpr unsigned exit_us_max = 10;

CpuSet without(const CpuSet& cpus, const CpuSet& taken) {
    CpuSet rest;
    std::set_difference(cpus.begin(), cpus.end(), taken.begin(), taken.end(),
                        std::inserter(rest, rest.end()));
    return rest;
}

struct BootList {
    const char* id;
    const char* what;
    const char* parameter;  ///< the list of CPUs follows it
    const char* why;
    Severity lacking;
};

constexpr BootList isolation{
    "isolcpus", "hot cpus isolated", "isolcpus=domain,managed_irq,",
    "the scheduler puts any program on a processor that is not: each turn of it stops the feed for "
    "up to milliseconds",
    Severity::warning};
constexpr BootList tickless{
    "nohz_full", "hot cpus without tick",
    "nohz_full=", "the tick stops a thread 100 to 1000 times a second, a few microseconds each",
    Severity::warning};
constexpr BootList callback_free{
    "rcu_nocbs", "hot cpus without RCU's work",
    "rcu_nocbs=", "what the kernel frees late is otherwise freed on the hot processor",
    Severity::advice};

/// A list of CPUs on the kernel's command line.
void judge_boot_list(const BootList& list, const std::optional<CpuSet>& seen, const CpuSet& hot,
                     Findings& findings) {
    Finding finding{.id = list.id,
                    .severity = Severity::ok,
                    .what = list.what,
                    .seen = "",
                    .wanted = "cpus " + cpus_text(hot),
                    .why = list.why,
                    .fix = {}};
    if (!seen) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible: the kernel was built without it, or does not show it";
        findings.push_back(std::move(finding));
        return;
    }
    finding.seen = seen->empty() ? "none" : "cpus " + cpus_text(*seen);
    if (const CpuSet lacking = without(hot, *seen); !lacking.empty()) {
        finding.severity = list.lacking;
        CpuSet all = *seen;
        all.insert(hot.begin(), hot.end());
        finding.fix = boot_fix(list.id, list.parameter + cpus_text(all));
        finding.fix.advice =
            fmt::format("take an older {}= out of the command line first", list.id);
    }
    if (hot.contains(0) && finding.severity != Severity::ok) {
        finding.fix.advice +=
            "; cpu 0, where the kernel keeps time, can be freed of little: move its thread";
    }
    findings.push_back(std::move(finding));
}

void judge_governor(const Host& host, const CpuSet& hot, Findings& findings) {
    Finding finding{.id = "governor",
                    .severity = Severity::ok,
                    .what = "frequency of hot cpus",
                    .seen = "governor performance",
                    .wanted = "governor performance",
                    .why =
                        "others let the frequency sink in quiet times, and the burst that follows "
                        "is taken slowly",
                    .fix = {}};
    std::set<std::string> others;
    std::vector<FileValue> values;
    bool visible = false;
    for (const CpuIndex index : hot) {
        const HostCpu* cpu = host.find_cpu(index);
        const std::string governor = cpu == nullptr ? "" : cpu->governor;
        visible = visible || !governor.empty();
        if (!governor.empty() && governor != "performance") {
            others.insert(governor);
            values.push_back(
                {fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", index),
                 "performance"});
        }
    }
    if (!visible) {
        finding.severity = Severity::unknown;
        finding.seen = host.hypervisor ? "not visible: the hypervisor decides"
                                       : "not visible: no cpufreq driver; the firmware decides";
    } else if (!others.empty()) {
        finding.severity = Severity::warning;
        finding.seen =
            fmt::format("governor {} on {} of {}", *others.begin(), values.size(), hot.size());
        finding.fix = sysfs_fix("governor", values);
        finding.fix.command =
            fmt::format("cpupower --cpu {} frequency-set --governor performance", cpus_text(hot));
    }
    findings.push_back(std::move(finding));
}

/// The settings that disable the deepest sleep states in use.
std::vector<FileValue> deep_states(const Host& host, const CpuSet& hot, std::string& deepest) {
    std::vector<FileValue> values;
    for (const CpuIndex index : hot) {
        const HostCpu* cpu = host.find_cpu(index);
        for (const IdleState& state :
             cpu == nullptr ? std::vector<IdleState>{} : cpu->idle_states) {
            if (state.exit_us > exit_us_max && !state.disabled) {
                values.push_back(
                    {fmt::format("/sys/devices/system/cpu/cpu{}/cpuidle/state{}/disable", index,
                                 state.number),
                     "1"});
                deepest = fmt::format("{}, {} us to wake", state.name, state.exit_us);
            }
        }
    }
    return values;
}

void judge_idle_states(const Host& host, const Need& need, const CpuSet& hot, Findings& findings) {
    Finding finding{.id = "c_states",
                    .severity = Severity::ok,
                    .what = "sleep states of hot cpus",
                    .seen = "none deeper",
                    .wanted = fmt::format("none that takes more than {} us to wake", exit_us_max),
                    .why =
                        "a processor that sleeps deeply answers late; threads that spin never "
                        "sleep, but those that park do",
                    .fix = {}};
    const bool visible = std::any_of(host.cpus.begin(), host.cpus.end(),
                                     [](const HostCpu& cpu) { return !cpu.idle_states.empty(); });
    const bool parks =
        std::any_of(need.threads.begin(), need.threads.end(),
                    [](const HotThread& thread) { return thread.cpu >= 0 && !thread.spins; });
    std::string deepest;
    const std::vector<FileValue> values = deep_states(host, hot, deepest);
    if (!visible) {
        finding.severity = Severity::unknown;
        finding.seen = host.hypervisor ? "not visible: the hypervisor decides" : "not visible";
    } else if (!values.empty()) {
        finding.severity = parks ? Severity::warning : Severity::advice;
        finding.seen = "deepest in use: " + deepest;
        finding.fix = sysfs_fix("c-states", values);
        finding.fix.command = fmt::format("cpupower --cpu {} idle-set --disable-by-latency {}",
                                          cpus_text(hot), exit_us_max);
    } else if (host.hypervisor) {
        finding.seen = "none deeper here; the hypervisor's own are not visible";
    }
    findings.push_back(std::move(finding));
}

}  // namespace

void judge_processors(const Host& host, const Need& need, Findings& findings) {
    const CpuSet hot = need.hot_cpus();
    if (hot.empty()) {
        return;  // no thread is pinned, which the checks of places report
    }
    judge_boot_list(isolation, host.isolated, hot, findings);
    judge_boot_list(tickless, host.tickless, hot, findings);
    judge_boot_list(callback_free, host.callback_free, hot, findings);
    judge_governor(host, hot, findings);
    judge_idle_states(host, need, hot, findings);
}

}  // namespace pinstrike::actors::doctor
