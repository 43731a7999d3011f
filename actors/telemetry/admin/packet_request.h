// path: cold
//
// Handles the request for the next N packets of a line, from the order to the last packet. Returns
// the packets of a poller's tap (actors/poller/packet_tap.h) as lines of JSON.
#pragma once

#include "actors/appliance/appliance.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pinstrike::actors::admin {

/// Only one can exist at a time, because a poller has one tap.
class PacketRequest {
  public:
    static constexpr std::uint32_t packets_max = 100'000;

    /// Orders the packets. Null, with the reason: there is no such line, or captures are replayed.
    [[nodiscard]] static std::unique_ptr<PacketRequest> make(Appliance& appliance,
                                                             std::uint16_t line,
                                                             std::uint32_t packets,
                                                             std::string& complaint);

    /// Cancels the rest of the order.
    ~PacketRequest();

    PacketRequest(const PacketRequest&) = delete;
    PacketRequest& operator=(const PacketRequest&) = delete;

    /// Adds a line of JSON for each packet that arrived: {"ts_ns": 1, "port": "nic-a",
    /// "length_bytes": 60, "frame": "01005e..."}. After the last one it adds {"packets": 10,
    /// "skipped": 0}, where skipped packets came faster than they could be copied. False: that was
    /// the last line.
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
