// path: cold
//
// "The next N packets of line L", from the order to the last one: what a poller's tap brings
// (actors/poller/packet_tap.h), as lines of JSON.
#pragma once

#include "actors/appliance/appliance.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pinstrike::actors::admin {

/// Given out one at a time: a poller has one tap.
class PacketRequest {
  public:
    static constexpr std::uint32_t packets_max = 100'000;

    /// Orders them. Null, and why: no such line, captures are replayed.
    [[nodiscard]] static std::unique_ptr<PacketRequest> make(Appliance& appliance,
                                                             std::uint16_t line,
                                                             std::uint32_t packets,
                                                             std::string& complaint);

    /// What is still to come is not tapped any more.
    ~PacketRequest();

    PacketRequest(const PacketRequest&) = delete;
    PacketRequest& operator=(const PacketRequest&) = delete;

    /// Adds a line of JSON for each packet that has come: {"ts_ns": 1, "port": "nic-a",
    /// "length_bytes": 60, "frame": "01005e..."}; behind the last {"packets": 10, "skipped": 0},
    /// those that came faster than they could be copied. False: that was the last.
    bool step(std::string& out);

  private:
    PacketRequest(Appliance& appliance, std::size_t poller, std::uint16_t order,
                  std::uint32_t packets);

    void add(const RecordView<TappedPacket>& packet, std::string& out) const;

    Appliance& appliance_;
    std::size_t poller_;
    std::uint16_t order_;
    std::uint32_t wanted_;
    std::uint32_t got_ = 0;
    std::uint64_t skipped_before_;
};

}  // namespace pinstrike::actors::admin
