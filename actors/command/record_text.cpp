// path: cold
#include "actors/command/record_text.h"

#include "actors/telemetry/log/log.h"
#include "config/joined.h"
#include "config/units.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace pinstrike::command {

namespace {

using Json = nlohmann::ordered_json;

using actors::time_text;

bool has_packets(const SegmentFindings& segment) {
    return segment.first_ts_ns <= segment.last_ts_ns;
}

/// The sum of a figure of all segments.
std::uint64_t sum(const RecordingFindings& findings, std::uint64_t SegmentFindings::*figure) {
    std::uint64_t total = 0;
    for (const SegmentFindings& segment : findings.segments) {
        total += segment.*figure;
    }
    return total;
}

std::string file_name(const std::string& path) {
    return std::filesystem::path{path}.filename().string();
}

/// Empty if there is no snapshot.
std::string snapshots_text(const std::vector<SnapshotFindings>& snapshots) {
    if (snapshots.empty()) {
        return {};
    }
    std::string text = fmt::format("{:<24} {:<24} {:>14} {:>12} {:>12} {}\n", "begun", "trade date",
                                   "bytes", "records", "", "snapshot");
    for (const SnapshotFindings& snapshot : snapshots) {
        text += fmt::format(
            "{:<24} {:<24} {:>14} {:>12} {:>12} {}{}\n", time_text(snapshot.begin_ns),
            snapshot.trade_date, grouped(snapshot.bytes), grouped(snapshot.records), "",
            file_name(snapshot.path), snapshot.state == "whole" ? "" : " (" + snapshot.state + ")");
    }
    return text;
}

Json snapshots_json(const std::vector<SnapshotFindings>& snapshots) {
    Json rows = Json::array();
    for (const SnapshotFindings& snapshot : snapshots) {
        rows.push_back({{"snapshot", file_name(snapshot.path)},
                        {"state", snapshot.state},
                        {"begin_ns", snapshot.begin_ns},
                        {"trade_date", snapshot.trade_date},
                        {"bytes", snapshot.bytes},
                        {"records", snapshot.records}});
    }
    return rows;
}

}  // namespace

/// A restart comes once on each stream. The line restarts with the first of them, and the other
/// stream's blocks before its own restart are of the numbering before.
void LineNumbers::add(const feed::BlockNumbers& numbers, feed::Stream stream) {
    std::uint64_t& restarts = stream_restarts_[static_cast<std::size_t>(stream)];
    if (numbers.session != session_) {
        session_ = numbers.session;
        restart(numbers.first);
    }
    if (numbers.restarts) {
        if (++restarts > restarts_) {
            restarts_ = restarts;
            restart(numbers.first);
        }
        return;
    }
    if (next_ == 0) {
        next_ = numbers.first;
        restarts = restarts_;
    }
    if (restarts < restarts_) {
        return;
    }
    if (numbers.first > next_) {
        missing_.emplace(next_, numbers.first - 1);
    }
    remove(numbers.first, numbers.last);
    next_ = std::max(next_, numbers.last + 1);
}

void LineNumbers::add_repaired(const feed::BlockNumbers& numbers) {
    if (numbers.session == session_ && !numbers.restarts) {
        remove(numbers.first, numbers.last);
    }
}

std::uint64_t LineNumbers::missing() const {
    std::uint64_t messages = closed_missing_;
    for (const auto& [first, last] : missing_) {
        messages += last - first + 1;
    }
    return messages;
}

void LineNumbers::remove(std::uint64_t first, std::uint64_t last) {
    auto range = missing_.upper_bound(last);
    while (range != missing_.begin()) {
        range = std::prev(range);
        const auto [begin, end] = *range;
        if (end < first) {
            return;
        }
        missing_.erase(range);
        if (end > last) {
            missing_.emplace(last + 1, end);
        }
        if (begin < first) {
            missing_.emplace(begin, first - 1);
            return;
        }
        range = missing_.lower_bound(begin);  // behind it is nothing to remove
    }
}

void LineNumbers::restart(std::uint64_t first) {
    closed_missing_ = missing();
    closed_gaps_ = gaps();
    missing_.clear();
    next_ = first;
}

void RecordingFindings::add(SegmentFindings segment, const feed::SegmentIndex& index,
                            const std::vector<feed::RecordedInterface>& interfaces) {
    segment.chunks = index.chunks.size();
    for (const feed::ChunkRecord& chunk : index.chunks) {
        segment.packets += chunk.packets;
        segment.not_recorded += chunk.not_recorded;
        segment.first_ts_ns = std::min(segment.first_ts_ns, chunk.first_ts_ns);
        segment.last_ts_ns = std::max(segment.last_ts_ns, chunk.last_ts_ns);
        for (const feed::ChunkLine& line : chunk.lines) {
            if (line.interface >= interfaces.size() || interfaces[line.interface].line == 0) {
                packets_of_no_line += line.packets;
                continue;
            }
            const feed::RecordedInterface& interface = interfaces[line.interface];
            LineFindings& found = lines[interface.line];
            (interface.repaired ? found.repaired
                                : found.packets[static_cast<std::size_t>(interface.stream)]) +=
                line.packets;
        }
    }
    segments.push_back(std::move(segment));
}

