// path: hot
#include "actors/poller/packet_recorder.h"

#include <array>
#include <cstring>

namespace pinstrike::actors {

namespace {

constexpr std::uint32_t enhanced_packet_block = 6;
constexpr std::size_t block_header_bytes = 28;

}  // namespace

PacketRecorder::~PacketRecorder() = default;

void PacketRecorder::record(std::span<const nic::Packet> packets,
                            std::span<const std::uint32_t> interfaces) noexcept {
    for (std::size_t i = 0; i < packets.size(); ++i) {
        RecordFilter::Mark mark;
        if (!filter_.wants(packets[i], interfaces[i], mark)) {
            filtered_.add();
        } else if (record(packets[i], interfaces[i])) {
            recorded_.add();
            filter_.note_recorded(mark);
        } else {
            not_recorded_.add();
        }
    }
}

inline bool PacketRecorder::record(const nic::Packet& packet, std::uint32_t interface) noexcept {
    const std::size_t padded_bytes = (packet.length_bytes + 3) & ~std::size_t{3};
    const std::size_t block_bytes = block_header_bytes + padded_bytes + sizeof(std::uint32_t);
    if (block_bytes > static_cast<std::size_t>(end_ - next_) && !next_chunk(packet, block_bytes))
        [[unlikely]] {
        return false;
    }
    const auto ts_ns = static_cast<std::uint64_t>(packet.ts_receive_ns);
    const std::array<std::uint32_t, block_header_bytes / 4> header{
        enhanced_packet_block,
        static_cast<std::uint32_t>(block_bytes),
        interface,
        static_cast<std::uint32_t>(ts_ns >> 32),
        static_cast<std::uint32_t>(ts_ns),
        packet.length_bytes,
        packet.length_bytes};
    std::memcpy(next_, header.data(), block_header_bytes);
    // The last word before the trailer first, because the packet may not fill it.
    constexpr std::uint32_t zeros = 0;
    std::memcpy(next_ + block_bytes - 2 * sizeof zeros, &zeros, sizeof zeros);
    std::memcpy(next_ + block_header_bytes, packet.bytes, packet.length_bytes);
    std::memcpy(next_ + block_bytes - sizeof header[1], &header[1], sizeof header[1]);
    next_ += block_bytes;
    ++open_.packets;
    return true;
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
