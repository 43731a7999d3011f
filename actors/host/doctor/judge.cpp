// path: cold
//
// All checks in their order, and those of the machine itself: its kind, clock, limits and disks.
// The others are in judge_*.cpp.
#include "actors/host/doctor/judge.h"

#include "actors/host/doctor/fixes.h"
#include "config/joined.h"
#include "config/memory_sizes.h"
#include "config/units.h"

#include <fmt/format.h>

namespace pinstrike::actors::doctor {
namespace {

using enum Severity;

/// Below the minimum the journal drops entries and captures do not fit. Between minimum and good,
/// space is merely short.
constexpr std::uint64_t disk_bytes_min = 256 * mebibyte;
constexpr std::uint64_t disk_bytes_good = 4096 * mebibyte;

/// The required accuracy of figures that compare with the exchange's times. A packet's path through
/// the program takes less than a hundredth of it.
constexpr std::int64_t error_us_max = 1000;

Measured kind_of_machine(const Host& host) {
    if (host.cpu_flags.empty()) {
        return {unknown, "not visible: /proc/cpuinfo cannot be read"};
    }
    if (!host.container.empty()) {
        return {advice,
                host.container + " container" + (host.hypervisor ? " in a virtual machine" : ""),
                {},
                Check::machine_in_container};
    }
    if (host.hypervisor) {
        return {advice, "virtual machine", {}, Check::machine_is_virtual};
    }
    return host.battery ? Measured{advice, "laptop (has a battery)", {}, Check::machine_is_laptop}
                        : Measured{ok, "bare metal"};
}

Measured clock_source(const Host& host) {
    if (host.clock_source.empty() || host.clock_source == "tsc") {
        return host.clock_source.empty() ? Measured{unknown, "not visible"} : Measured{ok, "tsc"};
    }
    if (!host.clock_sources.contains("tsc")) {
        return {warning, host.clock_source + "; the kernel does not offer tsc"};
    }
    const std::string file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Fix fix = boot_fix("clocksource", "clocksource=tsc");
    fix.command = "echo tsc > " + file;
    fix.now = {"set_value " + file + " tsc"};
    return {warning, host.clock_source, fix};
}

Measured time_stamp_counter(const Host& host) {
    const bool constant = host.cpu_flags.contains("constant_tsc");
    const bool nonstop = host.cpu_flags.contains("nonstop_tsc");
    if (host.cpu_flags.empty()) {
        return {unknown, "not visible"};
    }
    if (constant && nonstop) {
        return {ok, "constant_tsc, nonstop_tsc"};
    }
    const char* const seen = constant  ? "constant_tsc, but not nonstop_tsc"
                             : nonstop ? "nonstop_tsc, but not constant_tsc"
                                       : "neither";
    if (host.hypervisor) {  // it may hide features of the CPU
        return {warning, seen,
                advice_fix("let the hypervisor pass the flag invtsc to the machine")};
    }
    return {error, seen};
}

/// The programs that set the clock, as far as visible.
std::string clock_programs(const Host& host) {
    // The kernel cuts names of processes to 15 characters.
    std::vector<std::string> names{"ptp4l", "phc2sys",  "timemaster",     "chronyd",
                                   "ntpd",  "openntpd", "systemd-timesyn"};
    std::erase_if(names, [&](const std::string& program) { return !host.runs(program); });
    return joined(names);
}

Measured clock(const Host& host) {
    if (!host.clock) {
        return {unknown, "adjtimex is not permitted"};
    }
    const ClockState& clock = *host.clock;
    const std::string programs = clock_programs(host);
    const std::string seen =
        fmt::format("{}{}; error {} us estimated, {} us at most; offset {} us",
                    clock.synchronised ? "synchronised" : "not synchronised",
                    programs.empty() ? ", by no visible program" : " by " + programs,
                    clock.estimated_error_us, clock.maximum_error_us, clock.offset_ns / 1000);
    if (!clock.synchronised && !host.container.empty() && programs.empty()) {
        return {warning, seen, advice_fix("run chrony or PTP on the host, not in the container")};
    }
    if (clock.synchronised && clock.estimated_error_us > error_us_max) {
        return {warning, seen};
    }
    if (clock.synchronised && programs != "systemd-timesyn") {
        return {ok, seen};
    }
    const Fix chrony{"apt-get install chrony",
                     "or ptp4l and phc2sys (package linuxptp), if the network has PTP",
                     {},
                     {"apt-get install --yes chrony", "systemctl enable --now chrony.service"}};
    return clock.synchronised ? Measured{advice, seen, chrony, Check::clock_by_timesyncd}
                              : Measured{warning, seen, chrony};
}

std::string limit_text(const std::optional<std::uint64_t>& limit) {
    return limit ? grouped(*limit) : "unlimited";
}

Measured locked_memory(const Host& host) {
    if (!host.limits) {
        return {unknown, "not visible: /proc/self/limits cannot be read"};
    }
    const bool may = host.capabilities.has(nic::dpdk::Capabilities::ipc_lock);
    return {
        host.limits->locked_bytes && !may ? warning : ok,
        limit_text(host.limits->locked_bytes) + (may ? ", and CAP_IPC_LOCK" : ", for this user")};
}

Measured open_files(const Host& host, std::uint64_t need) {
    if (!host.limits) {
        return {unknown, "not visible: /proc/self/limits cannot be read"};
    }
    const std::optional<std::uint64_t>& limit = host.limits->open_files;
    return {limit && *limit < need ? error : ok, limit_text(limit) + ", for this shell"};
}

Measured free_disk(const HostDisk& disk) {
    return {disk.free_bytes < disk_bytes_min    ? error
            : disk.free_bytes < disk_bytes_good ? advice
                                                : ok,
            fmt::format("{} MiB of {} MiB", grouped(disk.free_bytes / mebibyte),
                        grouped(disk.total_bytes / mebibyte))};
}

void judge_limits(const Host& host, const Need& need, Findings& findings) {
    if (need.dpdk_programs != 0) {
        add_finding(findings, Check::memlock, locked_memory(host));
    }
    if (need.configs != 0) {
        add_finding(findings, Check::nofile, open_files(host, need.open_files),
                    fmt::arg("need", need.open_files),
                    fmt::arg("grouped", grouped(need.open_files)));
    }
    const std::string good_mib = grouped(disk_bytes_good / mebibyte);
    for (const HostDisk& disk : host.disks) {
        add_finding(findings, Check::disk, free_disk(disk), fmt::arg("of_path", "." + disk.path),
                    fmt::arg("in_path", " in " + disk.path), fmt::arg("good_mib", good_mib));
    }
    if (host.disks.empty()) {
        add_finding(findings, Check::disk, {unknown, "not visible", {}, Check::disk_not_visible},
                    fmt::arg("of_path", ""), fmt::arg("in_path", ""));
    }
}

}  // namespace

Findings judge(const Host& host, const Need& need) {
    Findings findings;
    add_finding(findings, Check::machine, kind_of_machine(host));
    if (need.configs == 0) {
        add_finding(findings, Check::config, {unknown, "none was given"});
    }
    judge_memory(host, need, findings);
    judge_published(host, need, findings);
    judge_recording(host, need, findings);
    judge_nics(host, need, findings);
    judge_threads(host, need, findings);
    judge_processors(host, need, findings);
    add_finding(findings, Check::clock_source, clock_source(host));
    add_finding(findings, Check::tsc, time_stamp_counter(host));
    add_finding(findings, Check::clock, clock(host), fmt::arg("error_us", error_us_max));
    judge_network(host, need, findings);
    judge_limits(host, need, findings);
    return findings;
}

}  // namespace pinstrike::actors::doctor
