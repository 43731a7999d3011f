// path: hot
//
// The last step of the poll thread: selects the core for a message and gives the decoder space in
// that core's ring. A Router is the sink of a poller's decoder, which writes events straight into
// the rings.
//
// A claim never fails. With WhenFull::wait (replays) it waits for the core. With WhenFull::refuse
// (live) and a full ring, it returns a scratch buffer. The router counts the message as refused
// once the message is complete, and the core gets a gap event for it (pending_events.h). So the
// decoder needs no branch for a full ring. In return, a claimed event must be complete, header
// included, before the next call.
//
// Events for all cores (controls, gaps, line states) must not be lost to a full ring. Data leaves
// the last 1/16 of a ring free for them. If that is used up too, they become pending and are
// merged, in bounded memory. Pending events of a line are written before any later control or gap
// of that line, because a control may restart the numbering. They are written once another 1/16 is
// free, so that a ring whose level varies around full gets one gap for many refused messages. At
// the latest they are written at the next flush_pending() (housekeeping), so that a core learns of
// steady overload too.
//
// The order within a line and core is kept, because every message of a line goes through one Router
// into one ring. A core sees nothing until publish(), which is called once for each burst: one
// release store, and at most one wake call, for each core that got events.
#pragma once

#include "actors/poller/pending_events.h"
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

/// Counters of one ring, in messages: routed = pushed + refused. Each is counted on its own where
/// it happens. None of the three includes broadcasts.
struct RingCounters {
    Counter routed;
    Counter pushed;
    Counter refused;
    Counter broadcast;               ///< controls, gaps and line states written to the ring
    Counter repair_notices_dropped;  ///< gap events of cause `repaired` that were dropped because
                                     ///< the ring was full
    Counter waits;                   ///< times the poller waited for a full ring (WhenFull::wait)
};

struct RouterConfig {
    Sharding sharding = Sharding::series;
    WhenFull when_full = WhenFull::refuse;
    std::size_t lines_max = 0;  ///< the most that the poller can ever have
};

class Router {
  public:
    /// `core_wakers[i]` wakes the core of `rings[i]`; null if that core spins.
    Router(const RouterConfig& config, std::vector<Producer<feed::Event>> rings,
           const std::vector<Parking*>& core_wakers);

    /// Selects the line of the calls that follow, by its index within the poller.
    void begin(std::size_t line) noexcept {
        note_refused();
        line_ = line;
    }

    /// Returns `records` slots for a message in the ring of the core of its series.
    [[nodiscard]] feed::Event* claim(const feed::SeriesKey& series, std::size_t records) noexcept {
        return claim_from(output_for(series), records);
    }

    /// The same in the ring of the core of an underlying, whose value belongs to no series.
    [[nodiscard]] feed::Event* claim_symbol(std::uint64_t symbol_word,
                                            std::size_t records) noexcept {
        return claim_from(output_for(symbol_word), records);
    }

    /// The same in the ring of one core, for all messages of the line that have no series and no
    /// symbol (text).
    [[nodiscard]] feed::Event* claim_line(std::uint16_t line, std::size_t records) noexcept {
        return claim_from(outputs_[line % outputs_.size()], records);
    }

    /// Returns `records` contiguous slots in all, for messages that each have a series or a symbol.
    /// nullptr: there is no space, and the caller claims slots message by message. With one core
    /// the slots are in its ring. With several cores they are in a buffer, from which take() copies
    /// the messages to the rings. The decoder could not write into the rings at once: the ring
    /// depends on the series, which is known late, and stores to an address not yet known would
    /// delay the loads behind them.
    [[nodiscard, gnu::always_inline]] feed::Event* offer(std::size_t records) noexcept {
        note_refused();
        if (outputs_.size() == 1) {
            return outputs_[0].ring.offer(records, outputs_[0].closed);
        }
        return records <= apart_.size() ? apart_.data() : nullptr;
    }

    /// The first `records` slots that offer() returned have been filled with `messages` messages.
    [[gnu::always_inline]] void take(std::size_t messages, std::size_t records) noexcept {
        if (outputs_.size() != 1) {
            return hand_out(records);
        }
        CoreOutput& output = outputs_[0];
        output.routed_count += messages;
        output.ring.take(records);
        output.pushed_count += messages;
    }

