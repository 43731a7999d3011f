// path: cold
//
// Judges the CPUs of the threads, except the state of these CPUs.
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "actors/host/doctor/read_files.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace pinstrike::actors::doctor {
namespace {

/// "poller0, core0"
void add_name(std::string& names, const std::string& name) {
    names += (names.empty() ? "" : ", ") + name;
}

void judge_pinning(const Need& need, Findings& findings) {
    std::string spinning;
    std::string sleeping;
    for (const HotThread& thread : need.threads) {
        if (thread.cpu < 0) {
            add_name(thread.spins ? spinning : sleeping, thread.name);
        }
    }
    Finding finding{.id = "pinning",
                    .severity = Severity::ok,
                    .what = "threads pinned",
                    .seen = "all hot threads",
                    .wanted = "every poller and core with a `cpu`",
                    .why =
                        "a thread that is not pinned is moved and interrupted at will, and its "
                        "memory may be on another node",
                    .fix = {}};
    if (!spinning.empty() || !sleeping.empty()) {
        finding.severity = spinning.empty() ? Severity::advice : Severity::warning;
        if (!sleeping.empty()) {
            add_name(spinning, sleeping);
        }
        finding.seen = "not pinned: " + spinning;
        finding.fix = advice_fix("`cpu: N` in the config (pinstrike plan shows them)");
    }
    findings.push_back(std::move(finding));
}

/// Why a thread cannot use its CPU; empty: it can.
std::string obstacle(const Host& host, CpuIndex cpu) {
    if (host.find_cpu(cpu) == nullptr) {
        return "not online";
    }
    return host.allowed_cpus.contains(cpu) ? "" : "not allowed to this process";
}

void judge_presence(const Host& host, const Need& need, Findings& findings) {
    Finding finding{.id = "processors",
                    .severity = Severity::ok,
                    .what = "processors of the config",
                    .seen = "cpus " + cpus_text(need.hot_cpus()) + ", all online",
                    .wanted = "online, allowed, one hot thread each",
                    .why =
                        "the program does not start on a processor it may not use, and two "
                        "spinning threads on one stop each other for milliseconds",
                    .fix = {}};
    std::map<CpuIndex, std::string> taken;
    std::string wrong;
    for (const HotThread& thread : need.threads) {
        if (thread.cpu < 0) {
            continue;
        }
        if (const std::string why_not = obstacle(host, thread.cpu); !why_not.empty()) {
            add_name(wrong, fmt::format("cpu {} of {} {}", thread.cpu, thread.name, why_not));
        }
        if (const auto [other, fresh] = taken.emplace(thread.cpu, thread.name); !fresh) {
            add_name(wrong, fmt::format("cpu {} of {} is {}'s too", thread.cpu, thread.name,
                                        other->second));
        }
    }
    if (!wrong.empty()) {
        finding.severity = Severity::error;
        finding.seen = wrong;
        finding.fix = advice_fix(
            fmt::format("other processors in the config (there are {}), or of the service or "
                        "container: AllowedCPUs=, --cpuset-cpus",
                        cpus_text(host.allowed_cpus)));
    }
    findings.push_back(std::move(finding));
}

void judge_control(const Need& need, Findings& findings) {
    for (const auto& [cpu, name] : need.control) {
        const std::string hot = need.who_on(cpu);
        findings.push_back(
            {.id = fmt::format("control.cpu{}", cpu),
             .severity = hot.empty() ? Severity::ok : Severity::warning,
             .what = "processor of " + name,
             .seen =
                 hot.empty() ? fmt::format("cpu {}", cpu) : fmt::format("cpu {}, as {}", cpu, hot),
             .wanted = "one without a hot thread",
             .why = "metrics, log and DPDK's housekeeping would stop a hot thread",
             .fix = hot.empty() ? Fix{} : advice_fix("another `control_cpu` in the config")});
    }
}

/// The other CPUs of the physical cores on which hot threads run.
struct Siblings {
    std::string shared;  ///< used by other threads of the config
    CpuSet free;         ///< available to anything that the kernel schedules there
};

Siblings siblings_of(const Host& host, const Need& need) {
    Siblings siblings;
    for (const HotThread& thread : need.threads) {
        const HostCpu* cpu = host.find_cpu(thread.cpu);
        for (const CpuIndex other : cpu == nullptr ? CpuSet{} : cpu->siblings) {
            const std::string who = need.who_on(other);
            const auto control = need.control.find(other);
            if (other == thread.cpu || host.find_cpu(other) == nullptr) {
                continue;
            }
            if (!who.empty() && other > thread.cpu) {  // once for each pair
                add_name(siblings.shared, fmt::format("{} (cpu {}) with {} (cpu {})", thread.name,
                                                      thread.cpu, who, other));
            } else if (who.empty() && control != need.control.end()) {
                add_name(siblings.shared, fmt::format("{} (cpu {}) with {} (cpu {})", thread.name,
                                                      thread.cpu, control->second, other));
            } else if (who.empty() && !host.isolated.value_or(CpuSet{}).contains(other)) {
                siblings.free.insert(other);
            }
        }
    }
    return siblings;
}

void judge_siblings(const Host& host, const Need& need, Findings& findings) {
    Finding finding{
        .id = "smt",
        .severity = Severity::ok,
        .what = "SMT siblings of hot cpus",
        .seen = host.symmetric_threads.value_or(false) ? "unused or isolated" : "none: SMT is off",
        .wanted = "offline, or isolated and unused",
        .why =
            "two threads of one core share its units and caches: each then has about "
            "half, whenever the other works",
        .fix = {}};
    const Siblings siblings = siblings_of(host, need);
    if (!siblings.shared.empty()) {
        finding.severity = Severity::warning;
        finding.seen = "one core for two: " + siblings.shared;
        finding.fix = advice_fix("in the config, processors of different cores (pinstrike plan)");
    } else if (!siblings.free.empty()) {
        finding.severity = Severity::warning;
        finding.seen = "open to any program: cpus " + cpus_text(siblings.free);
        std::vector<FileValue> values;
        for (const CpuIndex cpu : siblings.free) {
            values.push_back({fmt::format("/sys/devices/system/cpu/cpu{}/online", cpu), "0"});
        }
        finding.fix = sysfs_fix("smt", values);
    }
    if (finding.severity == Severity::ok && !host.symmetric_threads) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible: the kernel does not say whether SMT is on";
    }
    findings.push_back(std::move(finding));
}

