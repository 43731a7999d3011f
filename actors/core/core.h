// path: hot
//
// A Core runs actors. It takes batches of events from its rings and gives each batch to each of its
// actors. One thread calls it, which has the Consumer of every ring of this core.
//
// Guarantees for actors: on_start of all actors comes before the first message of any, and on_stop
// of all comes after the last message of any. After on_start the actors get the series of the day's
// file, as series map events like those that arrive on the lines during the day. The order holds
// because start() comes before the first read of a ring, although pollers may fill the rings
// earlier, and because drain() empties the rings before stop(). The caller of stop() has stopped
// and joined the producers before.
//
// A step reads at most one batch from each ring, so that traffic of one poller does not delay that
// of another. The caller passes the time. A Core only uses its own clock to sample how long actors
// take.
#pragma once

#include "actors/core/actor.h"
#include "actors/threads/loop_counters.h"
#include "actors/threads/parking.h"
#include "actors/threads/ring.h"
#include "config/counter.h"
#include "config/histogram.h"
#include "config/rows.h"
#include "feed/event/event.h"
#include "nic/capture/replay_start.h"
#include "nic/clock.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

// clang-format off
#define PINSTRIKE_CORE_COUNTS(ROW) \
    ROW(events, events, "Data messages taken from the rings") \
    ROW(gap_events, events, "Gaps and repairs taken from the rings") \
    ROW(control_events, events, "Controls taken from the rings") \
    ROW(line_state_events, events, "Line states taken from the rings") \
    ROW(line_mark_events, events, \
        "Records that report how far lines have come, taken from the rings") \
    ROW(announced_series, series, \
        "Series of the day's file announced to the actors before the first message") \
    ROW(records, records, "Records of 64 bytes taken from the rings") \
    ROW(batches, batches, "Batches taken from the rings")
// clang-format on

PINSTRIKE_ROWS(CoreCount, PINSTRIKE_CORE_COUNTS)

/// The counters of a core, written by its thread. Events are messages, not records.
struct CoreCounters : LoopCounters, Counters<CoreCount, CoreCount_count> {
    /// From arrival, or from the time when the packet was due in a paced replay. Each message
    /// counts with the time of the first message of its batch.
    Histogram receive_to_actor_ns;
    Histogram receive_to_actor_preempted_ns;  ///< of these, those that overlap a preemption
};

/// The counters of one actor, written by its core's thread.
struct ActorCounters {
    Counter events;                  ///< data messages that it got
    Counter batches;                 ///< calls of on_events
    Histogram waiting_ns;            ///< like receive_to_actor_ns, until the call; sampled
    Histogram waiting_preempted_ns;  ///< of these, those that overlap a preemption
    Histogram service_ns;            ///< time in on_events; sampled
};

/// The records of a batch of events, unless a message has more.
inline constexpr std::size_t default_batch_records = 256;

struct CoreOptions {
    CoreInfo info;
    std::size_t batch_records = default_batch_records;
    const nic::Clock* clock = nullptr;  ///< null: actors are not timed (simulation)
    bool live = true;                   ///< false: the receive times are those of a capture
    nic::DueTimes due{};                ///< when packets of a capture are due in a paced replay
    /// Symbols. No actor gets data of other underlyings; empty: of all that it wants.
    std::vector<std::string> underlyings{};
};

class Core {
  public:
    Core(CoreOptions options, std::vector<Consumer<feed::Event>> rings,
         std::vector<std::unique_ptr<Actor>> actors);

    /// The series of the day's file that belong to this core. Called before start().
    void announce(std::vector<feed::SeriesMap> series) { announced_ = std::move(series); }

    /// The counters of the thread that fills each ring, in the order of the rings. Called before
    /// start(). Without them the core only knows of its own preemption.
    void set_producer_counters(std::vector<const LoopCounters*> producers) {
        producers_ = std::move(producers);
    }

    /// An actor gets no events until `begins` is true. Called before start(). The rings' acquire
    /// and release order is enough for `begins`: it is set before the first event for the actor is
    /// published.
    void hold_back(std::size_t actor, const std::atomic<bool>& begins) {
        actors_[actor].begins = &begins;
    }

    /// Calls on_start of every actor, then gives each the series that were announced.
    void start();

    /// Gives at most one batch of each ring to the actors and runs timers. Returns the number of
    /// records, or how much on_idle did; 0: there was nothing to do.
    std::size_t step(std::int64_t now_ns);

    /// The thread slept since the last step, so the time is not preemption.
    void slept() noexcept { loop_clock_.slept(); }

