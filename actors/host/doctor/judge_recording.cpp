// path: cold
//
// Checks the folders and disks of recordings.
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "actors/topology/recording_rate.h"
#include "config/memory_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace pinstrike::actors::doctor {
namespace {

using enum Severity;

/// How many times the average the disk should take, because of bursts.
constexpr double burst_factor = 4;

std::string gigabytes_text(double bytes) {
    constexpr double giga = 1e9;
    return fmt::format("{:.1f} GB", bytes / giga);
}

std::string speed_text(double bytes_per_second) {
    constexpr double mega = 1e6;
    return fmt::format("{:.0f} MB/s", bytes_per_second / mega);
}

bool is_below(const std::filesystem::path& folder, const std::filesystem::path& above) {
    return std::mismatch(above.begin(), above.end(), folder.begin(), folder.end()).first ==
           above.end();
}

/// A drop-in for all instances, because a config does not say the name of its instance.
Measured folder(const Host& host, const RecordingNeed& recording) {
    const std::string& folder = recording.folder;
    const bool may = is_below(folder, "/var/lib/pinstrike") ||
                     std::ranges::any_of(host.writable_folders, [&](const std::string& above) {
                         return is_below(folder, above);
                     });
    if (may) {
        return {ok, folder};
    }
    if (!folder.starts_with('/')) {
        return {advice, folder, advice_fix("set record.folder to an absolute path")};
    }
    const std::string file =
        fmt::format("/etc/systemd/system/pinstrike@.service.d/record-{}.conf", recording.feed);
    const std::string key = "ReadWritePaths=" + folder;
    const std::string make =
        fmt::format("install --directory --owner pinstrike --group pinstrike-data --mode 2750 {}",
                    shell_word(folder));
    return {advice,
            folder,
            {make,
             fmt::format("then a drop-in of the unit, {}: [Service] {}", file, key),
             {make},
             {fmt::format("keep {} '[Service]' {}", shell_word(file), shell_word(key)),
              "systemctl daemon-reload"}}};
}

Measured direct(const HostRecording& found) {
    const std::string seen =
        fmt::format("{} of {}{}", found.disk.file_system, found.disk.folder,
                    found.writes.direct ? ", with O_DIRECT" : ", without O_DIRECT");
    if (!found.writes.direct && !found.writes.obstacle.empty()) {
        return {unknown, fmt::format("{}; {}", found.disk.file_system, found.writes.obstacle)};
    }
    return {found.disk.in_memory || !found.writes.direct ? warning : ok, seen};
}

Measured cache(const HostRecording& found) {
    const std::string& cache = found.disk.write_cache;
    if (cache.empty()) {
        return {unknown, fmt::format("not stated below {}", found.disk.file_system)};
    }
    return {cache == "write through" ? ok : advice, cache};
}

/// Removing the oldest segments makes space, so what they take counts as free.
Measured space(const HostRecording& found, const RecordingNeed& recording, double bytes_wanted) {
    const auto bytes = static_cast<double>(found.disk.free_bytes + found.disk.recorded_bytes);
    const std::string seen = fmt::format(
        "{} free, {} recorded", gigabytes_text(static_cast<double>(found.disk.free_bytes)),
        gigabytes_text(static_cast<double>(found.disk.recorded_bytes)));
    return {bytes < static_cast<double>(recording.least_bytes) ? warning
            : bytes < bytes_wanted                             ? advice
                                                               : ok,
            seen};
}

Measured speed(const HostRecording& found, const RecordingNeed& recording) {
    const MeasuredWrites& writes = found.writes;
    if (writes.bytes_per_second == 0) {
        return {unknown, "not measured: " + writes.obstacle};
    }
    const std::string seen = fmt::format(
        "{}, measured with {} MiB", speed_text(writes.bytes_per_second), writes.bytes / mebibyte);
    if (!recording.bytes_per_second) {
        return {unknown, seen + "; the rate of the feed is unknown: doctor --rate N"};
    }
    const double wanted = *recording.bytes_per_second;
    return {writes.bytes_per_second < wanted                  ? warning
            : writes.bytes_per_second < burst_factor * wanted ? advice
                                                              : ok,
            seen};
}

}  // namespace

void judge_recording(const Host& host, const Need& need, Findings& findings) {
    for (const RecordingNeed& recording : need.recordings) {
        const auto feed = fmt::arg("feed", recording.feed);
        add_finding(findings, Check::record_folder, folder(host, recording), feed);
        const auto found = host.recordings.find(recording.folder);
        const auto judged = [&](auto&& judge_it) {
            return found == host.recordings.end() ? Measured{unknown, "not examined"}
                                                  : judge_it(found->second);
        };
        const double rate = recording.bytes_per_second.value_or(0);
        const double bytes_wanted =
            std::max(static_cast<double>(recording.least_bytes), rate * trading_day_s);
        add_finding(findings, Check::record_direct, judged(direct), feed);
        add_finding(findings, Check::record_cache, judged(cache), feed);
        add_finding(
            findings, Check::record_space,
            judged([&](const HostRecording& disk) { return space(disk, recording, bytes_wanted); }),
            feed,
            fmt::arg("wanted",
                     gigabytes_text(bytes_wanted) +
                         (rate == 0 ? " for two segments of each poller" : " for a trading day")));
        add_finding(findings, Check::record_speed,
                    judged([&](const HostRecording& disk) { return speed(disk, recording); }), feed,
                    fmt::arg("wanted", rate == 0 ? std::string{"more than the feed's rate"}
                                                 : speed_text(burst_factor * rate) + " or more"));
    }
}

}  // namespace pinstrike::actors::doctor
