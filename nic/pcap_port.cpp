// path: cold
//
// Cold as a whole though it has a receive(): reading files is system calls, and a replay waits for
// its disk rather than loses.
#include "nic/pcap_port.h"

#include "config/check.h"
#include "nic/datagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace pinstrike::nic {

namespace {

/// The longest frame that holds something: a full IPv4 packet behind all its tags. What a capture
/// holds beyond it is left out.
constexpr std::size_t frame_bytes_max =
    ethernet_header_bytes + vlan_tags_max * tag_bytes_max + 0xFFFF;
constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t slot_bytes_max =
    (frame_bytes_max + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;

std::string leap_text(const std::string& path, std::uint64_t record, std::int64_t size_ns) {
    constexpr double hour_ns = 3600e9;
    const double hours = static_cast<double>(size_ns) / hour_ns;
    return fmt::format("{}: the time of record {} leaps {} by {:.1f} hours, which were passed over",
                       path, record, hours < 0 ? "back" : "ahead", std::abs(hours));
}

}  // namespace

bool GroupFilter::takes(const Packet& packet) const {
    if (groups.empty()) {
        return !takes_listed;
    }
    Datagram datagram;
    const bool listed =
        parse_udp(packet, ChecksumCheck::off, datagram) == not_dropped &&
        std::binary_search(groups.begin(), groups.end(), Group{{datagram.group_ip}, datagram.port});
    return listed == takes_listed;
}

std::size_t ReplayStart::reckon_with(std::int64_t first_ts_ns) {
    ts_ns_ = std::min(ts_ns_, first_ts_ns);
    next_ts_ns_.emplace_back(first_ts_ns);
    return next_ts_ns_.size() - 1;
}

/// Wall time of the start, which is now if nobody asked before.
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

/// The leap that was passed over, if no port has a frame before this one. A moment later than it
/// was seen: by then what came before it has reached its actors, and nothing is taken for late.
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
    // One of several ports whose next frames have the same time.
    if (seen_ns == not_yet || now_ns - seen_ns < moment_ns ||
        !leap_seen_ns_.compare_exchange_strong(seen_ns, not_yet, std::memory_order_relaxed)) {
        return 0;
    }
    passed_over_ns_.fetch_add(ahead_ns, std::memory_order_relaxed);
    return ahead_ns;
}

PcapPort::PcapPort(std::string name, std::vector<CaptureReader> readers, Pace pace,
                   std::size_t burst_packets, GroupFilter filter,
                   std::shared_ptr<ReplayStart> start)
    : Port(std::move(name)),
      pace_(pace),
      start_(std::move(start)),
      filter_(std::move(filter)),
      burst_packets_(burst_packets),
      // Pages that no burst reaches are never touched, so the worst case costs addresses only.
      buffer_(new std::byte[burst_packets * slot_bytes_max]) {
    PINSTRIKE_CHECK(burst_packets > 0);
    for (CaptureReader& reader : readers) {
        sources_.push_back({std::move(reader), std::nullopt, 0, {}});
    }
    for (Source& source : sources_) {
        advance(source);
    }
    if (const Source* first = earliest()) {
        start_number_ = start_->reckon_with(first->head->ts_ns);
    }
}

void PcapPort::advance(Source& source) {
    CapturedFrame frame;
    while (source.reader.next(frame)) {
        ++source.record;
        frame.bytes = source.tunnel.inside(frame.bytes);
        const auto length = std::min(frame.bytes.size(), frame_bytes_max);
        frame.bytes = frame.bytes.first(length);
        Packet packet;
        packet.bytes = frame.bytes.data();
        packet.length_bytes = static_cast<std::uint32_t>(length);
        if (filter_.takes(packet)) {
            source.head = frame;
            return;
        }
    }
    source.head.reset();
    if (!source.reader.complaint().empty()) {
        cut_files_.add();
    }
}

PcapPort::Source* PcapPort::earliest() {
    Source* first = nullptr;
    for (Source& source : sources_) {
        if (source.head && (first == nullptr || source.head->ts_ns < first->head->ts_ns)) {
            first = &source;
        }
    }
    return first;
}

bool PcapPort::is_due(const Source& source, std::int64_t now_ns) {
    const auto [due, leap_ns] = start_->ask(start_number_, source.head->ts_ns, now_ns, pace_);
    if (leap_ns != 0 && leaps_count_++ < leaps_told_max) {
        leaps_[leaps_count_ - 1] = {&source, source.record, leap_ns};
    }
    return due;
}

Packet PcapPort::copy(const CapturedFrame& frame, std::size_t& used_bytes) {
    std::byte* slot = buffer_.get() + used_bytes;
    std::memcpy(slot, frame.bytes.data(), frame.bytes.size());
    used_bytes += (frame.bytes.size() + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;
    Packet packet;
    packet.bytes = slot;
    packet.length_bytes = static_cast<std::uint32_t>(frame.bytes.size());
    packet.ts_receive_ns = frame.ts_ns;
    return packet;
}

std::size_t PcapPort::receive(std::span<Packet> burst, std::int64_t now_ns) {
    const std::size_t wanted = std::min(burst.size(), burst_packets_);
    std::size_t count = 0;
    std::size_t used_bytes = 0;
    while (count < wanted) {
        Source* source = earliest();
        if (source == nullptr || !is_due(*source, now_ns)) {
            break;
        }
        burst[count] = copy(*source->head, used_bytes);
        ++count;
        advance(*source);
    }
    if (count != 0 && exhausted()) {
        start_->end(start_number_);
    }
    count_burst(burst.first(count), wanted);
    return count;
}

bool PcapPort::exhausted() const {
    return std::none_of(sources_.begin(), sources_.end(),
                        [](const Source& source) { return source.head.has_value(); });
}

DeviceStatistics PcapPort::statistics() const {
    DeviceStatistics statistics;
    statistics.errors = cut_files_.read();
    return statistics;
}

std::vector<std::string> PcapPort::remarks() const {
    std::vector<std::string> remarks;
    for (const Source& source : sources_) {
        if (!source.reader.complaint().empty()) {
            remarks.push_back(source.reader.complaint());
        }
    }
    const std::uint64_t told = std::min<std::uint64_t>(leaps_count_, leaps_told_max);
    for (const Leap& leap : std::span(leaps_).first(told)) {
        remarks.push_back(leap_text(leap.source->reader.path(), leap.record, leap.size_ns));
    }
    if (leaps_count_ > told) {
        remarks.push_back(fmt::format("{} more leaps in the times of records were passed over",
                                      leaps_count_ - told));
    }
    return remarks;
}

}  // namespace pinstrike::nic
