// path: cold
//
// Checks the state of the CPUs of hot threads, and the interrupts that reach them.
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "actors/host/doctor/read_files.h"
#include "config/joined.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pinstrike::actors::doctor {
namespace {

using enum Severity;

/// The longest wake-up time of a sleep state for a hot CPU. Rings hold 5 ms, but each wake-up adds
/// latency.
constexpr unsigned exit_us_max = 10;

CpuSet without(const CpuSet& cpus, const CpuSet& taken) {
    CpuSet rest;
    std::set_difference(cpus.begin(), cpus.end(), taken.begin(), taken.end(),
                        std::inserter(rest, rest.end()));
    return rest;
}

CpuSet with(CpuSet cpus, const CpuSet& more) {
    cpus.insert(more.begin(), more.end());
    return cpus;
}

/// A list of CPUs on the kernel's command line. The list follows `words` there.
Measured boot_list(std::string_view name, std::string_view words, Severity lacking,
                   const std::optional<CpuSet>& seen, const CpuSet& hot) {
    if (!seen) {
        return {unknown, "not visible: the kernel was built without it, or does not show it"};
    }
    const std::string text = seen->empty() ? "none" : "cpus " + cpus_text(*seen);
    if (without(hot, *seen).empty()) {
        return {ok, text};
    }
    Fix fix = boot_fix(name, fmt::format("{}={}{}", name, words, cpus_text(with(*seen, hot))));
    fix.advice = fmt::format(
        "first remove an older {}= from the command line{}", name,
        hot.contains(0) ? "; move the thread of cpu 0, because the kernel keeps time there" : "");
    return {lacking, text, fix};
}

Measured governor(const Host& host, const CpuSet& hot) {
    std::set<std::string> others;
    std::vector<FileValue> values;
    bool visible = false;
    for (const HostCpu& cpu : host.cpus) {
        if (!hot.contains(cpu.index) || cpu.governor.empty()) {
            continue;
        }
        visible = true;
        if (cpu.governor != "performance") {
            others.insert(cpu.governor);
            values.push_back(
                {fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu.index),
                 "performance"});
        }
    }
    if (!visible) {
        return {unknown, host.hypervisor ? "not visible: the hypervisor decides"
                                         : "not visible: no cpufreq driver; the firmware decides"};
    }
    if (others.empty()) {
        return {ok, "governor performance"};
    }
    Fix fix = sysfs_fix("governor", values);
    fix.command =
        fmt::format("cpupower --cpu {} frequency-set --governor performance", cpus_text(hot));
    return {warning,
            fmt::format("governor {} on {} of {}", *others.begin(), values.size(), hot.size()),
            fix};
}

Measured idle_states(const Host& host, const Need& need, const CpuSet& hot) {
    std::vector<FileValue> values;  // that disable the deep states in use
    std::string deepest;
    bool visible = false;
    for (const HostCpu& cpu : host.cpus) {
        visible = visible || !cpu.idle_states.empty();
        for (const IdleState& state : cpu.idle_states) {
            if (hot.contains(cpu.index) && state.exit_us > exit_us_max && !state.disabled) {
                values.push_back(
                    {fmt::format("/sys/devices/system/cpu/cpu{}/cpuidle/state{}/disable", cpu.index,
                                 state.number),
                     "1"});
                deepest = fmt::format("{}, {} us to wake", state.name, state.exit_us);
            }
        }
    }
    if (!visible) {
        return {unknown, host.hypervisor ? "not visible: the hypervisor decides" : "not visible"};
    }
    if (values.empty()) {
        return {ok, host.hypervisor ? "none deeper here; the hypervisor's own are not visible"
                                    : "none deeper"};
    }
    const bool parks = std::ranges::any_of(
        need.threads, [](const HotThread& thread) { return thread.cpu >= 0 && !thread.spins; });
    Fix fix = sysfs_fix("c-states", values);
    fix.command = fmt::format("cpupower --cpu {} idle-set --disable-by-latency {}", cpus_text(hot),
                              exit_us_max);
    return {parks ? warning : advice, "deepest in use: " + deepest, fix};
}

