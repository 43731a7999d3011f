// path: cold
//
// Gives the state of a snapshot to the books of a replay, on the recovery thread.
//
// The replay begins a little before the snapshot. A record of the snapshot is given to a book when
// the book has processed the packets up to the time at which the live book gave the record. So the
// packets are held back (nic/capture/replay_gate.h) at the ends of the snapshot's chunks. Then the
// rules of a state transfer hold (actors/book/transfer): the book takes the state and applies the
// messages after the record's place again. A record that no message joins yet is given again at a
// later time. At last the packets are held back where the range of the replay begins, and the
// actors that exchange no state get the events from there on.
#pragma once

#include "actors/core/state_record.h"
#include "actors/peer/state_exchange.h"
#include "actors/snapshot/replay_from.h"
#include "actors/snapshot/snapshot_reader.h"
#include "config/counter.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// What the loader asks of the threads between the captures and the books. Any thread may call it.
struct ReplayProgress {
    /// How often each poller has sent marks of its lines, at least.
    std::function<std::uint64_t()> marked;
    /// Whether the cores have processed all that was published.
    std::function<bool()> drained;
    /// A count that changes whenever something happens on the line.
    std::function<std::uint64_t(std::uint16_t line)> changes;
};

/// The series of a snapshot whose state is given to the books.
struct SnapshotSelection {
    std::vector<std::uint16_t> lines;
    std::vector<std::string> underlyings;  ///< symbols; none: all

    [[nodiscard]] bool selects(const StateRecord& record) const;
};

/// Whether a state is of the trade date that begins at this time. That is the date of the last
/// reset of its line, which forgot what was before, or else of the last message that it covers.
/// True if neither is known, or if the exchange's stamps are a week older, so that they do not say
/// the present date: somebody sends the traffic of another day.
[[nodiscard]] bool is_of_date(const CoveredPlace& place, std::int64_t trade_date_begin_ns);

class SnapshotLoader {
  public:
    /// `exchange` must outlive the loader.
    SnapshotLoader(SnapshotReader snapshot, ReplayFrom from, SnapshotSelection selection,
                   peer::StateExchange& exchange, ReplayProgress progress);

    /// Returns the amount of work done. If it is 0, the thread may sleep for nap_ns.
    std::size_t step();

    static constexpr std::int64_t nap_ns = 100'000;

    /// Lets all packets pass, after an error.
    void give_up();

    /// True from the time on at which the range of the replay begins.
    [[nodiscard]] const std::atomic<bool>& begins() const { return begins_; }

    /// Once it is over: the records of lines on which some joined no message.
    [[nodiscard]] const std::vector<StateRecord>& unjoined() const { return unjoined_; }

    // Any thread may call these.

    /// Selected states of series that are of the trade date.
    [[nodiscard]] const Counter& series() const { return series_; }

    /// Selected states that were left out because they are of an earlier trade date; series() does
    /// not count them.
    [[nodiscard]] const Counter& outdated() const { return outdated_; }

    /// Of series(), the states that the books did not take.
    [[nodiscard]] const Counter& refused() const { return refused_; }

    [[nodiscard]] bool over() const { return begins_.load(std::memory_order_acquire); }

  private:
    enum class Phase : std::uint8_t { reading, holding, giving, answering, beginning, over };

    /// The records that are given at one time.
    struct Round {
        std::vector<StateRecord> records;
        std::size_t given = 0;          ///< of these
        std::set<std::uint16_t> again;  ///< lines whose records are given again
        std::uint64_t unjoined = 0;     ///< records that nothing joins yet
        std::size_t answers_missing = 0;
        bool forced = false;  ///< the last one: also for lines without messages
    };

    /// The records of a line that are given again when something has happened on the line.
    struct Waiting {
        std::uint64_t changes = 0;  ///< of the line, when they were given
        std::vector<StateRecord> records;
    };

    std::size_t read_group();
    void hold_until(std::int64_t until_ns);
    void add_waiting();
    [[nodiscard]] bool books_caught_up();
    std::size_t give();
    std::size_t read_answers();
    void end_round();
    void begin_range();

    SnapshotReader snapshot_;
    ReplayFrom from_;
    SnapshotSelection selection_;
    peer::StateExchange& exchange_;
    ReplayProgress progress_;
    Phase phase_ = Phase::reading;
    std::int64_t held_ns_ = 0;  ///< the time at which packets are held back
    std::uint64_t marks_wanted_ = 0;
    Round round_;
    std::map<std::uint16_t, Waiting> waiting_;  ///< by line
    std::vector<StateRecord> unjoined_;
    Counter series_;
    Counter outdated_;
    Counter refused_;
    std::atomic<bool> begins_{false};
};

}  // namespace pinstrike::actors
