// path: hot
//
// The latest messages of a core, by series. While the book takes state from a peer, the messages
// after the place that a series' state covers are applied to it again.
//
// The journal is a ring that overwrites its oldest message. The messages of each hash bucket of
// series are chained from the oldest to the newest. The message that is overwritten is always the
// first of its chain, so a chain never leads to an overwritten message. Nothing is allocated after
// construction.
#pragma once

#include "actors/publish/pages.h"
#include "config/check.h"
#include "feed/event/event.h"
#include "feed/event/series_key.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinstrike::actors {

class Journal {
  public:
    /// About 130 ms at a million messages per second and core; 20 MiB.
    static constexpr std::size_t capacity_default = 1 << 17;

    Journal() = default;

    /// `capacity`: messages, a power of two.
    explicit Journal(std::size_t capacity)
        : items_(capacity), chains_(capacity), next_(capacity), capacity_(capacity) {
        PINSTRIKE_CHECK(std::has_single_bit(capacity));
    }

    void prefault() {
        items_.prefault();
        chains_.prefault();
        next_.prefault();
    }

    /// Number of messages ever written, which is the place of the next one.
    [[nodiscard]] std::uint64_t end() const { return end_; }

    /// Writes a message of a series, which has one record or two. If it overwrites another message,
    /// it first calls `forgotten(header, place)` for that one.
    template <class Forgotten>
    void put(const feed::Event& event, Forgotten&& forgotten) {
        if (end_ - begin_ == capacity_) {
            forgotten(item(begin_).event.header, begin_);
            drop_oldest();
        }
        Item& written = item(end_);
        std::memcpy(static_cast<void*>(&written), static_cast<const void*>(&event),
                    event.header.records > 1 ? sizeof written : sizeof written.event);
        Chain& chain = chain_of(event.body.series);
        if (chain.count == 0) {
            chain.first = end_;
        } else {
            next_[chain.last & (capacity_ - 1)] = end_;
        }
        chain.last = end_;
        ++chain.count;
        ++end_;
    }

    /// Calls visit(event, place) for every message of the series in the journal, oldest first.
    template <class Visit>
    void for_each(const feed::SeriesKey& series, Visit&& visit) const {
        const Chain& chain = chain_of(series);
        std::uint64_t at = chain.first;
        for (std::uint32_t left = chain.count; left != 0; --left) {
            const Item& found = item(at);
            if (found.event.body.series == series) {
                visit(found.event, at);
            }
            at = next_[at & (capacity_ - 1)];
        }
    }

    [[nodiscard]] static std::size_t bytes_for(std::size_t capacity) {
        return capacity * (sizeof(Item) + sizeof(Chain) + sizeof(std::uint64_t));
    }

  private:
    struct Item {
        feed::Event event;
        feed::Event rest;  ///< the second record, if there is one
    };

    struct Chain {
        std::uint64_t first;
        std::uint64_t last;
        std::uint32_t count;
    };

    [[nodiscard]] Item& item(std::uint64_t place) const { return items_[place & (capacity_ - 1)]; }

    [[nodiscard]] Chain& chain_of(const feed::SeriesKey& series) const {
        return chains_[feed::hash(series) & (capacity_ - 1)];
    }

    void drop_oldest() {
        Chain& chain = chain_of(item(begin_).event.body.series);
        chain.first = next_[begin_ & (capacity_ - 1)];
        --chain.count;
        ++begin_;
    }

    PageArray<Item> items_;
    PageArray<Chain> chains_;
    PageArray<std::uint64_t> next_;
    std::size_t capacity_ = 0;
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace pinstrike::actors
