// path: hot
#pragma once

#include "nic/dpdk/library.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace pinstrike::nic::dpdk {

/// The buffers of packets that a port has delivered and not yet returned to the pool. One array
/// contains the kept bursts, oldest first, then the last burst. Used by one thread; allocates in
/// the constructor only.
class HeldBuffers {
  public:
    /// Sized for bursts of at most `burst` packets, and for at most `kept` kept packets.
    HeldBuffers(rte_mempool* pool, std::size_t burst, std::size_t kept)
        : pool_(pool), burst_(burst), held_(kept == 0 ? burst : 2 * (kept + burst)) {}

    /// The place for the buffers of the next burst, after end_burst(). add() then sets the number
    /// of packets received.
    [[nodiscard]] rte_mbuf** room() noexcept { return held_.data() + end_; }

    void add(std::size_t packets) noexcept {
        last_ = end_;
        end_ += packets;
    }

    [[nodiscard]] std::span<rte_mbuf* const> last_burst() const noexcept {
        return {held_.data() + last_, end_ - last_};
    }

    /// Notes that some buffers of the last burst are not single segments of the pool with one
    /// reference; they need the slower rte_pktmbuf_free_bulk().
    void note_special() noexcept { special_end_ = end_; }

    // These functions return buffers to the pool. `cache` is this thread's cache, or null.

    void give_back_last(rte_mempool_cache* cache) noexcept {
        put(last_, end_, cache);
        end_ = last_;
    }

    /// `packets` must be at most the number of kept packets.
    void give_back_oldest(std::size_t packets, rte_mempool_cache* cache) noexcept {
        put(begin_, begin_ + packets, cache);
        begin_ += packets;
    }

    void give_back_all(rte_mempool_cache* cache) noexcept {
        put(begin_, end_, cache);
        begin_ = end_;
    }

    /// Call after the last burst was kept or given back. Moves the kept buffers to the front of the
    /// array if the next burst would not fit behind them.
    void end_burst() noexcept {
        if (begin_ == end_) {
            begin_ = end_ = special_end_ = 0;
        } else if (held_.size() - end_ < burst_) [[unlikely]] {  // once in many bursts
            std::copy(&held_[begin_], held_.data() + end_, held_.data());
            special_end_ -= std::min(special_end_, begin_);
            end_ -= begin_;
            begin_ = 0;
        }
        last_ = end_;
    }

  private:
    void put(std::size_t begin, std::size_t end, rte_mempool_cache* cache) noexcept {
        if (begin == end) {
            return;
        }
        const auto count = static_cast<unsigned>(end - begin);
        if (begin >= special_end_) [[likely]] {
            rte_mempool_generic_put(pool_, reinterpret_cast<void* const*>(&held_[begin]), count,
                                    cache);
        } else {
            rte_pktmbuf_free_bulk(&held_[begin], count);
        }
    }

    rte_mempool* pool_;
    std::size_t burst_;
    std::vector<rte_mbuf*> held_;
    std::size_t begin_ = 0;
    std::size_t last_ = 0;  ///< where the last burst begins
    std::size_t end_ = 0;
    std::size_t special_end_ = 0;  ///< buffers before this index may need rte_pktmbuf_free_bulk()
};

}  // namespace pinstrike::nic::dpdk