std::string segments_text(const RecordingFindings& findings) {
    std::string text = fmt::format("{:<24} {:<24} {:>14} {:>12} {:>12} {}\n", "from", "to", "bytes",
                                   "packets", "not recorded", "segment");
    for (const SegmentFindings& segment : findings.segments) {
        text += fmt::format("{:<24} {:<24} {:>14} {:>12} {:>12} {}{}\n",
                            has_packets(segment) ? time_text(segment.first_ts_ns) : "-",
                            has_packets(segment) ? time_text(segment.last_ts_ns) : "-",
                            grouped(segment.bytes), grouped(segment.packets),
                            grouped(segment.not_recorded), file_name(segment.path),
                            segment.state == "whole" ? "" : " (" + segment.state + ")");
    }
    return text + snapshots_text(findings.snapshots);
}

std::string sums_text(const RecordingFindings& findings, bool numbers) {
    std::set<std::string> days;
    for (const SegmentFindings& segment : findings.segments) {
        if (has_packets(segment)) {
            days.insert(time_text(segment.first_ts_ns).substr(0, 10));
            days.insert(time_text(segment.last_ts_ns).substr(0, 10));
        }
    }
    std::string text = fmt::format(
        "days (UTC) {}; snapshots {}; segments {}, bytes {} (uncompressed {}), chunks {}, packets "
        "{} (of no line {}), not recorded {}, damaged bytes {}\n",
        joined(std::vector<std::string>{days.begin(), days.end()}), findings.snapshots.size(),
        findings.segments.size(), grouped(sum(findings, &SegmentFindings::bytes)),
        grouped(sum(findings, &SegmentFindings::uncompressed_bytes)),
        grouped(sum(findings, &SegmentFindings::chunks)),
        grouped(sum(findings, &SegmentFindings::packets)), grouped(findings.packets_of_no_line),
        grouped(sum(findings, &SegmentFindings::not_recorded)),
        grouped(sum(findings, &SegmentFindings::damaged_bytes)));
    text += fmt::format("{:<6} {:>14} {:>14} {:>10}{}\n", "line", "packets A", "packets B",
                        "repaired", numbers ? fmt::format(" {:>8} {:>12}", "gaps", "missing") : "");
    for (const auto& [line, found] : findings.lines) {
        text += fmt::format("{:<6} {:>14} {:>14} {:>10}{}\n", line, grouped(found.packets[0]),
                            grouped(found.packets[1]), grouped(found.repaired),
                            numbers ? fmt::format(" {:>8} {:>12}", grouped(found.numbers.gaps()),
                                                  grouped(found.numbers.missing()))
                                    : "");
    }
    return text;
}

std::string findings_json(const RecordingFindings& findings, bool numbers) {
    Json segments = Json::array();
    for (const SegmentFindings& segment : findings.segments) {
        segments.push_back(
            {{"segment", file_name(segment.path)},
             {"poller", segment.poller},
             {"state", segment.state},
             {"first_ts_ns", has_packets(segment) ? Json(segment.first_ts_ns) : Json()},
             {"last_ts_ns", has_packets(segment) ? Json(segment.last_ts_ns) : Json()},
             {"bytes", segment.bytes},
             {"uncompressed_bytes", segment.uncompressed_bytes},
             {"chunks", segment.chunks},
             {"packets", segment.packets},
             {"not_recorded", segment.not_recorded},
             {"damaged_bytes", segment.damaged_bytes}});
    }
    Json lines = Json::array();
    for (const auto& [line, found] : findings.lines) {
        Json row{{"line", line},
                 {"packets", {{"A", found.packets[0]}, {"B", found.packets[1]}}},
                 {"repaired", found.repaired}};
        if (numbers) {
            row["gaps"] = found.numbers.gaps();
            row["missing"] = found.numbers.missing();
        }
        lines.push_back(std::move(row));
    }
    const Json out{{"bytes", sum(findings, &SegmentFindings::bytes)},
                   {"uncompressed_bytes", sum(findings, &SegmentFindings::uncompressed_bytes)},
                   {"packets", sum(findings, &SegmentFindings::packets)},
                   {"packets_of_no_line", findings.packets_of_no_line},
                   {"not_recorded", sum(findings, &SegmentFindings::not_recorded)},
                   {"damaged_bytes", sum(findings, &SegmentFindings::damaged_bytes)},
                   {"segments", std::move(segments)},
                   {"snapshots", snapshots_json(findings.snapshots)},
                   {"lines", std::move(lines)}};
    return out.dump(2) + "\n";
}

}  // namespace pinstrike::command