    /// Writes one record to the ring of every core.
    void broadcast(const feed::Event& event) noexcept {
        note_refused();
        for (CoreOutput& output : outputs_) {
            tell(output, event);
        }
    }

    /// Makes the events of the burst visible to the cores.
    void publish() noexcept {
        note_refused();
        for (CoreOutput& output : outputs_) {
            if (output.pending_lines_count != 0) [[unlikely]] {
                flush_pending(output, output.room_to_flush());
            }
            if (output.ring.unpublished()) {
                output.publish();
            }
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

    [[nodiscard]] std::size_t capacity(std::size_t ring) const {
        return outputs_[ring].ring.capacity();
    }

  private:
    static constexpr std::size_t message_records_max = 255;
    static constexpr std::size_t offered_records_max = 512;  ///< two for each message of a block

    /// The output to one core.
    struct CoreOutput {
        explicit CoreOutput(Producer<feed::Event> half) : ring(std::move(half)) {}

        Producer<feed::Event> ring;
        Parking* core_waker = nullptr;
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

        void publish() noexcept {
            ring.publish();
            count();
            if (core_waker != nullptr) {
                core_waker->wake();
            }
        }

        void count() noexcept {
            counters->routed.set(routed_count);
            counters->refused.set(refused_count);
            counters->pushed.set(pushed_count);
        }
    };

    [[nodiscard]] CoreOutput& output_for(const feed::SeriesKey& series) noexcept {
        if (outputs_.size() == 1) {
            return outputs_[0];
        }
        return outputs_[core_of(series, config_.sharding, outputs_.size())];
    }

    [[nodiscard]] CoreOutput& output_for(std::uint64_t symbol_word) noexcept {
        return outputs_[core_of(feed::hash_symbol(symbol_word), outputs_.size())];
    }

    /// For a message that was written to the buffer of offer().
    [[nodiscard]] CoreOutput& output_for(const feed::Event& event) noexcept {
        if (event.header.kind == feed::EventKind::underlying) [[unlikely]] {
            return output_for(event.body.underlying.symbol);
        }
        return output_for(event.body.series);
    }

    [[nodiscard]] feed::Event* claim_from(CoreOutput& output, std::size_t records) noexcept {
        note_refused();
        ++output.routed_count;
        feed::Event* slots = output.ring.claim(records, output.closed);
        if (slots == nullptr) [[unlikely]] {
            return claim_when_full(output, records);
        }
        ++output.pushed_count;
        return slots;
    }

    /// Copies each message in the buffer to the ring of the core of its series.
    [[gnu::noinline]] void hand_out(std::size_t records) noexcept {
        const feed::Event* event = apart_.data();
        const feed::Event* const end = event + records;
        while (event != end) {
            const std::size_t count = event->header.records;
            feed::Event* const slots = claim_from(output_for(*event), count);
            for (std::size_t i = 0; i < count; ++i) {
                slots[i] = event[i];
            }
            event += count;
        }
    }

    /// Adds the message refused last to the pending events. It is complete now, so its number can
    /// be read.
    void note_refused() noexcept {
        if (refused_by_ != nullptr) [[unlikely]] {
            CoreOutput& output = *refused_by_;
            refused_by_ = nullptr;
            if (!planted(Mistake::ring)) {
                pending_of(output).refuse(refused_[0].header);
            }
        }
    }

    [[nodiscard]] feed::Event* claim_when_full(CoreOutput& output, std::size_t records) noexcept;
    void wait_for_room(CoreOutput& output, std::size_t records) noexcept;
    void tell(CoreOutput& output, const feed::Event& event) noexcept;
    [[nodiscard]] PendingEvents& pending_of(CoreOutput& output) noexcept;
    static bool flush_line(CoreOutput& output, std::size_t line) noexcept;
    static void flush_pending(CoreOutput& output, std::size_t room) noexcept;

    RouterConfig config_;
    std::vector<CoreOutput> outputs_;
    std::size_t line_ = 0;
    CoreOutput* refused_by_ = nullptr;  ///< refused the message in `refused_`, not yet noted
    std::vector<feed::Event> refused_;  ///< scratch buffer for a refused message
    std::vector<feed::Event> apart_;    ///< buffer of offer() if there are several cores
};

}  // namespace pinstrike::actors
