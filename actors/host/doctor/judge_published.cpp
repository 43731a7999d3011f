// path: cold
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "actors/publish/publish_folder.h"
#include "config/memory_sizes.h"
#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike::actors::doctor {
namespace {

using enum Severity;

/// Sets an option of the mount of /dev/shm, after each boot by a unit that runs before the
/// instances.
Fix remount_fix(const std::string& option) {
    const std::string command = fmt::format("mount -o remount,{} /dev/shm", option);
    const std::string unit = fmt::format("pinstrike-shm-{}.service", option.substr(0, 4));
    return {command,
            "",
            {command},
            {fmt::format("keep /etc/systemd/system/{} \\\n"
                         "    '[Unit]' 'Description={} of /dev/shm' "
                         "'Before=pinstrike-hugepages.service' \\\n"
                         "    '[Service]' 'Type=oneshot' 'ExecStart=/usr/bin/{}' \\\n"
                         "    '[Install]' 'WantedBy=multi-user.target'",
                         unit, option, command),
             "systemctl enable " + unit}};
}

Measured space(const Host& host, std::size_t need_bytes) {
    if (!host.shm) {
        return {unknown, "not visible: /dev/shm cannot be examined"};
    }
    const std::string seen =
        fmt::format("{} MiB free of {} MiB", grouped(host.shm->free_bytes / mebibyte),
                    grouped(host.shm->total_bytes / mebibyte));
    // Other programs may use a part of /dev/shm, so the present size only grows.
    const std::uint64_t lacking =
        need_bytes - std::min<std::uint64_t>(need_bytes, host.shm->free_bytes);
    const std::uint64_t enough =
        std::max<std::uint64_t>(2 * need_bytes, host.shm->total_bytes + lacking);
    const Fix larger = remount_fix(fmt::format("size={}m", enough / mebibyte + 64));
    if (need_bytes > host.shm->total_bytes) {
        return {error, seen, larger};
    }
    if (need_bytes > host.shm->free_bytes) {
        return host.runs("pinstrike")
                   ? Measured{advice, seen + ", of which the running instance may use a part",
                              larger}
                   : Measured{error, seen, larger};
    }
    return 2 * need_bytes > host.shm->total_bytes
               ? Measured{warning, seen, larger, Check::published_space_for_one}
               : Measured{ok, seen};
}

Measured huge_pages(const std::string& policy) {
    if (policy.empty()) {
        return {unknown, "not visible"};
    }
    const bool given = policy == "advise" || policy == "within_size" || policy == "always";
    if (policy == "deny") {
        return {warning, "denied",
                sysfs_fix("shm-huge",
                          {{"/sys/kernel/mm/transparent_hugepage/shmem_enabled", "never"}})};
    }
    return given || policy == "force" ? Measured{ok, policy}
                                      : Measured{warning, policy, remount_fix("huge=advise")};
}

Measured folder(const std::optional<HostFolder>& found) {
    constexpr unsigned wanted_mode = 02750;
    if (!found) {
        return {advice, "missing"};
    }
    const std::string seen =
        fmt::format("of {}, {}, mode {:04o}", found->user, found->group, found->mode);
    const bool well = found->user == "pinstrike" && found->group == "pinstrike-data" &&
                      found->mode == wanted_mode;
    return {well ? ok : warning, seen};
}

}  // namespace

void judge_published(const Host& host, const Need& need, Findings& findings) {
    if (need.published_huge_bytes != 0) {
        add_finding(findings, Check::published_hugetlbfs,
                    host.hugetlbfs
                        ? Measured{ok, "mounted"}
                        : Measured{error,
                                   "not mounted",
                                   {"systemctl enable --now dev-hugepages.mount",
                                    "or mount -t hugetlbfs none /dev/hugepages, without systemd",
                                    {"systemctl start dev-hugepages.mount"},
                                    {"systemctl enable dev-hugepages.mount"}}});
    }
    if (need.published_shm_bytes != 0) {
        add_finding(findings, Check::published_space, space(host, need.published_shm_bytes),
                    fmt::arg("need_mib", mebibytes_text(need.published_shm_bytes)),
                    fmt::arg("twice_mib", mebibytes_text(2 * need.published_shm_bytes)));
        add_finding(findings, Check::published_huge_pages, huge_pages(host.shm_huge_pages));
    }
    if (need.published_shm_bytes + need.published_huge_bytes != 0) {
        add_finding(findings, Check::published_folder, folder(host.published),
                    fmt::arg("folder", published_shm_folder));
    }
}

}  // namespace pinstrike::actors::doctor
