// path: cold
#include "actors/host/doctor/read_host.h"

#include "actors/host/doctor/read_files.h"
#include "actors/topology/cgroup_memory.h"
#include "config/units.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace pinstrike::actors::doctor {
namespace {

namespace fs = std::filesystem;

/// The value of "key<blanks>:<blanks>value" in a file of such lines; "" if there is none.
std::string value_in(const fs::path& file, std::string_view key) {
    std::istringstream in(read_word(file).value_or(""));
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || !line.starts_with(key) ||
            line.find_first_not_of(" \t", key.size()) != colon) {
            continue;
        }
        const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
        return begin == std::string::npos ? "" : line.substr(begin);
    }
    return {};
}

std::set<std::string> words_of(const std::string& text) {
    std::istringstream in(text);
    std::set<std::string> words;
    for (std::string word; in >> word;) {
        words.insert(word);
    }
    return words;
}

bool is_there(const fs::path& path) {
    std::error_code error;
    return fs::exists(path, error);
}

/// Reads systemd's record of the container first, then looks for files of the usual engines.
std::string container_kind(const fs::path& root) {
    if (const auto kind = read_word(root / "run/systemd/container"); kind && !kind->empty()) {
        return *kind;
    }
    if (is_there(root / "run/.containerenv")) {
        return "podman";
    }
    return is_there(root / ".dockerenv") ? "docker" : "";
}

void read_kind(const fs::path& root, Host& host) {
    const fs::path cpuinfo = root / "proc/cpuinfo";
    host.cpu_vendor = value_in(cpuinfo, "vendor_id");
    host.cpu_flags = words_of(value_in(cpuinfo, "flags"));
    host.hypervisor = host.cpu_flags.contains("hypervisor");
    host.container = container_kind(root);
    const fs::path supplies = root / "sys/class/power_supply";
    for (const std::string& name : names_in(supplies)) {
        // Batteries of devices such as mice have the scope "Device".
        host.battery =
            host.battery || (read_word(supplies / name / "type") == "Battery" &&
                             read_word(supplies / name / "scope").value_or("System") != "Device");
    }
}

std::vector<IdleState> read_idle_states(const fs::path& folder) {
    std::vector<IdleState> states;
    for (const std::string& name : names_in(folder)) {
        const auto number = number_behind(name, "state");
        if (!number) {
            continue;
        }
        const fs::path state = folder / name;
        states.push_back({.number = static_cast<unsigned>(*number),
                          .name = read_word(state / "name").value_or(name),
                          .exit_us = static_cast<unsigned>(std::max<std::int64_t>(
                              0, read_number(state / "latency").value_or(0))),
                          .disabled = read_number(state / "disable").value_or(0) != 0});
    }
    std::ranges::sort(states, {}, &IdleState::number);
    return states;
}

void read_nodes(const fs::path& folder, Host& host) {
    for (const std::string& name : names_in(folder)) {
        const auto node = number_behind(name, "node");
        const auto cpus = node ? read_cpus(folder / name / "cpulist") : std::nullopt;
        for (HostCpu& cpu : host.cpus) {
            if (cpus && cpus->contains(cpu.index)) {
                cpu.node = *node;
            }
        }
    }
}

/// The CPUs in "rcu_nocbs=2-7" of the command line; "rcu_nocbs" alone names none. nohz_full implies
/// its CPUs as well.
std::optional<CpuSet> callback_free_cpus(const fs::path& root) {
    const auto line = read_word(root / "proc/cmdline");
    if (!line) {
        return std::nullopt;
    }
    CpuSet cpus;
    for (const std::string& word : words_of(*line)) {
        for (const std::string_view key : {"rcu_nocbs=", "nohz_full="}) {
            if (word.starts_with(key)) {
                cpus.merge(parse_cpus(word.substr(key.size())).value_or(CpuSet{}));
            }
        }
    }
    return cpus;
}

/// The CPUs that share the cache of the highest level.
CpuSet sharers_of_last_cache(const fs::path& folder) {
    CpuSet cpus;
    std::int64_t highest = 0;
    for (const std::string& name : names_in(folder)) {
        const auto level = read_number(folder / name / "level");
        if (name.starts_with("index") && level && *level > highest) {
            highest = *level;
            cpus = read_cpus(folder / name / "shared_cpu_list").value_or(CpuSet{});
        }
    }
    return cpus;
}

void read_processors(const fs::path& root, Host& host) {
    const fs::path folder = root / "sys/devices/system/cpu";
    for (const CpuIndex index : read_cpus(folder / "online").value_or(CpuSet{})) {
        const fs::path cpu = folder / ("cpu" + std::to_string(index));
        host.cpus.push_back(
            {.index = index,
             .node = -1,
             .siblings = read_cpus(cpu / "topology/thread_siblings_list").value_or(CpuSet{index}),
             .cache = sharers_of_last_cache(cpu / "cache"),
             .governor = read_word(cpu / "cpufreq/scaling_governor").value_or(""),
             .idle_states = read_idle_states(cpu / "cpuidle"),
             .can_go_offline = is_there(cpu / "online")});
    }
    read_nodes(root / "sys/devices/system/node", host);
    host.allowed_cpus =
        parse_cpus(value_in(root / "proc/self/status", "Cpus_allowed_list")).value_or(CpuSet{});
    host.isolated = read_cpus(folder / "isolated");
    host.tickless = read_cpus(folder / "nohz_full");
    host.callback_free = callback_free_cpus(root);
    if (const auto active = read_number(folder / "smt/active")) {
        host.symmetric_threads = *active == 1;
    }
}

/// The policy of huge pages among the options of a tmpfs.
std::string huge_option(const std::string& options) {
    constexpr std::string_view key = "huge=";
    std::istringstream in(options);
    for (std::string option; std::getline(in, option, ',');) {
        if (option.starts_with(key)) {
            return option.substr(key.size());
        }
    }
    return "never";
}

