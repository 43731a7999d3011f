// path: cold
//
// A NIC's receive queue at the end of a link: bounded, and packets that do not fit count as missed.
// Buffers are overwritten once they are given back, as a device's buffers are: at the next
// receive(), or later if the port keeps packets.
#pragma once

#include "config/check.h"
#include "nic/port.h"
#include "tests/sim/packet_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::sim {

struct LinkPortOptions {
    std::size_t queue_packets = 4096;
    bool checks = true;  ///< checks checksums
    bool stamps = false;
    bool keeps = false;
};

class LinkPort final : public nic::Port {
  public:
    LinkPort(std::string name, const LinkPortOptions& options, ReceiveLog& receive_log)
        : Port(std::move(name)), options_(options), receive_log_(receive_log) {}

    /// `stamp_ns`: the time by the clock that the program sees.
    void arrive(const Flight& flight, std::int64_t stamp_ns) {
        if (queue_.size() >= options_.queue_packets) {
            ++missed_;
        } else {
            queue_.push_back({&flight, stamp_ns});
        }
    }

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        give_back();
        std::size_t filled = 0;
        for (; filled < burst.size() && !queue_.empty(); ++filled) {
            const auto [flight, stamp_ns] = queue_.front();
            queue_.pop_front();
            nic::Packet& packet = burst[filled];
            packet = {};
            packet.bytes = hold(flight->frame);
            packet.length_bytes = static_cast<std::uint32_t>(flight->frame.size());
            if (options_.checks && flight->whole) {
                packet.udp_checksum = packet.ip_checksum = nic::Checksum::good;
            }
            packet.ts_receive_ns = options_.stamps ? stamp_ns : now_ns;
            receive_log_.add(*flight);
        }
        last_burst_ = filled;
        if (filled == burst.size()) {
            receive_log_.note_full_burst();
        }
        count_burst(burst.first(filled), burst.size());
        return filled;
    }

    [[nodiscard]] bool keeps() const override { return options_.keeps; }

    void housekeep(std::int64_t /*now_ns*/) override { receive_log_.housekeep(); }

    [[nodiscard]] nic::DeviceStatistics statistics() const override {
        return {missed_, std::nullopt, std::nullopt, true};
    }

    [[nodiscard]] bool empty() const { return queue_.empty(); }

    [[nodiscard]] std::uint64_t missed() const { return missed_; }

  private:
    using Buffer = std::vector<std::byte>;

    const std::byte* hold(const Buffer& frame) {
        if (spare_.empty()) {
            spare_.emplace_back();
        }
        held_.push_back(std::move(spare_.front()));
        spare_.pop_front();
        held_.back() = frame;
        return held_.back().data();
    }

    void give_back() {
        PINSTRIKE_CHECK(options_.keeps || (!keeps_burst_ && given_back_ == 0));
        if (!std::exchange(keeps_burst_, false)) {
            for (; last_burst_ != 0; --last_burst_) {
                overwrite(std::move(held_.back()));
                held_.pop_back();
            }
        }
        PINSTRIKE_CHECK(given_back_ <= held_.size());
        for (; given_back_ != 0; --given_back_) {
            overwrite(std::move(held_.front()));
            held_.pop_front();
        }
        PINSTRIKE_CHECK(held_.size() <= nic::kept_packets_max);
    }

    /// Destroys the content, so that a read after the release is noticed.
    void overwrite(Buffer buffer) {
        std::ranges::fill(buffer, std::byte{0xDD});
        spare_.push_back(std::move(buffer));
    }

    LinkPortOptions options_;
    ReceiveLog& receive_log_;
    std::deque<std::pair<const Flight*, std::int64_t>> queue_;
    std::deque<Buffer> held_;     ///< buffers in use: the kept ones, then those of the last burst
    std::deque<Buffer> spare_;    ///< free buffers, in the order of their return
    std::size_t last_burst_ = 0;  ///< packets
    std::uint64_t missed_ = 0;
};

}  // namespace pinstrike::sim
