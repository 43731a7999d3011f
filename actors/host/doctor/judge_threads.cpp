// path: cold
//
// Checks the CPUs that the config gives to its threads, except the state of these CPUs.
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "actors/host/doctor/read_files.h"
#include "config/joined.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace pinstrike::actors::doctor {
namespace {

using enum Severity;
using Names = std::vector<std::string>;

Measured pinning(const Need& need) {
    Names names;  // of spinning threads first
    std::size_t spinning = 0;
    for (const HotThread& thread : need.threads) {
        if (thread.cpu < 0) {
            const std::size_t at = thread.spins ? spinning++ : names.size();
            names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), thread.name);
        }
    }
    if (names.empty()) {
        return {ok, "all hot threads"};
    }
    return {spinning == 0 ? advice : warning, "not pinned: " + joined(names)};
}

Measured processors(const Host& host, const Need& need) {
    std::map<CpuIndex, std::string> taken;
    Names wrong;
    for (const HotThread& thread : need.threads) {
        if (thread.cpu < 0) {
            continue;
        }
        const std::string place = fmt::format("cpu {} of {}", thread.cpu, thread.name);
        if (host.find_cpu(thread.cpu) == nullptr) {
            wrong.push_back(place + " not online");
        } else if (!host.allowed_cpus.contains(thread.cpu)) {
            wrong.push_back(place + " not allowed to this process");
        }
        if (const auto [other, fresh] = taken.emplace(thread.cpu, thread.name); !fresh) {
            wrong.push_back(fmt::format("{} is also used by {}", place, other->second));
        }
    }
    return wrong.empty() ? Measured{ok, "cpus " + cpus_text(need.hot_cpus()) + ", all online"}
                         : Measured{error, joined(wrong)};
}

/// The other CPUs of the physical cores on which hot threads run.
struct Siblings {
    Names shared;  ///< used by other threads of the config
    CpuSet free;   ///< available to anything that the kernel schedules there
};

Siblings siblings_of(const Host& host, const Need& need) {
    Siblings siblings;
    for (const HotThread& thread : need.threads) {
        const HostCpu* cpu = host.find_cpu(thread.cpu);
        for (const CpuIndex other : cpu == nullptr ? CpuSet{} : cpu->siblings) {
            if (other == thread.cpu || host.find_cpu(other) == nullptr) {
                continue;
            }
            const std::string hot = need.who_on(other);
            const auto control = need.control.find(other);
            if (!hot.empty() ? other > thread.cpu : control != need.control.end()) {  // a pair once
                siblings.shared.push_back(fmt::format("{} (cpu {}) with {} (cpu {})", thread.name,
                                                      thread.cpu,
                                                      hot.empty() ? control->second : hot, other));
            } else if (hot.empty() && !host.isolated.value_or(CpuSet{}).contains(other)) {
                siblings.free.insert(other);
            }
        }
    }
    return siblings;
}

/// Takes CPUs offline, where the kernel can.
Fix offline_fix(const Host& host, const CpuSet& cpus) {
    std::vector<FileValue> values;
    CpuSet kept;
    for (const CpuIndex cpu : cpus) {
        if (host.find_cpu(cpu)->can_go_offline) {
            values.push_back({fmt::format("/sys/devices/system/cpu/cpu{}/online", cpu), "0"});
        } else {
            kept.insert(cpu);
        }
    }
    Fix fix = values.empty() ? Fix{} : sysfs_fix("smt", values);
    if (!kept.empty()) {
        fix.advice = fmt::format("the kernel cannot take cpu {} offline: {}", cpus_text(kept),
                                 row_of(Check::smt).fix);
    }
    return fix;
}

Measured smt(const Host& host, const Need& need) {
    const Siblings siblings = siblings_of(host, need);
    if (!siblings.shared.empty()) {
        return {warning, "threads that share a core: " + joined(siblings.shared)};
    }
    if (!siblings.free.empty()) {
        return {warning, "available to any program: cpus " + cpus_text(siblings.free),
                offline_fix(host, siblings.free)};
    }
    if (!host.symmetric_threads) {
        return {unknown, "not visible: the kernel does not say whether SMT is on"};
    }
    return {ok, *host.symmetric_threads ? "unused or isolated" : "none: SMT is off"};
}

/// Hot threads by the last-level cache of their CPUs; empty: some caches are not visible.
std::map<CpuSet, Names> caches_of(const Host& host, const Need& need) {
    std::map<CpuSet, Names> caches;
    for (const CpuIndex index : need.hot_cpus()) {
        const HostCpu* cpu = host.find_cpu(index);
        if (cpu == nullptr || cpu->cache.empty()) {
            return {};
        }
        caches[cpu->cache].push_back(fmt::format("{} (cpu {})", need.who_on(index), index));
    }
    return caches;
}

/// Whether a cache has a physical core for each hot thread, among those that this process may use.
bool has_core_for_each(const Host& host, const Need& need, const CpuSet& cache) {
    std::set<CpuSet> cores;
    for (const CpuIndex index : cache) {
        const HostCpu* cpu = host.find_cpu(index);
        if (cpu != nullptr && host.allowed_cpus.contains(index)) {
            cores.insert(cpu->siblings);
        }
    }
    return cores.size() >= need.hot_cpus().size();
}

/// A cache with a physical core for each hot thread, preferably the cache of a poller; empty: there
/// is none.
CpuSet cache_for_all(const Host& host, const Need& need) {
    std::vector<const HostCpu*> cpus;
    for (const HotThread& thread : need.threads) {
        cpus.push_back(host.find_cpu(thread.cpu));
    }
    for (const HostCpu& cpu : host.cpus) {
        cpus.push_back(&cpu);
    }
    for (const HostCpu* cpu : cpus) {
        if (cpu != nullptr && has_core_for_each(host, need, cpu->cache)) {
            return cpu->cache;
        }
    }
    return {};
}

Measured caches(const Host& host, const Need& need) {
    const std::map<CpuSet, Names> caches = caches_of(host, need);
    if (caches.empty()) {
        return {unknown, "not visible: the kernel does not say which processors share one"};
    }
    if (caches.size() == 1) {
        return {ok, host.hypervisor ? "one for all, according to the hypervisor" : "one for all"};
    }
    Names parts;
    for (const auto& [cpus, threads] : caches) {
        parts.push_back(joined(threads) + " on that of cpus " + cpus_text(cpus));
    }
    const CpuSet roomy = cache_for_all(host, need);
    if (roomy.empty()) {
        return {ok, joined(parts, "; "), {}, Check::cache_too_small};
    }
    return {advice, joined(parts, "; "),
            advice_fix("use processors of one cache in the config, such as " + cpus_text(roomy))};
}

}  // namespace

void judge_threads(const Host& host, const Need& need, Findings& findings) {
    if (need.configs == 0) {
        return;
    }
    add_finding(findings, Check::pinning, pinning(need));
    if (!need.hot_cpus().empty()) {
        add_finding(findings, Check::processors, processors(host, need),
                    fmt::arg("allowed", cpus_text(host.allowed_cpus)));
        add_finding(findings, Check::smt, smt(host, need));
        add_finding(findings, Check::cache, caches(host, need));
    }
    for (const auto& [cpu, name] : need.control) {
        const std::string hot = need.who_on(cpu);
        add_finding(findings, Check::control,
                    {hot.empty() ? ok : warning,
                     fmt::format("cpu {}{}{}", cpu, hot.empty() ? "" : ", as ", hot)},
                    fmt::arg("cpu", cpu), fmt::arg("thread", name));
    }
}

}  // namespace pinstrike::actors::doctor
