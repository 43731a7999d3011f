// path: cold
//
// This file is cold although it has a receive(), because reading files takes system calls anyway,
// and a replay loses no packet while it waits for the disk.
#include "nic/capture/pcap_port.h"

#include "config/check.h"
#include "nic/capture/frame_copy.h"
#include "nic/capture/merged_captures.h"
#include "nic/capture/read_ahead.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

namespace pinstrike::nic {

namespace {

std::string leap_text(const std::string& path, std::uint64_t record, std::int64_t size_ns) {
    constexpr double hour_ns = 3600e9;
    const double hours = static_cast<double>(size_ns) / hour_ns;
    return fmt::format("{}: the time of record {} leaps {} by {:.1f} hours, which were skipped",
                       path, record, hours < 0 ? "back" : "ahead", std::abs(hours));
}

}  // namespace

PcapPort::PcapPort(std::string name, std::unique_ptr<FrameStream> frames, CapturePart part,
                   Pace pace, std::size_t burst_packets, std::shared_ptr<ReplayStart> start)
    : Port(std::move(name)),
      frames_(std::move(frames)),
      part_(std::move(part)),
      pace_(pace),
      start_(std::move(start)),
      burst_packets_(burst_packets) {
    PINSTRIKE_CHECK(burst_packets > 0);
    if (!frames_->follows_writer()) {
        frames_ = std::make_unique<ReadAhead>(std::move(frames_));
    }
    if (!frames_->keeps_frames()) {
        buffer_.reset(new std::byte[burst_packets * replayed_slot_bytes_max]);
    }
    advance();
    start_number_ = start_->add_port(has_head_ ? std::max(head_.ts_ns, part_.from_ns)
                                               : std::numeric_limits<std::int64_t>::max());
    if (part_.gate) {
        gate_number_ = part_.gate->add_port();
    }
}

std::unique_ptr<PcapPort> PcapPort::open(std::string name, std::span<const std::string> files,
                                         Pace pace, std::size_t burst_packets, Problems& problems,
                                         GroupFilter filter, std::shared_ptr<ReplayStart> start) {
    return open(std::move(name), MergedCaptures::open(files, std::move(filter), problems), {}, pace,
                burst_packets, problems, std::move(start));
}

std::unique_ptr<PcapPort> PcapPort::open(std::string name, std::unique_ptr<FrameStream> frames,
                                         const CapturePart& part, Pace pace,
                                         std::size_t burst_packets, Problems& problems,
                                         std::shared_ptr<ReplayStart> start) {
    if (frames == nullptr) {
        return nullptr;
    }
    try {
        return std::unique_ptr<PcapPort>{
            new PcapPort{name, std::move(frames), part, pace, burst_packets, std::move(start)}};
    } catch (const std::system_error& error) {
        add_problem(problems, name, fmt::format("no thread to read captures: {}", error.what()),
                    remedy_of(error.code().value()));
        return nullptr;
    }
}

void PcapPort::advance() {
    has_head_ = frames_->next(head_);
    ended_ = !has_head_ && !frames_->waits_from();
}

/// The time of the earliest frame that is not delivered yet.
std::int64_t PcapPort::next_ns() const {
    return has_head_ ? head_.ts_ns : frames_->waits_from().value_or(ReplayGate::never_ns);
}

bool PcapPort::is_due(std::int64_t now_ns) {
    if (head_.ts_ns < part_.from_ns) {
        return true;
    }
    const auto [due, leap_ns] = start_->ask(start_number_, head_.ts_ns, now_ns, pace_);
    if (leap_ns != 0 && leaps_count_++ < leaps_reported_max) {
        leaps_[leaps_count_ - 1] = {head_.file, head_.record, leap_ns};
    }
    return due;
}

std::size_t PcapPort::receive(std::span<Packet> burst, std::int64_t now_ns) {
    const std::size_t wanted = std::min(burst.size(), burst_packets_);
    ReplayGate* const gate = part_.gate.get();
    std::size_t count = 0;
    std::size_t used_bytes = 0;
    if (!has_head_ && !ended_) {
        advance();
    }
    while (count < wanted && has_head_ && (gate == nullptr || gate->passes(head_.ts_ns)) &&
           is_due(now_ns)) {
        burst[count++] =
            packet_of(frames_->keeps_frames() ? head_ : copy_of(head_, buffer_.get(), used_bytes));
        advance();
    }
    unread_.set(frames_->unread_count());
    if (gate != nullptr && count == 0) {
        gate->hold(gate_number_, next_ns());
    }
    if (ended_) {
        start_->end(start_number_);
    }
    count_burst(burst.first(count), wanted);
    return count;
}

DeviceStatistics PcapPort::statistics() const {
    DeviceStatistics statistics;
    statistics.errors = unread_.read();
    return statistics;
}

std::vector<std::string> PcapPort::unread() const {
    constexpr std::size_t reports_max = 8;
    std::vector<std::string> reported = frames_->unread();
    if (reported.size() > reports_max) {
        const std::size_t more = reported.size() - reports_max;
        reported.resize(reports_max);
        reported.push_back(fmt::format("likewise {} more", more));
    }
    return reported;
}

std::vector<std::string> PcapPort::remarks() const {
    std::vector<std::string> remarks = unread();
    for (std::string& sentence : frames_->missing()) {
        remarks.push_back(std::move(sentence));
    }
    const std::uint64_t reported = std::min<std::uint64_t>(leaps_count_, leaps_reported_max);
    for (const Leap& leap : std::span(leaps_).first(reported)) {
        remarks.push_back(leap_text(frames_->path_of(leap.file), leap.record, leap.size_ns));
    }
    if (leaps_count_ > reported) {
        remarks.push_back(fmt::format("{} more leaps in the times of records were skipped",
                                      leaps_count_ - reported));
    }
    return remarks;
}

}  // namespace pinstrike::nic
