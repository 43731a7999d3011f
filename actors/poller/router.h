// path: hot
//
// The last step of the poll thread: which core gets a message, and its place in that core's ring.
// A Router is the sink of a poller's decoder, which writes events straight into the rings.
//
// A claim never fails. With WhenFull::wait (replays) it waits for the core. With WhenFull::refuse
// (live) a message that finds no room is written to a place apart, noted when it is complete, and
// forgotten: the core gets a gap event for it (ring_gaps.h). So the decoder needs no branch for a
// full ring. The price: a claimed event must be complete, header included, before the next call.
//
// What is told to all cores (controls, gaps, line states) must not be lost to a full ring. Data
// leaves the last 1/16 of a ring free for it; if that is used up too, it is owed, merged, bounded.
// What is owed of a line is told before any later control or gap of that line, since a control may
// restart the numbering. It is told when another 1/16 has become free, so that a ring that wavers
// about full gets one gap for many refused messages, and at the latest at the next settle()
// (housekeeping), so that steady overload is not silent.
//
// Order within a line and core is kept: every message of a line comes through one Router, into
// one ring. Nothing is visible to a core until publish(), once a burst: one release store, and at
// most one wake call, for each core that got something.
#pragma once

#include "actors/poller/ring_gaps.h"
#include "actors/poller/sharding.h"
#include "actors/poller/when_full.h"
#include "actors/threads/parking.h"
#include "actors/threads/ring.h"
#include "config/check.h"
#include "config/counter.h"
#include "config/mistake.h"
#include "feed/event/event.h"
#include "feed/event/series_key.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pinstrike::actors {

/// Of one ring, in messages: routed = pushed + refused, each counted where it happens. Broadcasts
/// are in none of them.
struct RingCounters {
    Counter routed;
    Counter pushed;
    Counter refused;
    Counter broadcast;       ///< controls, gaps and line states written to the ring
    Counter repairs_untold;  ///< repairs that were not told, for want of room
    Counter waits;           ///< times the poller waited for room (WhenFull::wait)
};

struct RouterConfig {
    Sharding sharding = Sharding::series;
    WhenFull when_full = WhenFull::refuse;
    std::size_t lines_max = 0;  ///< that the poller ever has
};

class Router {
  public:
    /// `bells[i]` wakes the core of `rings[i]`; null for a core that spins.
    Router(const RouterConfig& config, std::vector<Producer<feed::Event>> rings,
           const std::vector<Parking*>& bells);

    /// What follows is of line `line`, counted from 0 among the poller's.
    void begin(std::size_t line) noexcept {
        note_refused();
        line_ = line;
    }

    /// Room for a message of `records` records, at the core of its series.
    [[nodiscard]] feed::Event* claim(const feed::SeriesKey& series, std::size_t records) noexcept {
        return claim_from(lane_of(series), records);
    }

    /// At the core of an underlying: its value belongs to no series.
    [[nodiscard]] feed::Event* claim_symbol(std::uint64_t symbol_word,
                                            std::size_t records) noexcept {
        return claim_from(lane_of(symbol_word), records);
    }

    /// At one core for all messages of the line that name no series and no symbol (text).
    [[nodiscard]] feed::Event* claim_line(std::uint16_t line, std::size_t records) noexcept {
        return claim_from(lanes_[line % lanes_.size()], records);
    }

    /// Room for messages of a series or a symbol each, of `records` records in all, side by side,
    /// or nullptr where there is none: they are claimed one by one then. It is in the ring where
    /// there is one core only. Else it is a place apart, from which take() hands them to their
    /// cores: where a message goes is known late, by its series, and stores that wait for it would
    /// hold up what is decoded behind it.
    [[nodiscard, gnu::always_inline]] feed::Event* offer(std::size_t records) noexcept {
        note_refused();
        if (lanes_.size() == 1) {
            return lanes_[0].ring.offer(records, lanes_[0].closed);
        }
        return records <= apart_.size() ? apart_.data() : nullptr;
    }

    /// So much of what was offered last has been filled, all of it with messages of a series or a
    /// symbol each.
    [[gnu::always_inline]] void take(std::size_t messages, std::size_t records) noexcept {
        if (lanes_.size() != 1) {
            return hand_out(records);
        }
        Lane& lane = lanes_[0];
        lane.routed_count += messages;
        lane.ring.take(records);
        lane.pushed_count += messages;
    }

    /// One record to every core.
    void broadcast(const feed::Event& event) noexcept {
        note_refused();
        for (Lane& lane : lanes_) {
            tell(lane, event);
        }
    }

    /// Shows the cores what the burst brought.
    void publish() noexcept {
        note_refused();
        for (Lane& lane : lanes_) {
            if (lane.owing_count != 0) [[unlikely]] {
                settle(lane, lane.room_to_settle());
            }
            if (lane.ring.unpublished()) {
                lane.publish();
            }
        }
    }

    /// Tells what is owed wherever there is any room; for housekeeping, and at the end of input
    /// until it says that nothing is owed any more.
    bool settle() noexcept;

