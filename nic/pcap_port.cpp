// path: cold
//
// Cold as a whole though it has a receive(): reading files is system calls, and a replay waits for
// its disk rather than loses.
#include "nic/pcap_port.h"

#include "config/check.h"
#include "nic/datagram.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pinstrike::nic {

namespace {

/// The longest frame that holds something: a full IPv4 packet behind all its tags. What a capture
/// holds beyond it is left out.
constexpr std::size_t frame_bytes_max =
    ethernet_header_bytes + vlan_tags_max * vlan_tag_bytes + 0xFFFF;
constexpr std::size_t cache_line_bytes = 64;
constexpr std::size_t slot_bytes_max =
    (frame_bytes_max + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes;

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

bool ReplayStart::is_due(std::int64_t ts_ns, std::int64_t now_ns, Pace pace) {
    if (pace.factor <= 0) {
        return true;
    }
    std::int64_t started_ns = started_ns_.load(std::memory_order_relaxed);
    if (started_ns == not_yet &&
        started_ns_.compare_exchange_strong(started_ns, now_ns, std::memory_order_relaxed)) {
        started_ns = now_ns;
    }
    return static_cast<double>(ts_ns - ts_ns_) <=
           static_cast<double>(now_ns - started_ns) * pace.factor;
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
        sources_.push_back({std::move(reader), std::nullopt});
    }
    for (Source& source : sources_) {
        advance(source);
    }
    if (const Source* first = earliest()) {
        start_->reckon_with(first->head->ts_ns);
    }
}

void PcapPort::advance(Source& source) {
    CapturedFrame frame;
    while (source.reader.next(frame)) {
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
        if (source == nullptr || !start_->is_due(source->head->ts_ns, now_ns, pace_)) {
            break;
        }
        burst[count] = copy(*source->head, used_bytes);
        ++count;
        advance(*source);
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
    return remarks;
}

}  // namespace pinstrike::nic
