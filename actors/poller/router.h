// path: hot
//
// The last step of the poll thread: selects the core for a message and brings the message into that
// core's ring. The decoder reaches it through Poller::LineEvents. On the fast path, the decoder
// writes the events of a block into slots that the router reserves before, which with one core are
// in its ring. Any other message is pushed.
//
// With WhenFull::wait (replays), the router waits for a core whose ring is full. With
// WhenFull::refuse (live), it refuses the message, counts it, and writes a gap event for it as soon
// as the ring has space (pending_events.h). The decoder does not know.
//
// Events for all cores (controls, gaps, line states) must not be lost to a full ring. Data leaves
// the last 1/16 of a ring free for them. If that is used up too, they become pending and are
// merged, in bounded memory. Pending events of a line are written before any later control or gap
// of that line, because a control may restart the numbering.
//
// publish() writes pending events when 2/16 of the ring are free, so that a ring whose level varies
// around full gets one gap for many refused messages. flush_pending(), which housekeeping calls,
// writes them when 1/32 is free, so that a core learns of steady overload too.
//
// The order within a line and core is kept, because every message of a line goes through one Router
// into one ring. A core sees nothing until publish(), which is called once for each step of the
// poller: one release store, and at most one wake call, for each core that got events.
#pragma once

#include "actors/poller/pending_events.h"
#include "actors/poller/sharding.h"
#include "actors/threads/parking.h"
#include "actors/threads/ring.h"
#include "actors/threads/when_full.h"
#include "config/counter.h"
#include "config/rows.h"
#include "feed/event/event.h"
#include "feed/event/limits.h"
#include "feed/event/series_key.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

// clang-format off
#define PINSTRIKE_RING_COUNTS(ROW) \
    ROW(routed, messages, "Messages routed to the core") \
    ROW(pushed, messages, "Messages written to the ring") \
    ROW(refused, messages, "Messages refused by the full ring: reported to the core as a gap") \
    ROW(broadcast, records, "Controls, gaps and line states written") \
    ROW(untold_repairs, repairs, "Repairs not reported because the ring was full") \
    ROW(waits, waits, "Times that the poller waited for free slots (replays)")
// clang-format on

PINSTRIKE_ROWS(RingCount, PINSTRIKE_RING_COUNTS)

/// Counters of one ring: routed = pushed + refused. None of the three is computed from the others.
/// None of the three includes broadcasts.
using RingCounters = Counters<RingCount, RingCount_count>;

struct RouterConfig {
    Sharding sharding = Sharding::series;
    WhenFull when_full = WhenFull::refuse;
    std::size_t lines_max = 0;  ///< the most that the poller can ever have
};

class Router {
  public:
    /// `wakers[i]` wakes the core of `rings[i]`; null if that core spins.
    Router(const RouterConfig& config, std::vector<Producer<feed::Event>> rings,
           const std::vector<Parking*>& wakers);

    /// Selects the line of the calls that follow, by its index within the poller.
    void begin(std::size_t line) noexcept { line_ = line; }

    /// Returns `records` contiguous slots in all, for messages that each have a series or a symbol.
    /// It claims none of them: commit() does, and publish() shows them to the core.
    /// nullptr: there is no space, and the caller pushes message by message. With one core the
    /// slots are in its ring. With several cores they are in a buffer, from which commit() copies
    /// the messages to the rings. The decoder could not write into the rings at once: the ring
    /// depends on the series, which is known late, and stores to an address not yet known would
    /// delay the loads behind them.
    [[nodiscard, gnu::always_inline]] feed::Event* next_slots(std::size_t records) noexcept {
        if (outputs_.size() == 1) {
            return outputs_[0].ring.next_slots(records, outputs_[0].closed);
        }
        return records <= multi_core_buffer_.size() ? multi_core_buffer_.data() : nullptr;
    }

    /// The first `records` slots that next_slots() returned have been filled with `messages`
    /// messages.
    [[gnu::always_inline]] void commit(std::size_t messages, std::size_t records) noexcept {
        if (outputs_.size() != 1) {
            return push_all(records);
        }
        CoreOutput& output = outputs_[0];
        output.routed_count += messages;
        output.ring.commit(records);
        output.pushed_count += messages;
    }

    /// Copies a message, whose records are `message`, into the ring of its core.
    void push(std::span<const feed::Event> message) noexcept {
        CoreOutput& output = output_for(message.front());
        ++output.routed_count;
        feed::Event* const slots = output.ring.claim(message.size(), output.closed);
        if (slots == nullptr) [[unlikely]] {
            return push_when_full(output, message);
        }
        output.write(slots, message);
    }

    /// Writes one record to the ring of every core.
    void broadcast(const feed::Event& event) noexcept {
        for (CoreOutput& output : outputs_) {
            deliver(output, event);
        }
    }

    /// Makes the events of the step visible to the cores.
    void publish() noexcept {
        for (CoreOutput& output : outputs_) {
            if (output.pending_lines_count != 0) [[unlikely]] {
                flush_pending(output, output.room_to_flush());
            }
            output.publish();
        }
    }

