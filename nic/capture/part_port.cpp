// path: cold
//
// This file is cold although it has a receive(), for the reason in pcap_port.cpp.
#include "nic/capture/part_port.h"

#include "config/check.h"
#include "nic/capture/frame_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace pinstrike::nic {

PartPort::PartPort(std::string name, const CapturePart& part, Pace pace, std::size_t burst_packets,
                   GroupFilter filter, std::shared_ptr<ReplayStart> start)
    : Port(std::move(name)),
      part_(part),
      pace_(pace),
      filter_(std::move(filter)),
      start_(std::move(start)),
      burst_packets_(burst_packets),
      buffer_(new std::byte[burst_packets * replayed_slot_bytes_max]) {
    PINSTRIKE_CHECK(burst_packets > 0);
}

std::unique_ptr<PartPort> PartPort::open(std::string name, const CapturePart& part, Pace pace,
                                         std::size_t burst_packets, Problems& problems,
                                         GroupFilter filter, std::shared_ptr<ReplayStart> start) {
    std::unique_ptr<PartPort> port{new PartPort{std::move(name), part, pace, burst_packets,
                                                std::move(filter), std::move(start)}};
    port->frames_ = part.frames->open(problems);
    if (port->frames_ == nullptr) {
        return nullptr;
    }
    port->advance();
    port->start_number_ =
        port->start_->add_port(port->has_head_ ? std::max(port->head_.ts_ns, part.from_ns)
                                               : std::numeric_limits<std::int64_t>::max());
    if (part.gate) {
        port->gate_number_ = part.gate->add_port();
    }
    return port;
}

/// Reads up to the next frame of this queue, if there is one.
void PartPort::advance() {
    do {
        has_head_ = frames_->next(head_);
    } while (has_head_ && !filter_.selects(head_));
    if (!has_head_) {
        ended_ = !frames_->waits_from();
        unread_.set(frames_->unread().size());
    }
}

/// The time of the earliest frame that is not delivered yet.
std::int64_t PartPort::next_ns() const {
    return has_head_ ? head_.ts_ns : frames_->waits_from().value_or(ReplayGate::never_ns);
}

bool PartPort::is_due(std::int64_t now_ns) {
    return head_.ts_ns < part_.from_ns ||
           start_->ask(start_number_, head_.ts_ns, now_ns, pace_).due;
}

std::size_t PartPort::receive(std::span<Packet> burst, std::int64_t now_ns) {
    const std::size_t wanted = std::min(burst.size(), burst_packets_);
    ReplayGate* const gate = part_.gate.get();
    std::size_t count = 0;
    std::size_t used_bytes = 0;
    if (!has_head_ && !ended_) {
        advance();
    }
    while (count < wanted && has_head_ && (gate == nullptr || gate->passes(head_.ts_ns)) &&
           is_due(now_ns)) {
        burst[count++] = copy_of(head_, buffer_.get(), used_bytes);
        advance();
    }
    if (gate != nullptr && count == 0) {
        gate->hold(gate_number_, next_ns());
    }
    if (ended_) {
        start_->end(start_number_);
    }
    count_burst(burst.first(count), wanted);
    return count;
}

DeviceStatistics PartPort::statistics() const {
    DeviceStatistics statistics;
    statistics.errors = unread_.read();
    return statistics;
}

std::vector<std::string> PartPort::remarks() const {
    std::vector<std::string> remarks = unread();
    for (std::string& sentence : frames_->missing()) {
        remarks.push_back(std::move(sentence));
    }
    return remarks;
}

std::vector<std::string> PartPort::unread() const {
    constexpr std::size_t reports_max = 8;
    std::vector<std::string> reported = frames_->unread();
    if (reported.size() > reports_max) {
        const std::size_t more = reported.size() - reports_max;
        reported.resize(reports_max);
        reported.push_back(fmt::format("likewise {} more", more));
    }
    return reported;
}

}  // namespace pinstrike::nic