    /// Gives everything that is still in the rings to the actors. The producers have ended.
    void drain(std::int64_t now_ns);

    /// Calls on_stop of every actor. Called after drain().
    void stop();

    /// Whether a ring has records. The thread asks before it sleeps.
    [[nodiscard]] bool has_work() const noexcept;

    /// For how long a thread without work may sleep: less while on_idle() exchanges state, because
    /// nothing wakes the thread for it.
    [[nodiscard]] std::int64_t nap_ns(std::int64_t now_ns) const noexcept {
        const std::int64_t since_ns = now_ns - idle_work_ns_;
        return since_ns >= 0 && since_ns < exchange_pause_ns ? exchange_nap_ns : idle_nap_ns;
    }

    [[nodiscard]] const CoreInfo& info() const { return options_.info; }

    [[nodiscard]] const CoreCounters& counters() const { return counters_; }

    /// Clears the maximum of the step time. May be called by any thread (loop_counters.h).
    void clear_maxima() { counters_.clear_maxima(); }

    /// Whether one of its actors is offline (Actor::is_offline()).
    [[nodiscard]] bool is_offline() const;

    [[nodiscard]] std::size_t actors_count() const { return actors_.size(); }

    [[nodiscard]] const Actor& actor(std::size_t i) const { return *actors_[i].actor; }

    [[nodiscard]] const ActorCounters& actor_counters(std::size_t i) const {
        return *actors_[i].counters;
    }

  private:
    static constexpr std::int64_t timer_period_ns = 1'000'000;
    static constexpr std::int64_t idle_period_ns = 1'000;     ///< after on_idle did nothing
    static constexpr std::int64_t idle_nap_ns = 20'000'000;   ///< between timers of a parked core
    static constexpr std::int64_t exchange_nap_ns = 200'000;  ///< a ring of records fills meanwhile
    static constexpr std::int64_t exchange_pause_ns =
        100'000'000;                                  ///< a longer one ends an exchange
    static constexpr std::uint64_t sample_every = 8;  ///< batches; two clock reads per actor

    enum class State : std::uint8_t { made, running, stopped };

    /// An actor and what it wants.
    struct ActorSlot {
        std::unique_ptr<Actor> actor;
        std::unique_ptr<ActorCounters> counters;
        const std::atomic<bool>* begins = nullptr;  ///< null: it gets all events
        std::uint32_t kinds = ~0U;                  ///< bit per EventKind
        std::vector<std::uint64_t> symbols;         ///< sorted SeriesKey::symbol_word(); empty: all

        /// Whether the actor wants all messages of these kinds.
        [[nodiscard]] bool wants_all(std::uint32_t of_kinds) const noexcept {
            return (of_kinds & ~kinds) == 0 && symbols.empty();
        }

        [[nodiscard]] bool wants(const feed::Event& event) const noexcept;
    };

    /// Whole messages at the front of a ring, and how many there are of each kind.
    struct Batch {
        std::span<const feed::Event> records;
        std::size_t behind = 0;   ///< records known to follow these
        std::uint32_t kinds = 0;  ///< bit per EventKind in the batch
        std::uint64_t events = 0;
        std::uint64_t gaps = 0;
        std::uint64_t controls = 0;
        std::uint64_t states = 0;
        std::uint64_t marks = 0;
    };

    void deliver_announced(ActorSlot& slot) const;
    [[nodiscard]] static Batch whole_messages(std::span<const feed::Event> waiting,
                                              std::size_t records_max) noexcept;
    void deliver(const Batch& batch, std::size_t ring, std::int64_t now_ns);
    [[nodiscard]] bool preempted_since(std::int64_t begin_ns, std::size_t ring) const noexcept;
    static void deliver_to(ActorSlot& slot, const Batch& batch);
    static void deliver_wanted(ActorSlot& slot, std::span<const feed::Event> records);
    void count(const Batch& batch) noexcept;
    void run_timers(std::int64_t now_ns);
    std::size_t run_idle(std::int64_t now_ns);

    CoreOptions options_;
    std::vector<Consumer<feed::Event>> rings_;
    std::vector<const LoopCounters*> producers_;  ///< of each ring; empty: unknown
    std::vector<ActorSlot> actors_;
    std::vector<feed::SeriesMap> announced_;  ///< cleared by start()
    CoreCounters counters_;
    State state_ = State::made;
    LoopClock loop_clock_;
    std::int64_t next_timer_ns_ = 0;
    std::int64_t next_idle_ns_ = 0;
    std::int64_t idle_work_ns_ = 0;  ///< when on_idle() last did something
};

}  // namespace pinstrike::actors
