// path: hot
//
// A Core runs actors: it takes what its rings bring, in batches, and hands each batch to each of
// its actors. One thread calls it; it holds the consumer half of every ring that leads here.
//
// The promise to actors: on_start of all before the first message of any, on_stop of all after the
// last message of any. The series of the day's file are told in between, as the series maps that
// the wire brings during the day. It holds by construction: rings fill as soon as pollers run, but
// nothing is read from them before start(), and drain() reads them empty before stop(). Who stops a
// core has stopped and joined its producers before.
//
// A step reads at most one batch a ring, so that no poller's traffic waits behind another's. Time
// is given; the one clock a Core may hold serves to sample how long actors take.
#pragma once

#include "actors/core/actor.h"
#include "actors/threads/loop_counters.h"
#include "actors/threads/parking.h"
#include "actors/threads/ring.h"
#include "config/counter.h"
#include "config/histogram.h"
#include "feed/event/event.h"
#include "nic/capture/replay_start.h"
#include "nic/clock.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// What a core counts; its thread writes. Events are messages, not records.
struct CoreCounters : LoopCounters {
    Counter events;             ///< messages routed here: data, neither gaps nor controls
    Counter gap_events;         ///< told to every core concerned, those of a full ring included
    Counter control_events;     ///< told to every core
    Counter line_state_events;  ///< told to every core
    Counter line_mark_events;   ///< told to every core
    Counter announced_series;   ///< of the day's file, told before the first message; in no other
    Counter records;            ///< of 64 bytes, all of the above
    Counter batches;
    /// From arrival, or from when it was due; each message as the first of its batch.
    Histogram receive_to_actor_ns;
    Histogram receive_to_actor_disturbed_ns;  ///< of these, those that overlap a stop
};

/// What is measured of one actor; its core's thread writes.
struct ActorCounters {
    Counter events;                  ///< data messages given to it
    Counter batches;                 ///< calls of on_events
    Histogram waiting_ns;            ///< from arrival, or when due, to the call; likewise, sampled
    Histogram waiting_disturbed_ns;  ///< of these, those that overlap a stop
    Histogram service_ns;            ///< inside on_events; sampled
};

struct CoreOptions {
    CoreInfo info;
    std::size_t batch_records = 256;
    const nic::Clock* clock = nullptr;  ///< null: actors are not timed (simulation)
    bool live = true;                   ///< false: events carry the time of a capture
    nic::DueTimes due{};                ///< of a capture: when that was, if it has a pace
};

class Core {
  public:
    Core(CoreOptions options, std::vector<Consumer<feed::Event>> rings,
         std::vector<std::unique_ptr<Actor>> actors);

    /// The series of the day's file that belong to this core; before start().
    void announce(std::vector<feed::SeriesMap> series) { announced_ = std::move(series); }

    /// The counters of the thread that fills each ring, in the rings' order; before start().
    /// Without them only the core's own stops are known.
    void know_producers(std::vector<const LoopCounters*> producers) {
        producers_ = std::move(producers);
    }

    /// Calls on_start of every actor, then tells them of the series that were announced.
    void start();

    /// Hands on at most one batch of each ring; runs timers. Records handed on; 0: nothing to do.
    std::size_t step(std::int64_t now_ns);

    /// The thread slept since the last step: no stop of the machine.
    void slept() noexcept { loop_clock_.slept(); }

    /// Hands on everything that is still in the rings; their producers have ended.
    void drain(std::int64_t now_ns);

    /// After drain(): calls on_stop of every actor.
    void stop();

    /// Is there anything in a ring? For the decision to sleep.
    [[nodiscard]] bool has_work() const noexcept;

    [[nodiscard]] const CoreInfo& info() const { return options_.info; }

    [[nodiscard]] const CoreCounters& counters() const { return counters_; }

    /// The longest step begins anew; any thread (loop_counters.h).
    void clear_maxima() { counters_.clear_maxima(); }

    [[nodiscard]] std::size_t actors_count() const { return actors_.size(); }

    [[nodiscard]] const Actor& actor(std::size_t i) const { return *actors_[i].actor; }

    [[nodiscard]] const ActorCounters& actor_counters(std::size_t i) const {
        return *actors_[i].counters;
    }

  private:
    static constexpr std::int64_t timer_period_ns = 1'000'000;
    static constexpr std::int64_t idle_period_ns = 1'000;  ///< between two askings in vain
    static constexpr std::uint64_t sample_every = 8;       ///< batches: two clock reads an actor

    enum class State : std::uint8_t { made, running, stopped };

    /// An actor and what it wants.
    struct Seat {
        std::unique_ptr<Actor> actor;
        std::unique_ptr<ActorCounters> counters;
        std::uint32_t kinds = ~0U;           ///< bit per EventKind
        std::vector<std::uint64_t> symbols;  ///< sorted SeriesKey::symbol_word(); empty: all

        /// All messages of these kinds.
        [[nodiscard]] bool wants_all(std::uint32_t of_kinds) const noexcept {
            return (of_kinds & ~kinds) == 0 && symbols.empty();
        }

        [[nodiscard]] bool wants(const feed::Event& event) const noexcept;
    };

    /// Whole messages at the front of a ring, and what they are.
    struct Batch {
        std::span<const feed::Event> records;
        std::size_t behind = 0;   ///< records that are known to follow
        std::uint32_t kinds = 0;  ///< bit per EventKind that is among them
        std::uint64_t events = 0;
        std::uint64_t gaps = 0;
        std::uint64_t controls = 0;
        std::uint64_t states = 0;
        std::uint64_t marks = 0;
    };

    void tell_announced(Seat& seat) const;
    [[nodiscard]] static Batch whole_messages(std::span<const feed::Event> waiting,
                                              std::size_t records_max) noexcept;
    void hand_on(const Batch& batch, std::size_t ring, std::int64_t now_ns);
    [[nodiscard]] bool disturbed_since(std::int64_t begin_ns, std::size_t ring) const noexcept;
    static void give(Seat& seat, const Batch& batch);
    static void give_wanted(Seat& seat, std::span<const feed::Event> records);
    void count(const Batch& batch) noexcept;
    void run_timers(std::int64_t now_ns);
    std::size_t run_idle(std::int64_t now_ns);

    CoreOptions options_;
    std::vector<Consumer<feed::Event>> rings_;
    std::vector<const LoopCounters*> producers_;  ///< of each ring; empty: not known
    std::vector<Seat> actors_;
    std::vector<feed::SeriesMap> announced_;  ///< until start()
    CoreCounters counters_;
    State state_ = State::made;
    LoopClock loop_clock_;
    std::int64_t next_timer_ns_ = 0;
    std::int64_t next_idle_ns_ = 0;
};

}  // namespace pinstrike::actors
