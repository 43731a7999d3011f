// path: cold
//
// This file is cold although it has a receive(), because reading files takes system calls anyway,
// and a replay loses no packet while it waits for the disk.
#include "nic/capture/pcap_port.h"

#include "config/check.h"
#include "nic/capture/capture_files.h"
#include "nic/capture/cut_frame.h"
#include "nic/capture/frame_copy.h"
#include "nic/packet/datagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace pinstrike::nic {

namespace {

std::string leap_text(const std::string& path, std::uint64_t record, std::int64_t size_ns) {
    constexpr double hour_ns = 3600e9;
    const double hours = static_cast<double>(size_ns) / hour_ns;
    return fmt::format("{}: the time of record {} leaps {} by {:.1f} hours, which were skipped",
                       path, record, hours < 0 ? "back" : "ahead", std::abs(hours));
}

/// The number of files that stay open from the start. All later files are opened again when they
/// are due, and the process may have given up the rights for that by then. More open files would
/// cost memory and descriptors.
constexpr std::size_t files_kept_open = 64;

}  // namespace

bool GroupFilter::knows(const Group& group) const {
    return std::binary_search(own.begin(), own.end(), group) ||
           std::binary_search(others.begin(), others.end(), group);
}

bool GroupFilter::selects(const CapturedFrame& frame) const {
    if (others.empty() && takes_rest) {
        return true;
    }
    Packet packet;
    packet.bytes = frame.bytes.data();
    packet.length_bytes = static_cast<std::uint32_t>(frame.bytes.size());
    std::optional<Group> group = group_of_cut(frame);
    if (Datagram datagram; parse_udp(packet, ChecksumCheck::off, datagram) == not_dropped) {
        group = Group{{datagram.group_ip}, datagram.port};
    }
    if (!group) {
        return takes_rest;
    }
    return std::binary_search(own.begin(), own.end(), *group) ||
           (takes_rest && !std::binary_search(others.begin(), others.end(), *group));
}

std::size_t ReplayStart::add_port(std::int64_t first_ts_ns) {
    ts_ns_ = std::min(ts_ns_, first_ts_ns);
    next_ts_ns_.emplace_back(first_ts_ns);
    return next_ts_ns_.size() - 1;
}

/// Returns the wall time of the start; the first call sets it to `now_ns`.
std::int64_t ReplayStart::start(std::int64_t now_ns) {
    std::int64_t started_ns = not_yet;
    const bool first =
        started_ns_.compare_exchange_strong(started_ns, now_ns, std::memory_order_relaxed);
    return first ? now_ns : started_ns;
}

ReplayStart::Answer ReplayStart::ask(std::size_t port, std::int64_t ts_ns, std::int64_t now_ns,
                                     Pace pace) {
    if (pace.factor <= 0) {
        return {true};
    }
    const std::int64_t before_ts_ns = next_ts_ns_[port].exchange(ts_ns, std::memory_order_relaxed);
    const auto played_ns =
        static_cast<std::int64_t>(static_cast<double>(now_ns - start(now_ns)) * pace.factor);
    const std::int64_t ahead_ns = ts_ns - begin_ts_ns() - played_ns;
    const bool leaps_back = ts_ns < before_ts_ns - leap_ns && ahead_ns < -leap_ns;
    if (leaps_back) {
        passed_over_ns_.fetch_add(ahead_ns, std::memory_order_relaxed);
        return {true, ahead_ns};
    }
    if (ahead_ns <= leap_ns) {
        return {ahead_ns <= 0};
    }
    return {false, pass_over(ts_ns, ahead_ns, now_ns)};
}

/// Skips the leap and returns its size if no port has an earlier frame; otherwise returns 0. It
/// skips only when `moment_ns` has passed since the leap was first seen, so that earlier frames
/// have reached their actors and do not count as late.
std::int64_t ReplayStart::pass_over(std::int64_t ts_ns, std::int64_t ahead_ns,
                                    std::int64_t now_ns) {
    constexpr std::int64_t moment_ns = 100'000'000;
    for (const auto& next_ts_ns : next_ts_ns_) {
        if (next_ts_ns.load(std::memory_order_relaxed) < ts_ns) {
            return 0;
        }
    }
    std::int64_t seen_ns = not_yet;
    leap_seen_ns_.compare_exchange_strong(seen_ns, now_ns, std::memory_order_relaxed);
    // If the next frames of several ports have the same time, the exchange lets only one port skip.
    if (seen_ns == not_yet || now_ns - seen_ns < moment_ns ||
        !leap_seen_ns_.compare_exchange_strong(seen_ns, not_yet, std::memory_order_relaxed)) {
        return 0;
    }
    passed_over_ns_.fetch_add(ahead_ns, std::memory_order_relaxed);
    return ahead_ns;
}

PcapPort::PcapPort(std::string name, Pace pace, std::size_t burst_packets, GroupFilter filter,
                   std::shared_ptr<ReplayStart> start)
    : Port(std::move(name)),
      pace_(pace),
      start_(std::move(start)),
      filter_(std::move(filter)),
      burst_packets_(burst_packets),
      buffer_(new std::byte[burst_packets * replayed_slot_bytes_max]) {
    PINSTRIKE_CHECK(burst_packets > 0);
}

