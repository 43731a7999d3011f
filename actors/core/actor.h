// path: hot
//
// The unit of work that users write. An Actor lives on one Core, is called by that core's thread
// alone, and so needs no lock. It gets events in batches, by reference into the core's ring: they
// are gone when on_events returns.
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

/// Whole messages, side by side in memory; iterates over messages, not records.
class EventBatch {
  public:
    /// `behind`: records that are known to lie behind these, of the next batch.
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

        /// A branch, not a sum: the processor predicts it, and need not wait for one message to
        /// come from far away before it asks for the next.
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

    /// Asks for the record that lies one batch behind that of `event`, if it is there: another
    /// thread wrote it, so it has a long way to come.
    void ask_behind(const feed::Event& event) const {
        if (&event < records_.data() + behind_) {
            __builtin_prefetch(&event + records_.size());
        }
    }

  private:
    std::span<const feed::Event> records_;
    std::size_t behind_;
};

/// Which events an actor wants. Controls, gaps and line states are always delivered: silence must
/// mean that nothing was lost.
struct Interest {
    std::uint32_t kinds = ~0U;             ///< bit per EventKind
    std::vector<std::string> underlyings;  ///< symbols; empty: all

    [[nodiscard]] static constexpr std::uint32_t bit(feed::EventKind kind) {
        return 1U << static_cast<unsigned>(kind);
    }

    /// Of the kinds that no actor is spared.
    static constexpr std::uint32_t always_bits = feed::line_event_bits;
};

/// What a core tells its actors at the start.
struct CoreInfo {
    std::string name;    ///< "core0"
    unsigned index = 0;  ///< among the actor cores
    unsigned cores_count = 1;
};

class Actor : public ActorReport {
  public:
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// Asked once, before on_start.
    [[nodiscard]] virtual Interest interest() const { return {}; }

    /// Names of system calls that it makes after on_start, on_stop included: a core's thread makes
    /// few (confine/call_lists.h), and others are refused.
    [[nodiscard]] virtual std::vector<std::string_view> system_calls() const { return {}; }

    /// Before the first message; on the core's thread; may allocate.
    virtual void on_start(const CoreInfo& /*core*/) {}

    /// Must not allocate, block, or keep references into the batch; an exception ends the program.
    /// The first batches are of the day's series, where the config has their file (flag_from_file).
    virtual void on_events(EventBatch batch) = 0;

    /// About every millisecond, with the wall time; on a parked core less often.
    virtual void on_timer(std::int64_t /*now_ns*/) {}

    /// Where no ring had anything: a little of what can wait. How much was done; 0: nothing waits.
    /// Not called while the core is busy; what must be done then belongs to on_timer. Where nothing
    /// waited it is asked again a microsecond later.
    virtual std::size_t on_idle() { return 0; }

    /// After the last message; may allocate.
    virtual void on_stop() {}
};

}  // namespace pinstrike::actors
