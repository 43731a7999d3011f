// path: hot
//
// The tap of a poller: copies the next packets of one line for another thread. While no tap is
// active, it costs one compare for each burst.
//
// An order is one word, so the poller reads all of it or nothing. A relaxed load is enough, because
// the word guards no other data. Copied packets go through a ring (ring.h explains the memory
// orders). Each record has the number of its order, so that the reader can discard records of an
// order that was cancelled. The poller never waits: if the ring is full, a packet is skipped and
// counted.
#pragma once

#include "actors/threads/record_ring.h"
#include "actors/threads/ring.h"
#include "config/counter.h"
#include "nic/packet/datagram.h"
#include "nic/packet/packet.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace pinstrike::actors {

/// The record in front of a frame's bytes (record_ring.h).
struct alignas(32) TappedPacket {
    std::int64_t ts_receive_ns = 0;
    std::uint32_t bytes = 0;         ///< bytes copied
    std::uint32_t length_bytes = 0;  ///< bytes of the whole frame
    std::uint16_t order = 0;
    std::uint16_t port = 0;  ///< index of the port within the poller

    /// Longer frames are cut. No market data network has longer ones.
    static constexpr std::size_t bytes_max = nic::ethernet_header_bytes +
                                             nic::vlan_tags_max * nic::tag_bytes_max +
                                             nic::jumbo_packet_bytes;

    [[nodiscard]] std::size_t bytes_behind() const { return bytes; }
};

static_assert(sizeof(TappedPacket) == 32 && std::is_trivially_copyable_v<TappedPacket>);

/// Which packets to copy, and how many.
struct TapOrder {
    std::uint16_t number = 0;  ///< differs from the number of the order before
    std::uint16_t line = 0;    ///< index of the line within the poller
    std::uint32_t packets = 0;

    [[nodiscard]] std::uint64_t word() const {
        return std::uint64_t{number} << 48 | std::uint64_t{line} << 32 | packets;
    }

    [[nodiscard]] static TapOrder of(std::uint64_t word) {
        return {static_cast<std::uint16_t>(word >> 48), static_cast<std::uint16_t>(word >> 32),
                static_cast<std::uint32_t>(word)};
    }
};

/// The poll thread's side, with the word through which another thread places an order.
class PacketTap {
  public:
    /// Enough for some 350 of the largest blocks between two reads of the ring.
    static constexpr std::size_t slots = 16'384;

    explicit PacketTap(Producer<TappedPacket> ring) : ring_(std::move(ring)) {}

    /// Called once for each burst: whether there are packets to copy.
    [[nodiscard]] bool wants() noexcept {
        const std::uint64_t word = order_word_.load(std::memory_order_relaxed);
        if (word != seen_word_) [[unlikely]] {
            seen_word_ = word;
            order_ = TapOrder::of(word);
        }
        return order_.packets != 0;
    }

    [[nodiscard]] std::uint16_t line() const noexcept { return order_.line; }

    void copy(const nic::Packet& packet, std::size_t port) noexcept {
        const std::size_t bytes =
            std::min<std::size_t>(packet.length_bytes, TappedPacket::bytes_max);
        TappedPacket* record =
            order_.packets == 0 ? nullptr : claim_record(ring_, std::span{packet.bytes, bytes});
        if (record == nullptr) {
            skipped_.add(order_.packets == 0 ? 0 : 1);
            return;
        }
        order_.packets -= 1;
        *record = {packet.ts_receive_ns, static_cast<std::uint32_t>(bytes), packet.length_bytes,
                   order_.number, static_cast<std::uint16_t>(port)};
    }

    void publish() noexcept { ring_.publish(); }

    // Called by the thread that places orders.

    void order(const TapOrder& order) noexcept {
        order_word_.store(order.word(), std::memory_order_relaxed);
    }

    /// Packets of all orders that were skipped because the ring was full.
    [[nodiscard]] const Counter& skipped() const noexcept { return skipped_; }

  private:
    std::atomic<std::uint64_t> order_word_{0};
    std::uint64_t seen_word_ = 0;
    TapOrder order_;  ///< `packets`: still to be copied
    Producer<TappedPacket> ring_;
    Counter skipped_;
};

}  // namespace pinstrike::actors
