// path: cold
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "config/units.h"

#include <fmt/format.h>

namespace pinstrike::actors::doctor {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

/// Below the minimum the journal drops entries and captures do not fit. Between minimum and good,
/// space is merely short.
constexpr std::uint64_t disk_bytes_min = 256 * mebibyte;
constexpr std::uint64_t disk_bytes_good = 4096 * mebibyte;

std::string limit_text(const std::optional<std::uint64_t>& limit) {
    return limit ? grouped(*limit) : "unlimited";
}

void judge_locked_memory(const Host& host, const Need& need, Findings& findings) {
    if (need.dpdk_programs == 0) {
        return;
    }
    Finding finding{.id = "memlock",
                    .severity = Severity::ok,
                    .what = "memory that may be locked, bytes",
                    .seen = "not visible: /proc/self/limits cannot be read",
                    .wanted = "unlimited, or CAP_IPC_LOCK",
                    .why =
                        "a NIC writes to its buffers by physical address: they are locked, and "
                        "vfio counts them against the limit",
                    .fix = {}};
    if (!host.limits) {
        finding.severity = Severity::unknown;
    } else {
        const bool may = host.capabilities.has(nic::dpdk::Capabilities::ipc_lock);
        finding.seen = limit_text(host.limits->locked_bytes) +
                       (may ? ", and CAP_IPC_LOCK" : ", for this user");
        if (host.limits->locked_bytes && !may) {
            finding.severity = Severity::warning;
            finding.fix = advice_fix(
                "LimitMEMLOCK=infinity in the service's unit; `ulimit -l unlimited` in a "
                "shell of root's");
        }
    }
    findings.push_back(std::move(finding));
}

void judge_open_files(const Host& host, const Need& need, Findings& findings) {
    if (need.configs == 0) {
        return;
    }
    Finding finding{.id = "nofile",
                    .severity = Severity::ok,
                    .what = "files that may be open",
                    .seen = "not visible: /proc/self/limits cannot be read",
                    .wanted = fmt::format("{} or more", grouped(need.open_files)),
                    .why =
                        "a uring port has a socket for each group; the last ones are not opened, "
                        "and the program does not start",
                    .fix = {}};
    if (!host.limits) {
        finding.severity = Severity::unknown;
    } else {
        finding.seen = limit_text(host.limits->open_files) + ", for this shell";
        if (host.limits->open_files && *host.limits->open_files < need.open_files) {
            finding.severity = Severity::error;
            finding.fix = advice_fix(
                fmt::format("LimitNOFILE={0} in the service's unit; `ulimit -n {0}` in a shell",
                            need.open_files));
        }
    }
    findings.push_back(std::move(finding));
}

void judge_disk(const HostDisk& disk, Findings& findings) {
    Finding finding{.id = "disk." + disk.path,
                    .severity = Severity::ok,
                    .what = "free disk in " + disk.path,
                    .seen = fmt::format("{} MiB of {} MiB", grouped(disk.free_bytes / mebibyte),
                                        grouped(disk.total_bytes / mebibyte)),
                    .wanted = fmt::format("{} MiB", grouped(disk_bytes_good / mebibyte)),
                    .why = "the journal is kept there, and captures: full, what happened is lost",
                    .fix = {}};
    if (disk.free_bytes < disk_bytes_good) {
        finding.severity = disk.free_bytes < disk_bytes_min ? Severity::error : Severity::advice;
        finding.fix = advice_fix("`journalctl --vacuum-size=1G`; a larger disk; `du -xh` there");
    }
    findings.push_back(std::move(finding));
}

}  // namespace

void judge_limits(const Host& host, const Need& need, Findings& findings) {
    judge_locked_memory(host, need, findings);
    judge_open_files(host, need, findings);
    for (const HostDisk& disk : host.disks) {
        judge_disk(disk, findings);
    }
    if (host.disks.empty()) {
        findings.push_back({.id = "disk",
                            .severity = Severity::unknown,
                            .what = "free disk",
                            .seen = "not visible",
                            .wanted = "room in /var/log and /var/lib",
                            .why = "the journal and captures are kept there",
                            .fix = {}});
    }
}

}  // namespace pinstrike::actors::doctor
