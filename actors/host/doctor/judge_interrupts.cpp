// path: cold
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "actors/host/doctor/read_files.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike::actors::doctor {
namespace {

/// Online CPUs without a hot thread.
CpuSet other_cpus(const Host& host, const CpuSet& hot) {
    CpuSet others;
    for (const HostCpu& cpu : host.cpus) {
        if (!hot.contains(cpu.index)) {
            others.insert(cpu.index);
        }
    }
    return others;
}

bool meets(const CpuSet& some, const CpuSet& others) {
    return std::any_of(some.begin(), some.end(),
                       [&](CpuIndex cpu) { return others.contains(cpu); });
}

/// The script moves them one by one now. From the next boot on, the kernel places them when it
/// creates them.
Fix interrupt_fix(const std::vector<unsigned>& numbers, const CpuSet& others) {
    if (others.empty()) {
        return advice_fix("leave the kernel a processor without a hot thread");
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

void judge_affinity(const Host& host, const CpuSet& hot, Findings& findings) {
    constexpr std::size_t named_max = 4;
    Finding finding{.id = "interrupts",
                    .severity = Severity::ok,
                    .what = "interrupts on hot cpus",
                    .seen = fmt::format("none of {}", host.interrupts.size()),
                    .wanted = "none",
                    .why =
                        "each stops the thread for microseconds, and brings softirq work that "
                        "stops it for longer",
                    .fix = {}};
    std::vector<unsigned> numbers;
    std::string names;
    for (const HostInterrupt& interrupt : host.interrupts) {
        if (meets(interrupt.cpus, hot)) {
            numbers.push_back(interrupt.number);
            if (numbers.size() <= named_max) {
                names += fmt::format("{}{} {} (cpus {})", names.empty() ? "" : "; ",
                                     interrupt.number, interrupt.name, cpus_text(interrupt.cpus));
            }
        }
    }
    if (host.interrupts.empty()) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible: no interrupt in /proc/irq";
    } else if (!numbers.empty()) {
        finding.severity = Severity::warning;
        finding.seen = fmt::format("{} of {}: {}{}", numbers.size(), host.interrupts.size(), names,
                                   numbers.size() > named_max ? "; ..." : "");
        finding.fix = interrupt_fix(numbers, other_cpus(host, hot));
    }
    findings.push_back(std::move(finding));
}

/// Without options, irqbalance excludes isolated and tickless CPUs.
CpuSet spared(const Host& host) {
    if (host.irqbalance_banned) {
        return *host.irqbalance_banned;
    }
    CpuSet cpus = host.isolated.value_or(CpuSet{});
    cpus.merge(CpuSet{host.tickless.value_or(CpuSet{})});
    return cpus;
}

void judge_irqbalance(const Host& host, const CpuSet& hot, Findings& findings) {
    Finding finding{.id = "irqbalance",
                    .severity = Severity::ok,
                    .what = "irqbalance",
                    .seen = "does not run",
                    .wanted = "not there, or told to spare hot cpus",
                    .why =
                        "it moves interrupts to processors that look idle to it; also back to "
                        "those they were taken from",
                    .fix = {}};
    const CpuSet sparing = spared(host);
    if (!host.runs("irqbalance")) {
        if (!host.container.empty() || host.processes.empty()) {
            finding.severity = Severity::unknown;
            finding.seen = host.container.empty() ? "not visible: no process of others is"
                                                  : "not visible from a container";
        }
    } else if (!host.irqbalance_seen) {
        finding.severity = Severity::unknown;
        finding.seen = "runs; what it was told may not be read by this user";
    } else if (std::includes(sparing.begin(), sparing.end(), hot.begin(), hot.end())) {
        finding.seen = "runs, spares cpus " + cpus_text(sparing);
    } else {
        finding.severity = Severity::warning;
        finding.seen =
            sparing.empty() ? "runs, spares none" : "runs, spares cpus " + cpus_text(sparing);
        CpuSet all = sparing;
        all.insert(hot.begin(), hot.end());
        finding.fix.command = "systemctl disable --now irqbalance";
        finding.fix.advice = "or let it spare them, as the script does";
        finding.fix.lasting = {
            fmt::format("keep /etc/systemd/system/irqbalance.service.d/pinstrike.conf '[Service]' "
                        "{}",
                        shell_word("Environment=IRQBALANCE_BANNED_CPULIST=" + cpus_text(all))),
            "systemctl daemon-reload", "systemctl try-restart irqbalance.service"};
    }
    findings.push_back(std::move(finding));
}

}  // namespace

void judge_interrupts(const Host& host, const Need& need, Findings& findings) {
    const CpuSet hot = need.hot_cpus();
    if (!hot.empty()) {
        judge_affinity(host, hot, findings);
        judge_irqbalance(host, hot, findings);
    }
}

}  // namespace pinstrike::actors::doctor
