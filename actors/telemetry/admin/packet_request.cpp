// path: cold
#include "actors/telemetry/admin/packet_request.h"

#include <fmt/format.h>

#include <span>

namespace pinstrike::actors::admin {
namespace {

/// Control thread only. 0 is the number in a tap before its first order.
std::uint16_t next_order() {
    static std::uint16_t last = 0;
    last = static_cast<std::uint16_t>(last == 0xFFFF ? 1 : last + 1);
    return last;
}

std::string hex_of(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const std::byte each : bytes) {
        text += digits[std::to_integer<unsigned>(each) >> 4];
        text += digits[std::to_integer<unsigned>(each) & 15];
    }
    return text;
}

}  // namespace

std::unique_ptr<PacketRequest> PacketRequest::make(Appliance& appliance, std::uint16_t line,
                                                   std::uint32_t packets, std::string& complaint) {
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        PollerTask& poller = appliance.poller(i);
        for (std::size_t at = 0; at < poller.lines_count(); ++at) {
            if (poller.line(at).number != line) {
                continue;
            }
            if (poller.tap() == nullptr) {
                complaint = "this instance replays captures: copy the packets from those files";
                return nullptr;
            }
            std::unique_ptr<PacketRequest> made{
                new PacketRequest{appliance, i, next_order(), packets}};
            poller.tap()->order({made->order_, static_cast<std::uint16_t>(at), packets});
            return made;
        }
    }
    complaint = fmt::format("line {}: found no such line, expected one of this feed", line);
    return nullptr;
}

PacketRequest::PacketRequest(Appliance& appliance, std::size_t poller, std::uint16_t order,
                             std::uint32_t packets)
    : appliance_(appliance),
      poller_(poller),
      order_(order),
      wanted_(packets),
      skipped_before_(appliance.poller(poller).tap()->skipped().read()) {}

PacketRequest::~PacketRequest() {
    appliance_.poller(poller_).tap()->order({next_order(), 0, 0});
}

bool PacketRequest::step(std::string& out) {
    Consumer<TappedPacket>& ring = *appliance_.tapped(poller_);
    const std::span<const TappedPacket> waiting = ring.peek(PacketTap::slots);
    std::size_t at = 0;
    while (at < waiting.size() && got_ < wanted_) {
        const auto packet = first_record(waiting.subspan(at));
        if (packet.head.order == order_) {
            add(packet, out);
            got_ += 1;
        }
        at += packet.slots;
    }
    ring.release(at);
    if (got_ < wanted_) {
        return true;
    }
    out += fmt::format("{{\"packets\":{},\"skipped\":{}}}\n", got_,
                       appliance_.poller(poller_).tap()->skipped().read() - skipped_before_);
    return false;
}

void PacketRequest::add(const RecordView<TappedPacket>& packet, std::string& out) const {
    out += fmt::format("{{\"ts_ns\":{},\"port\":\"{}\",\"length_bytes\":{},\"frame\":\"{}\"}}\n",
                       packet.head.ts_receive_ns,
                       appliance_.poller(poller_).input(packet.head.port).port->name(),
                       packet.head.length_bytes, hex_of(packet.bytes));
}

}  // namespace pinstrike::actors::admin