    /// Writes pending events if the rings have space for them. Called by housekeeping, and at the
    /// end of input until it returns true: no events are pending.
    bool flush_pending() noexcept;

    [[nodiscard]] std::size_t rings_count() const noexcept { return outputs_.size(); }

    [[nodiscard]] std::size_t lines_max() const noexcept { return config_.lines_max; }

    [[nodiscard]] const RingCounters& counters(std::size_t ring) const {
        return *outputs_[ring].counters;
    }

    [[nodiscard]] const Counter& high_water(std::size_t ring) const {
        return outputs_[ring].ring.high_water();
    }

    /// Any thread may call it (ring.h).
    void clear_high_water(std::size_t ring) const noexcept {
        outputs_[ring].ring.clear_high_water();
    }

    /// Records of messages and broadcasts, from the ring's own position.
    [[nodiscard]] std::uint64_t published(std::size_t ring) const {
        return outputs_[ring].ring.published();
    }

    /// Whether the core has processed all that was published. Any thread (ring.h).
    [[nodiscard]] bool is_empty(std::size_t ring) const { return outputs_[ring].ring.is_empty(); }

    [[nodiscard]] std::size_t capacity(std::size_t ring) const {
        return outputs_[ring].ring.capacity();
    }

  private:
    static constexpr std::size_t batch_records_max = 2 * feed::block_messages_max;

    /// The output to one core.
    struct CoreOutput {
        explicit CoreOutput(Producer<feed::Event> half) : ring(std::move(half)) {}

        Producer<feed::Event> ring;
        Parking* waker = nullptr;
        std::size_t spare = 0;  ///< slots that data leaves free while no events are pending
        /// Slots that data must leave free now. More than the capacity while events are pending, so
        /// that no data precedes a control or a gap that the core has yet to get.
        std::size_t closed = 0;
        std::uint64_t routed_count = 0;
        std::uint64_t pushed_count = 0;
        std::uint64_t refused_count = 0;
        std::unique_ptr<RingCounters> counters;
        std::vector<PendingEvents> pending;        ///< pending events, by line
        std::vector<std::uint32_t> pending_lines;  ///< the lines with pending events; the first
                                                   ///< `pending_lines_count` are valid
        std::size_t pending_lines_count = 0;

        /// A large number, so that a ring that stays full does not get a gap event for each
        /// message.
        [[nodiscard]] std::size_t room_to_flush() const noexcept { return 2 * spare; }

        void write(feed::Event* slots, std::span<const feed::Event> message) noexcept {
            ++pushed_count;
            for (const feed::Event& record : message) {
                *slots++ = record;
            }
        }

        /// The producer has filled the ring's slots up to `end` with `messages` messages.
        void commit_to(const feed::Event* end, std::uint64_t messages) noexcept {
            routed_count += messages;
            ring.commit_to(end);
            pushed_count += messages;
        }

        void publish() noexcept {
            if (ring.publish()) {
                count();
                if (waker != nullptr) {
                    waker->wake();
                }
            }
        }

        void count() noexcept {
            counters->at(RingCount::routed).set(routed_count);
            counters->at(RingCount::refused).set(refused_count);
            counters->at(RingCount::pushed).set(pushed_count);
        }
    };

    /// The core of a series or an underlying; for a text, the core that gets all texts of its line.
    [[nodiscard]] static std::size_t core_index(const feed::Event& event, Sharding sharding,
                                                std::size_t cores) noexcept {
        if (event.header.kind == feed::EventKind::underlying) [[unlikely]] {
            return core_of(feed::hash_symbol(event.body.underlying.symbol), cores);
        }
        if (event.header.kind == feed::EventKind::text) [[unlikely]] {
            return event.header.line % cores;
        }
        return core_of(event.body.series, sharding, cores);
    }

    [[nodiscard]] CoreOutput& output_for(const feed::Event& event) noexcept {
        const std::size_t cores = outputs_.size();
        return outputs_[cores == 1 ? 0 : core_index(event, config_.sharding, cores)];
    }

    /// Where the next message of a core goes, while the buffer is copied.
    struct CopyPlace {
        feed::Event* slot;
        std::uint64_t messages;
    };

    void push_all(std::size_t records) noexcept;
    [[nodiscard]] bool all_have_room(std::size_t records) noexcept;
    void copy_all(const feed::Event* event, const feed::Event* end) noexcept;
    void push_when_full(CoreOutput& output, std::span<const feed::Event> message) noexcept;
    void wait_for_room(CoreOutput& output, std::size_t records) noexcept;
    void deliver(CoreOutput& output, const feed::Event& event) noexcept;
    [[nodiscard]] PendingEvents& pending_of(CoreOutput& output) noexcept;
    static bool flush_line(CoreOutput& output, std::size_t line) noexcept;
    static void flush_pending(CoreOutput& output, std::size_t room) noexcept;

    RouterConfig config_;
    std::vector<CoreOutput> outputs_;
    std::size_t line_ = 0;
    std::vector<feed::Event> multi_core_buffer_;  ///< slots of next_slots(), unless one core
    std::vector<CopyPlace> places_;               ///< by core, if there are several
};

}  // namespace pinstrike::actors
