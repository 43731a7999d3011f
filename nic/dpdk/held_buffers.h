// path: hot
#pragma once

#include "nic/dpdk/library.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace pinstrike::nic::dpdk {

/// The buffers of the packets that a port has handed out and not yet given back: of bursts that are
/// kept, oldest first, then of the last burst, side by side. Of one thread; allocates when it is
/// made.
class HeldBuffers {
  public:
    /// Bursts of at most `burst` packets, behind at most `kept` that are kept.
    HeldBuffers(rte_mempool* pool, std::size_t burst, std::size_t kept)
        : pool_(pool), burst_(burst), held_(kept == 0 ? burst : 2 * (kept + burst)) {}

    /// Where the next burst goes, behind end_burst(); add() says how much of one came, if any did.
    [[nodiscard]] rte_mbuf** room() noexcept { return held_.data() + end_; }

    void add(std::size_t packets) noexcept {
        last_ = end_;
        end_ += packets;
    }

    [[nodiscard]] std::span<rte_mbuf* const> last_burst() const noexcept {
        return {held_.data() + last_, end_ - last_};
    }

    /// Some of the last burst are no single segment of the pool that nobody else holds.
    void note_odd() noexcept { odd_end_ = end_; }

    // Giving back: `cache` is that of this thread, or null.

    void give_back_last(rte_mempool_cache* cache) noexcept {
        put(last_, end_, cache);
        end_ = last_;
    }

    /// Of those that are kept, and no more.
    void give_back_oldest(std::size_t packets, rte_mempool_cache* cache) noexcept {
        put(begin_, begin_ + packets, cache);
        begin_ += packets;
    }

    void give_back_all(rte_mempool_cache* cache) noexcept {
        put(begin_, end_, cache);
        begin_ = end_;
    }

    /// The last burst was kept or given back: there is none, and room for the next.
    void end_burst() noexcept {
        if (begin_ == end_) {
            begin_ = end_ = odd_end_ = 0;
        } else if (held_.size() - end_ < burst_) [[unlikely]] {  // once in many bursts
            std::copy(&held_[begin_], held_.data() + end_, held_.data());
            odd_end_ -= std::min(odd_end_, begin_);
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
        if (begin >= odd_end_) [[likely]] {
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
    std::size_t odd_end_ = 0;  ///< up to here some are odd
};

}  // namespace pinstrike::nic::dpdk