    [[nodiscard]] std::size_t rings_count() const noexcept { return lanes_.size(); }

    [[nodiscard]] std::size_t lines_max() const noexcept { return config_.lines_max; }

    [[nodiscard]] const RingCounters& counters(std::size_t ring) const {
        return *lanes_[ring].counters;
    }

    [[nodiscard]] const Counter& high_water(std::size_t ring) const {
        return lanes_[ring].ring.high_water();
    }

    /// Any thread (ring.h).
    void clear_high_water(std::size_t ring) const noexcept { lanes_[ring].ring.clear_high_water(); }

    /// Records of messages and broadcasts, as the ring's own position says.
    [[nodiscard]] std::uint64_t published(std::size_t ring) const {
        return lanes_[ring].ring.published();
    }

    [[nodiscard]] std::size_t capacity(std::size_t ring) const {
        return lanes_[ring].ring.capacity();
    }

  private:
    static constexpr std::size_t message_records_max = 255;
    static constexpr std::size_t offered_records_max = 512;  ///< two for each message of a block

    /// The way to one core.
    struct Lane {
        explicit Lane(Producer<feed::Event> half) : ring(std::move(half)) {}

        Producer<feed::Event> ring;
        Parking* bell = nullptr;
        std::size_t spare = 0;  ///< slots that data leaves free, when nothing is owed
        /// Likewise now. More than there are while something is owed: no data goes before a control
        /// or a gap that the core has yet to be told of.
        std::size_t closed = 0;
        std::uint64_t routed_count = 0;
        std::uint64_t pushed_count = 0;
        std::uint64_t refused_count = 0;
        std::unique_ptr<RingCounters> counters;
        std::vector<LineDebt> debts;       ///< by line
        std::vector<std::uint32_t> owing;  ///< lines with a debt, `owing_count` of them
        std::size_t owing_count = 0;

        /// Much, so that a full ring is not told of message by message.
        [[nodiscard]] std::size_t room_to_settle() const noexcept { return 2 * spare; }

        void publish() noexcept {
            ring.publish();
            count();
            if (bell != nullptr) {
                bell->wake();
            }
        }

        void count() noexcept {
            counters->routed.set(routed_count);
            counters->refused.set(refused_count);
            counters->pushed.set(pushed_count);
        }
    };

    [[nodiscard]] Lane& lane_of(const feed::SeriesKey& series) noexcept {
        if (lanes_.size() == 1) {
            return lanes_[0];
        }
        return lanes_[core_of(series, config_.sharding, lanes_.size())];
    }

    [[nodiscard]] Lane& lane_of(std::uint64_t symbol_word) noexcept {
        return lanes_[core_of(feed::hash_symbol(symbol_word), lanes_.size())];
    }

    /// Of a message that was offered room.
    [[nodiscard]] Lane& lane_of(const feed::Event& event) noexcept {
        if (event.header.kind == feed::EventKind::underlying) [[unlikely]] {
            return lane_of(event.body.underlying.symbol);
        }
        return lane_of(event.body.series);
    }

    [[nodiscard]] feed::Event* claim_from(Lane& lane, std::size_t records) noexcept {
        note_refused();
        ++lane.routed_count;
        feed::Event* slots = lane.ring.claim(records, lane.closed);
        if (slots == nullptr) [[unlikely]] {
            return claim_when_full(lane, records);
        }
        ++lane.pushed_count;
        return slots;
    }

    /// Each message of those apart to the core of its series.
    [[gnu::noinline]] void hand_out(std::size_t records) noexcept {
        const feed::Event* event = apart_.data();
        const feed::Event* const end = event + records;
        while (event != end) {
            const std::size_t count = event->header.records;
            feed::Event* const slots = claim_from(lane_of(*event), count);
            for (std::size_t i = 0; i < count; ++i) {
                slots[i] = event[i];
            }
            event += count;
        }
    }

    /// The message refused last is complete now: its numbers can be read.
    void note_refused() noexcept {
        if (refused_by_ != nullptr) [[unlikely]] {
            Lane& lane = *refused_by_;
            refused_by_ = nullptr;
            if (!planted(Mistake::ring)) {
                debt(lane).refuse(refused_[0].header);
            }
        }
    }

    [[nodiscard]] feed::Event* claim_when_full(Lane& lane, std::size_t records) noexcept;
    void wait_for_room(Lane& lane, std::size_t records) noexcept;
    void tell(Lane& lane, const feed::Event& event) noexcept;
    [[nodiscard]] LineDebt& debt(Lane& lane) noexcept;
    static bool settle_line(Lane& lane, std::size_t line) noexcept;
    static void settle(Lane& lane, std::size_t room) noexcept;

    RouterConfig config_;
    std::vector<Lane> lanes_;
    std::size_t line_ = 0;
    Lane* refused_by_ = nullptr;        ///< whose message `refused_` holds, not yet noted
    std::vector<feed::Event> refused_;  ///< where a refused message is written
    std::vector<feed::Event> apart_;  ///< what several cores are offered, a block's quotes at most
};

}  // namespace pinstrike::actors