/// The script moves them one by one now. From the next boot on, the kernel places them when it
/// creates them.
Fix interrupt_fix(const std::vector<unsigned>& numbers, const CpuSet& others) {
    if (others.empty()) {
        return {};
    }
    const std::string list = cpus_text(others);
    Fix fix = boot_fix("irqaffinity", "irqaffinity=" + list);
    fix.command = fmt::format("echo {} > /proc/irq/{}/smp_affinity_list", list, numbers.front());
    fix.advice = numbers.size() > 1 ? "the same for each" : "";
    for (const unsigned number : numbers) {
        // The kernel refuses to move the interrupts that it manages. The others are moved.
        fix.now.push_back(fmt::format(
            "set_value /proc/irq/{0}/smp_affinity_list {1} || echo \"interrupt {0} stays\" >&2",
            number, list));
    }
    return fix;
}

Measured interrupts(const Host& host, const CpuSet& hot) {
    constexpr std::size_t named_max = 4;
    std::vector<unsigned> numbers;
    std::vector<std::string> names;
    for (const HostInterrupt& interrupt : host.interrupts) {
        if (without(interrupt.cpus, hot) != interrupt.cpus) {
            numbers.push_back(interrupt.number);
            names.push_back(fmt::format("{} {} (cpus {})", interrupt.number, interrupt.name,
                                        cpus_text(interrupt.cpus)));
        }
    }
    if (host.interrupts.empty()) {
        return {unknown, "not visible: no interrupt in /proc/irq"};
    }
    if (numbers.empty()) {
        return {ok, fmt::format("none of {}", host.interrupts.size())};
    }
    if (names.size() > named_max) {
        names.resize(named_max);
        names.emplace_back("...");
    }
    CpuSet online;
    std::ranges::transform(host.cpus, std::inserter(online, online.end()), &HostCpu::index);
    return {
        warning,
        fmt::format("{} of {}: {}", numbers.size(), host.interrupts.size(), joined(names, "; ")),
        interrupt_fix(numbers, without(online, hot))};
}

Measured irqbalance(const Host& host, const CpuSet& hot) {
    if (!host.runs("irqbalance")) {
        if (!host.container.empty()) {
            return {unknown, "not visible from a container"};
        }
        return host.processes.empty() ? Measured{unknown, "not visible: no other process is"}
                                      : Measured{ok, "does not run"};
    }
    if (!host.irqbalance_seen) {
        return {unknown, "runs; this user may not read its options"};
    }
    // Without options, irqbalance excludes isolated and tickless CPUs.
    const CpuSet spared = host.irqbalance_banned.value_or(
        with(host.isolated.value_or(CpuSet{}), host.tickless.value_or(CpuSet{})));
    const std::string seen =
        "runs, excludes " + (spared.empty() ? "none" : "cpus " + cpus_text(spared));
    if (without(hot, spared).empty()) {
        return {ok, seen};
    }
    const std::string variable =
        "Environment=IRQBALANCE_BANNED_CPULIST=" + cpus_text(with(spared, hot));
    return {warning,
            seen,
            {"systemctl disable --now irqbalance",
             "or let it exclude hot cpus, as the script does",
             {},
             {"keep /etc/systemd/system/irqbalance.service.d/pinstrike.conf '[Service]' " +
                  shell_word(variable),
              "systemctl daemon-reload", "systemctl try-restart irqbalance.service"}}};
}

}  // namespace

void judge_processors(const Host& host, const Need& need, Findings& findings) {
    const CpuSet hot = need.hot_cpus();
    if (hot.empty()) {
        return;  // no thread is pinned, which the check `pinning` reports
    }
    const auto add_boot_list = [&](Check check, std::string_view words, Severity lacking,
                                   const std::optional<CpuSet>& seen) {
        add_finding(findings, check, boot_list(row_of(check).id, words, lacking, seen, hot),
                    fmt::arg("hot", cpus_text(hot)));
    };
    add_boot_list(Check::isolcpus, "domain,managed_irq,", warning, host.isolated);
    add_boot_list(Check::nohz_full, "", warning, host.tickless);
    add_boot_list(Check::rcu_nocbs, "", advice, host.callback_free);
    add_finding(findings, Check::governor, governor(host, hot));
    add_finding(findings, Check::c_states, idle_states(host, need, hot),
                fmt::arg("exit_us", exit_us_max));
    add_finding(findings, Check::interrupts, interrupts(host, hot));
    add_finding(findings, Check::irqbalance, irqbalance(host, hot));
}

}  // namespace pinstrike::actors::doctor
