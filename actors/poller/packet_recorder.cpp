// path: hot
#include "actors/poller/packet_recorder.h"

#include <cstring>

namespace pinstrike::actors {

namespace {

constexpr std::uint32_t enhanced_packet_block = 6;
constexpr std::size_t block_header_bytes = 28;

std::size_t block_bytes_of(const nic::Packet& packet) noexcept {
    const std::size_t padded_bytes = (packet.length_bytes + 3) & ~std::size_t{3};
    return block_header_bytes + padded_bytes + sizeof(std::uint32_t);
}

void write_block(std::byte* at, std::size_t block_bytes, const nic::Packet& packet,
                 std::uint32_t interface) noexcept {
    const auto put = [at](std::size_t offset, std::uint32_t value) {
        std::memcpy(at + offset, &value, sizeof value);
    };
    const auto ts_ns = static_cast<std::uint64_t>(packet.ts_receive_ns);
    const auto bytes = static_cast<std::uint32_t>(block_bytes);
    put(0, enhanced_packet_block);
    put(4, bytes);
    put(8, interface);
    put(12, static_cast<std::uint32_t>(ts_ns >> 32));
    put(16, static_cast<std::uint32_t>(ts_ns));
    put(20, packet.length_bytes);
    put(24, packet.length_bytes);
    // The last word before the trailer first, because the packet may not fill it.
    put(block_bytes - 8, 0);
    std::memcpy(at + block_header_bytes, packet.bytes, packet.length_bytes);
    put(block_bytes - 4, bytes);
}

}  // namespace

PacketRecorder::~PacketRecorder() = default;

/// Local variables hold the place and the count during a burst, because the bytes of a packet may
/// alias members, so the compiler would store members after each packet.
void PacketRecorder::record(std::span<const nic::Packet> packets,
                            std::span<const std::uint32_t> interfaces) noexcept {
    std::byte* next = next_;
    std::byte* end = end_;
    std::uint32_t recorded = 0;
    const bool wants_all = filter_.wants_all();
    const auto store_back = [&] {
        next_ = next;
        open_.packets += recorded;
        recorded_.add(recorded);
        recorded = 0;
    };
    for (std::size_t i = 0; i < packets.size(); ++i) {
        const nic::Packet& packet = packets[i];
        RecordFilter::Mark mark;
        if (!wants_all && !filter_.wants(packet, interfaces[i], mark)) {
            filtered_.add();
            continue;
        }
        const std::size_t block_bytes = block_bytes_of(packet);
        if (block_bytes > static_cast<std::size_t>(end - next)) [[unlikely]] {
            store_back();
            const bool fits = next_chunk(packet, block_bytes);
            next = next_;
            end = end_;
            if (!fits) {
                not_recorded_.add();
                continue;
            }
        }
        write_block(next, block_bytes, packet, interfaces[i]);
        next += block_bytes;
        ++recorded;
        filter_.note_recorded(mark);
    }
    store_back();
}

void PacketRecorder::record_repair(std::uint32_t line, std::uint16_t number,
                                   std::span<const std::byte> block, std::int64_t ts_ns) noexcept {
    const auto published =
        repairs_.published_line == nullptr ? std::nullopt : repairs_.published_line(number);
    if (!published) {
        return not_recorded_.add();
    }
    nic::UdpRoute route;
    route.source = repairs_.source;
    route.destination = published->retransmission[0];
    route.source_port = route.destination.port;
    std::byte* const payload = repair_frame_.data() + nic::udp_headers_bytes(0);
    std::memcpy(payload, block.data(), block.size());
    nic::write_udp_headers(repair_frame_.data(), route, block.size(), nic::UdpChecksumSent::none);
    nic::Packet packet;
    packet.bytes = repair_frame_.data();
    packet.length_bytes = static_cast<std::uint32_t>(nic::udp_headers_bytes(0) + block.size());
    packet.ts_receive_ns = ts_ns;
    const std::uint32_t interface = interface_of_repairs(line);
    record({&packet, 1}, {&interface, 1});
}

void PacketRecorder::close_if_old(std::int64_t now_ns) noexcept {
    if (open_.packets != 0 && now_ns - open_.first_ts_ns >= oldest_ns) {
        close();
    }
}

void PacketRecorder::close() noexcept {
    if (open_.packets == 0) {
        return;
    }
    open_.used_bytes = static_cast<std::uint32_t>(next_ - open_.bytes);
    static_cast<void>(filled_.try_push({&open_, 1}));
    open_ = {};
    next_ = end_ = nullptr;
}

bool PacketRecorder::next_chunk(const nic::Packet& packet, std::size_t block_bytes) noexcept {
    close();
    const auto returned = free_.peek(free_chunks_.size());
    for (const FreeChunk& chunk : returned) {
        free_chunks_[free_count_++] = chunk.bytes;
    }
    free_.release(returned.size());
    if (free_count_ == 0 || block_bytes > nic::chunk_bytes_max - nic::space_before_packets_bytes -
                                              nic::space_behind_packets_bytes) {
        return false;
    }
    const std::uint64_t not_recorded = not_recorded_.read();
    const std::uint64_t filtered = filtered_.read();
    open_ = {free_chunks_[free_count_ - 1],
             0,
             0,
             packet.ts_receive_ns,
             recorded_.read() + not_recorded + filtered,
             filtered,
             not_recorded,
             not_recorded - std::exchange(stated_, not_recorded)};
    next_ = open_.bytes + nic::space_before_packets_bytes;
    end_ = open_.bytes + nic::chunk_bytes_max - nic::space_behind_packets_bytes;
    --free_count_;
    return true;
}

}  // namespace pinstrike::actors
