// path: cold
//
// A NIC's receive queue at the end of a link: bounded, and what it has no room for is missed. The
// bytes it hands out are overwritten when it is asked again, as a device's buffers are.
#pragma once

#include "config/check.h"
#include "nic/port.h"
#include "tests/sim/witness.h"

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
    bool checks = true;  ///< says whether checksums are right
    bool stamps = false;
};

class LinkPort final : public nic::Port {
  public:
    LinkPort(std::string name, const LinkPortOptions& options, Witness& witness)
        : Port(std::move(name)), options_(options), witness_(witness) {}

    /// `stamp_ns`: by the clock that the program sees.
    void arrive(const Flight& flight, std::int64_t stamp_ns) {
        if (queue_.size() >= options_.queue_packets) {
            ++missed_;
        } else {
            queue_.push_back({&flight, stamp_ns});
        }
    }

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        for (std::size_t i = 0; i < lent_; ++i) {
            std::ranges::fill(buffers_[i], std::byte{0xDD});
        }
        buffers_.resize(std::max(buffers_.size(), burst.size()));
        std::size_t filled = 0;
        for (; filled < burst.size() && !queue_.empty(); ++filled) {
            const auto [flight, stamp_ns] = queue_.front();
            queue_.pop_front();
            buffers_[filled] = flight->frame;
            nic::Packet& packet = burst[filled];
            packet = {};
            packet.bytes = buffers_[filled].data();
            packet.length_bytes = static_cast<std::uint32_t>(flight->frame.size());
            if (options_.checks && flight->whole) {
                packet.udp_checksum = packet.ip_checksum = nic::Checksum::good;
            }
            packet.ts_receive_ns = options_.stamps ? stamp_ns : now_ns;
            witness_.hand(*flight);
        }
        lent_ = filled;
        if (filled == burst.size()) {
            witness_.fall_behind();
        }
        count_burst(burst.first(filled), burst.size());
        return filled;
    }

    void housekeep(std::int64_t /*now_ns*/) override { witness_.housekeep(); }

    [[nodiscard]] nic::DeviceStatistics statistics() const override {
        return {missed_, std::nullopt, std::nullopt, true};
    }

    [[nodiscard]] bool empty() const { return queue_.empty(); }

    [[nodiscard]] std::uint64_t missed() const { return missed_; }

  private:
    LinkPortOptions options_;
    Witness& witness_;
    std::deque<std::pair<const Flight*, std::int64_t>> queue_;
    std::vector<std::vector<std::byte>> buffers_;
    std::size_t lent_ = 0;  ///< of these, handed out last
    std::uint64_t missed_ = 0;
};

}  // namespace pinstrike::sim