std::unique_ptr<PcapPort> PcapPort::open(std::string name, std::span<const std::string> files,
                                         Pace pace, std::size_t burst_packets, Problems& problems,
                                         GroupFilter filter, std::shared_ptr<ReplayStart> start) {
    Problems found;
    std::unique_ptr<PcapPort> port{
        new PcapPort{std::move(name), pace, burst_packets, std::move(filter), std::move(start)}};
    for (const std::string& file : capture_files(files, found)) {
        if (auto reader = CaptureReader::open(file, found)) {
            port->add(std::move(*reader));
        }
    }
    if (!found.empty()) {
        problems.insert(problems.end(), found.begin(), found.end());
        return nullptr;
    }
    if (!port->due_.empty()) {
        port->start_number_ = port->start_->add_port(port->due_.top().first);
    }
    return port;
}

/// Reads the first record, and closes the file if enough files are open already.
void PcapPort::add(CaptureReader reader) {
    const std::size_t index = sources_.size();
    Source& source = sources_.emplace_back();
    source.path = reader.path();
    source.reader = std::make_unique<CaptureReader>(std::move(reader));
    if (!source.reader->next(source.head)) {
        end(source);
        return;
    }
    source.record = 1;
    if (index >= files_kept_open && source.reader->can_open_again()) {
        source.reader.reset();
        due_.emplace(source.head.ts_ns, index);
    } else if (select_head(source)) {
        due_.emplace(source.head.ts_ns, index);
    } else {
        advance(index);
    }
}

void PcapPort::open_again(std::size_t index) {
    Source& source = sources_[index];
    Problems problems;
    auto reader = CaptureReader::open(source.path, problems);
    if (!reader) {
        source.complaint =
            fmt::format("{}: could be opened at the start, but not when its packets were due: {}",
                        source.path, problems.front().text);
        unread_files_.add();
        return;
    }
    source.reader = std::make_unique<CaptureReader>(std::move(*reader));
    source.record = 0;
    advance(index);
}

/// True if the frame just read, or the frame inside its tunnel, belongs to this queue. Such a frame
/// is counted if the snapshot length had cut it.
bool PcapPort::select_head(Source& source) {
    CapturedFrame& frame = source.head;
    frame.bytes = source.tunnel.inside(frame);
    if (!filter_.selects(frame)) {
        return false;
    }
    if (const auto group = group_of_cut(frame); group && filter_.knows(*group)) {
        ++source.cut_packets;
    }
    return true;
}

/// Reads up to the next frame of this queue, or to the end of the file.
void PcapPort::advance(std::size_t index) {
    Source& source = sources_[index];
    while (source.reader->next(source.head)) {
        ++source.record;
        if (select_head(source)) {
            due_.emplace(source.head.ts_ns, index);
            return;
        }
    }
    end(source);
}

void PcapPort::end(Source& source) {
    source.complaint = source.reader->complaint();
    if (!source.complaint.empty()) {
        unread_files_.add();
    }
    source.reader.reset();
}

bool PcapPort::is_due(const Due& next, std::int64_t now_ns) {
    const auto [due, leap_ns] = start_->ask(*start_number_, next.first, now_ns, pace_);
    if (leap_ns != 0 && leaps_count_++ < leaps_reported_max) {
        leaps_[leaps_count_ - 1] = {next.second, sources_[next.second].record, leap_ns};
    }
    return due;
}

std::size_t PcapPort::receive(std::span<Packet> burst, std::int64_t now_ns) {
    const std::size_t wanted = std::min(burst.size(), burst_packets_);
    std::size_t count = 0;
    std::size_t used_bytes = 0;
    while (count < wanted && !due_.empty()) {
        if (!is_due(due_.top(), now_ns)) {
            break;
        }
        const std::size_t index = due_.top().second;
        due_.pop();
        if (!sources_[index].reader) {
            open_again(index);
            continue;
        }
        burst[count] = copy_of(sources_[index].head, buffer_.get(), used_bytes);
        ++count;
        advance(index);
    }
    if (due_.empty() && start_number_) {
        start_->end(*start_number_);
    }
    count_burst(burst.first(count), wanted);
    return count;
}

DeviceStatistics PcapPort::statistics() const {
    DeviceStatistics statistics;
    statistics.errors = unread_files_.read();
    return statistics;
}

std::vector<std::string> PcapPort::unread() const {
    constexpr std::size_t reports_max = 8;
    std::vector<std::string> reported;
    for (const Source& source : sources_) {
        if (!source.complaint.empty()) {
            reported.push_back(source.complaint);
        }
        if (source.cut_packets != 0) {
            reported.push_back(
                fmt::format("{}: the snapshot length of the capture cut {} packets of "
                            "lines: these are lost",
                            source.path, source.cut_packets));
        }
    }
    if (reported.size() > reports_max) {
        const std::size_t more = reported.size() - reports_max;
        reported.resize(reports_max);
        reported.push_back(fmt::format("likewise {} more", more));
    }
    return reported;
}

std::vector<std::string> PcapPort::remarks() const {
    std::vector<std::string> remarks = unread();
    const std::uint64_t reported = std::min<std::uint64_t>(leaps_count_, leaps_reported_max);
    for (const Leap& leap : std::span(leaps_).first(reported)) {
        remarks.push_back(leap_text(sources_[leap.source].path, leap.record, leap.size_ns));
    }
    if (leaps_count_ > reported) {
        remarks.push_back(fmt::format("{} more leaps in the times of records were skipped",
                                      leaps_count_ - reported));
    }
    return remarks;
}

}  // namespace pinstrike::nic