/// Whether a hugetlbfs is mounted, and the policy of huge pages of /dev/shm: an option of its
/// mount, unless the kernel's setting overrides all mounts.
void read_mounts(const fs::path& root, Host& host) {
    std::istringstream in(read_word(root / "proc/self/mounts").value_or(""));
    for (std::string device, folder, type, options, rest;
         in >> device >> folder >> type >> options && std::getline(in, rest);) {
        host.hugetlbfs = host.hugetlbfs || type == "hugetlbfs";
        if (folder == "/dev/shm" && type == "tmpfs") {
            host.shm_huge_pages = huge_option(options);
        }
    }
    const std::string setting = chosen_word(
        read_word(root / "sys/kernel/mm/transparent_hugepage/shmem_enabled").value_or(""));
    if (!host.shm_huge_pages.empty() && (setting == "deny" || setting == "force")) {
        host.shm_huge_pages = setting;
    }
}

void read_memory(const fs::path& root, Host& host) {
    host.hugepages = nic::dpdk::read_hugepages((root / "sys").string());
    const std::string free_text = value_in(root / "proc/meminfo", "MemAvailable");
    if (const auto kib = parse_integer(free_text.substr(0, free_text.find(' ')))) {
        host.free_bytes = static_cast<std::size_t>(*kib) * 1024;
    }
    if (const auto group = read_cgroup_memory(root); group && host.free_bytes) {
        host.free_bytes = std::min(*host.free_bytes, group->free_bytes);
    }
    host.transparent_hugepages =
        chosen_word(read_word(root / "sys/kernel/mm/transparent_hugepage/enabled").value_or(""));
}

/// The folders that drop-ins for all instances, or for one of them, let the service write to.
void read_writable_folders(const fs::path& root, Host& host) {
    constexpr std::string_view key = "ReadWritePaths=";
    const fs::path units = root / "etc/systemd/system";
    for (const std::string& unit : names_in(units)) {
        if (!unit.starts_with("pinstrike@") || !unit.ends_with(".service.d")) {
            continue;
        }
        for (const std::string& file : names_in(units / unit)) {
            std::istringstream in(read_word(units / unit / file).value_or(""));
            for (std::string line; std::getline(in, line);) {
                for (const std::string& folder : line.starts_with(key)
                                                     ? words_of(line.substr(key.size()))
                                                     : std::set<std::string>{}) {
                    // "-" allows the folder to be absent, "+" names it below RootDirectory.
                    host.writable_folders.insert(
                        folder.substr(std::min(folder.find_first_not_of("-+"), folder.size())));
                }
            }
        }
    }
}

void read_time(const fs::path& root, Host& host) {
    const fs::path source = root / "sys/devices/system/clocksource/clocksource0";
    host.clock_source = read_word(source / "current_clocksource").value_or("");
    host.clock_sources = words_of(read_word(source / "available_clocksource").value_or(""));
}

void read_sysctls(const fs::path& root, Host& host) {
    static constexpr std::array names{"net/core/rmem_max", "net/core/netdev_max_backlog",
                                      "net/ipv4/igmp_max_memberships", "kernel/numa_balancing"};
    for (const std::string name : names) {
        if (const auto value = read_number(root / "proc/sys" / name)) {
            host.sysctls[name] = *value;
        }
    }
}

/// The soft limit in the row of /proc/self/limits: "Max open files  1024  4096  files".
std::optional<std::uint64_t> limit_of(const std::string& text, std::string_view row) {
    const std::size_t at = text.find(row);
    std::istringstream in(at == std::string::npos ? "" : text.substr(at + row.size()));
    std::string soft;
    in >> soft;
    const auto value = parse_integer(soft);
    return value ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
}

void read_limits(const fs::path& root, Host& host) {
    if (const auto text = read_word(root / "proc/self/limits")) {
        host.limits = {.locked_bytes = limit_of(*text, "Max locked memory"),
                       .open_files = limit_of(*text, "Max open files")};
    }
    std::istringstream mask(value_in(root / "proc/self/status", "CapEff"));
    mask >> std::hex >> host.capabilities.effective;
}

/// The CPUs that irqbalance's environment excludes.
void read_irqbalance(const fs::path& process, Host& host) {
    const auto environment = read_word(process / "environ");
    host.irqbalance_seen = environment.has_value() && !environment->empty();
    std::istringstream in(environment.value_or(""));
    for (std::string variable; std::getline(in, variable, '\0');) {
        constexpr std::string_view key = "IRQBALANCE_BANNED_CPULIST=";
        if (variable.starts_with(key)) {
            host.irqbalance_banned = parse_cpus(variable.substr(key.size()));
        }
    }
}

void read_processes(const fs::path& root, Host& host) {
    const fs::path processes = root / "proc";
    for (const std::string& name : names_in(processes)) {
        const auto number = parse_integer(name);
        if (!number || *number == ::getpid()) {
            continue;
        }
        const std::string process = read_word(processes / name / "comm").value_or("");
        host.processes.insert(process);
        if (process == "irqbalance") {
            read_irqbalance(processes / name, host);
        }
    }
    host.processes.erase("");
}

}  // namespace

Host read_host(const fs::path& root) {
    Host host;
    read_kind(root, host);
    read_processors(root, host);
    read_memory(root, host);
    read_mounts(root, host);
    read_nics(root, host);
    read_interfaces(root, host);
    read_interrupts(root, host);
    read_time(root, host);
    read_sysctls(root, host);
    read_limits(root, host);
    read_processes(root, host);
    read_writable_folders(root, host);
    return host;
}

}  // namespace pinstrike::actors::doctor
