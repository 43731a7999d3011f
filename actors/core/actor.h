// path: hot
//
// The unit of work that users write. An actor belongs to one core and needs no lock, because only
// that core's thread calls it. It gets events in batches, as references into the core's ring, which
// are valid until on_events returns.
//
// Each core that lists a kind of actor has an actor of its own, which gets the messages of that
// core alone. With `sharding: series`, the default, the series of one underlying go to different
// cores, so an actor that aggregates by underlying has only a part on each core. Such a kind
// requires `sharding: underlying` (ActorKind::needs_underlyings_whole), which the config check
// enforces.
#pragma once

#include "actors/core/actor_report.h"
#include "feed/event/event.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// Whole messages, contiguous in memory. Iterates over messages, not records.
class EventBatch {
  public:
    /// `behind`: the number of records of the next batch that are known to follow these.
    explicit EventBatch(std::span<const feed::Event> records, std::size_t behind = 0)
        : records_(records), behind_(behind) {}

    class iterator {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = feed::Event;
        using difference_type = std::ptrdiff_t;
        using pointer = const feed::Event*;
        using reference = const feed::Event&;

        iterator() = default;

        explicit iterator(pointer at) : at_(at) {}

        reference operator*() const { return *at_; }

        pointer operator->() const { return at_; }

        /// A branch instead of a sum, because the processor predicts the branch and can load the
        /// next message before this one arrives from another core's cache.
        iterator& operator++() {
            const std::uint8_t records = at_->header.records;
            ++at_;
            if (records != 1) [[unlikely]] {
                at_ += records - 1;
            }
            return *this;
        }

        iterator operator++(int) {
            iterator before = *this;
            ++*this;
            return before;
        }

        friend bool operator==(const iterator&, const iterator&) = default;

      private:
        pointer at_ = nullptr;
    };

    [[nodiscard]] iterator begin() const { return iterator{records_.data()}; }

    [[nodiscard]] iterator end() const { return iterator{records_.data() + records_.size()}; }

    [[nodiscard]] std::span<const feed::Event> records() const { return records_; }

    [[nodiscard]] bool empty() const { return records_.empty(); }

    /// Prefetches the record one batch after `event`, if it is published. Another thread wrote it,
    /// so its cache line must come from another core.
    void prefetch_behind(const feed::Event& event) const {
        if (&event < records_.data() + behind_) {
            __builtin_prefetch(&event + records_.size());
        }
    }

  private:
    std::span<const feed::Event> records_;
    std::size_t behind_;
};

/// The events that an actor wants. Line events (controls, gaps, line states and line marks) are
/// always delivered, so that an actor without a gap event knows that nothing was lost.
struct Interest {
    std::uint32_t kinds = ~0U;             ///< a set by feed::bit_of()
    std::vector<std::string> underlyings;  ///< symbols; empty: all

    /// The kinds that every actor gets.
    static constexpr std::uint32_t always_bits = feed::line_event_bits;
};

/// What an actor learns about its core in on_start.
struct CoreInfo {
    std::string name;    ///< "core0"
    unsigned index = 0;  ///< among the actor cores
    unsigned cores_count = 1;
};

class Actor : public ActorReport {
  public:
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// Called once, before on_start.
    [[nodiscard]] virtual Interest interest() const { return {}; }

    /// Names of the system calls that the actor makes after on_start, also in on_stop. A core's
    /// thread may only make these and a short list of others (confine/call_lists.h).
    [[nodiscard]] virtual std::vector<std::string_view> system_calls() const { return {}; }

    /// True: the actor's core processes only captures. The actor may then allocate, block and make
    /// any system call, because the input waits.
    [[nodiscard]] virtual bool is_offline() const { return false; }

    /// Called on the core's thread before the first message. May allocate.
    virtual void on_start(const CoreInfo& /*core*/) {}

    /// Must not allocate, block, or keep references into the batch (is_offline() allows the first
    /// two). An exception ends the program.
    /// If the config names a file of the day's series, the first batches announce these series
    /// (flag_from_file).
    virtual void on_events(EventBatch batch) = 0;

    /// Called about every millisecond, on a parked core less often. `now_ns` is wall time.
    virtual void on_timer(std::int64_t /*now_ns*/) {}

    /// Does a small part of work that can wait. Called only when all rings of the core are empty,
    /// so work that must also be done on a busy core belongs in on_timer. Returns how much was
    /// done; 0: nothing is waiting, and the next call comes a microsecond later.
    virtual std::size_t on_idle() { return 0; }

    /// Called after the last message. May allocate.
    virtual void on_stop() {}
};

}  // namespace pinstrike::actors