/// Hot threads by the last-level cache of their CPUs; empty: some caches are not visible.
std::map<CpuSet, std::string> caches_of(const Host& host, const Need& need) {
    std::map<CpuSet, std::string> caches;
    for (const CpuIndex index : need.hot_cpus()) {
        const HostCpu* cpu = host.find_cpu(index);
        if (cpu == nullptr || cpu->cache.empty()) {
            return {};
        }
        add_name(caches[cpu->cache], fmt::format("{} (cpu {})", need.who_on(index), index));
    }
    return caches;
}

/// Physical cores of a cache that this process may use.
std::size_t cores_of(const Host& host, const CpuSet& cache) {
    std::set<CpuSet> cores;
    for (const CpuIndex index : cache) {
        const HostCpu* cpu = host.find_cpu(index);
        if (cpu != nullptr && host.allowed_cpus.contains(index)) {
            cores.insert(cpu->siblings);
        }
    }
    return cores.size();
}

/// A cache with a physical core for each hot thread, preferably the cache of a poller; empty: there
/// is none.
CpuSet cache_for_all(const Host& host, const Need& need) {
    const std::size_t threads = need.hot_cpus().size();
    for (const HotThread& thread : need.threads) {
        const HostCpu* cpu = host.find_cpu(thread.cpu);
        if (cpu != nullptr && cores_of(host, cpu->cache) >= threads) {
            return cpu->cache;
        }
    }
    for (const HostCpu& cpu : host.cpus) {
        if (cores_of(host, cpu.cache) >= threads) {
            return cpu.cache;
        }
    }
    return {};
}

std::string caches_text(const std::map<CpuSet, std::string>& caches) {
    std::string text;
    for (const auto& [cpus, threads] : caches) {
        text += fmt::format("{}{} on that of cpus {}", text.empty() ? "" : "; ", threads,
                            cpus_text(cpus));
    }
    return text;
}

void judge_caches(const Host& host, const Need& need, Findings& findings) {
    Finding finding{.id = "cache",
                    .severity = Severity::ok,
                    .what = "last cache of hot cpus",
                    .seen = host.hypervisor ? "one for all, as the hypervisor says" : "one for all",
                    .wanted = "one for pollers and cores, where it has so many",
                    .why =
                        "what a poller hands to a core goes from cache to cache, and takes several "
                        "times as long where they share none",
                    .fix = {}};
    const auto caches = caches_of(host, need);
    if (caches.empty()) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible: the kernel does not say which processors share one";
    } else if (caches.size() > 1) {
        finding.seen = caches_text(caches);
        const CpuSet roomy = cache_for_all(host, need);
        if (roomy.empty()) {
            finding.wanted = "as few as hold all pollers and cores: none has so many processors";
        } else {
            finding.severity = Severity::advice;
            finding.fix = advice_fix(fmt::format(
                "processors of one cache in the config: {} share one", cpus_text(roomy)));
        }
    }
    findings.push_back(std::move(finding));
}

}  // namespace

void judge_places(const Host& host, const Need& need, Findings& findings) {
    if (need.configs == 0) {
        return;
    }
    judge_pinning(need, findings);
    if (!need.hot_cpus().empty()) {
        judge_presence(host, need, findings);
        judge_siblings(host, need, findings);
        judge_caches(host, need, findings);
    }
    judge_control(need, findings);
}

}  // namespace pinstrike::actors::doctor
