// path: cold
//
// Copies the state of every series from a peer, once after the start.
//
// The instance joins the streams before it requests state, so that the state that a peer then sends
// covers positions after the join. The transfer runs in rounds. The first round requests all lines,
// and each later round requests the lines that have not joined yet. A line has joined if all its
// series were accepted, and if the journal of each core here holds all messages after the position
// that each core of the peer states for the line. If a core of the peer states no position, it has
// not received the line yet, and it may still get messages that were sent before this instance
// started. A series may be accepted twice, so a round needs no record of the round before. The
// transfer gives up early if all peers have just started too. In the last quarter of its time, or
// earlier if rounds are long, it also accepts the state of lines on which nothing was received, and
// a line that neither instance has received counts as joined. Series that were not accepted at the
// end stay unknown until a message states them.
#pragma once

#include "actors/peer/peer_event.h"
#include "actors/peer/state_ends.h"
#include "actors/peer/state_exchange.h"
#include "config/counter.h"
#include "config/rows.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// clang-format off
#define PINSTRIKE_STATE_COUNTS(ROW) \
    ROW(requests, requests, "requests for the state of series sent to peers") \
    ROW(failed, requests, "of these, those refused or interrupted") \
    ROW(received, series, "states of series received; counted again after a repeated request") \
    ROW(foreign, series, "of these, those of a line or a core that accepts none") \
    ROW(impossible, series, "of these, those with values that no book can have: dropped") \
    ROW(crowded, series, \
        "of these, those received faster than the cores take them: requested again") \
    ROW(taken, series, "of these, those that a core accepted") \
    ROW(unheard, series, "not accepted: nothing was received on the line yet") \
    ROW(ahead, series, "not accepted: includes messages that were not received here yet") \
    ROW(behind, series, "not accepted: ends before the oldest message remembered here") \
    ROW(other_reset, series, "not accepted: a reset lies between the peer and this instance") \
    ROW(moved, series, "not accepted: the series is on another line here") \
    ROW(no_room, series, "not accepted: the book is full")

// clang-format on

namespace pinstrike::actors::peer {

PINSTRIKE_ROWS(StateCount, PINSTRIKE_STATE_COUNTS)

/// A peer from which state can be requested.
class StateSource {
  public:
    virtual ~StateSource() = default;
    /// The address of the peer, for example "10.1.0.2:9470".
    [[nodiscard]] virtual std::string_view peer() const = 0;
    /// Returns false if state cannot be requested now. Otherwise StateTaker::ended is called once.
    [[nodiscard]] virtual bool request_state(const std::vector<std::uint16_t>& lines) = 0;
};

class StateTransfer final : public StateTaker {
  public:
    /// `exchange` must outlive this object. `within_ns`: the longest duration of the transfer.
    StateTransfer(StateExchange& exchange, const std::vector<std::uint16_t>& lines,
                  std::int64_t within_ns, PeerListener listener);

    void record(const StateRecord& record) override;
    void impossible() override;
    void ended(StateOutcome outcome) override;

    /// Returns the number of answers of books that were read. `now_ns` must never decrease.
    std::size_t step(std::int64_t now_ns, const std::vector<StateSource*>& sources);

    [[nodiscard]] bool over() const { return phase_ == Phase::over; }

    /// Once it is over: the lines that did not join.
    [[nodiscard]] const std::set<std::uint16_t>& unjoined() const { return unjoined_; }

    // Any thread may call these.

    [[nodiscard]] const Counters<StateCount, StateCount_count>& counts() const { return counts_; }

    /// 1: every line has joined, and every series was taken.
    [[nodiscard]] const Counter& whole() const { return whole_; }

  private:
    enum class Phase : std::uint8_t { waiting, receiving, closing, over };

    /// The latest round.
    struct Round {
        bool forced = false;                          ///< it accepts lines without messages
        StateOutcome outcome = StateOutcome::broken;  ///< once it is closing
        std::set<std::uint16_t> wanted;               ///< its lines
        std::set<std::uint16_t> again;                ///< lines of the next round
        std::map<std::uint16_t, unsigned> placed;     ///< positions, by line of any record
        unsigned books = 1;                           ///< positions that the peer states per line
        std::size_t answers_missing = 0;
        std::int64_t begun_ns = 0;
        std::int64_t lasted_ns = 0;  ///< of the latest round that the peer answered
        std::string peer;
    };

    std::size_t read_answers();
    void ask(std::int64_t now_ns, const std::vector<StateSource*>& sources);
    void close_round(std::int64_t now_ns);
    void note_unplaced();
    [[nodiscard]] std::int64_t forced_ns() const;
    void pause(std::int64_t now_ns);
    void finish(bool whole, std::int64_t now_ns);
    [[nodiscard]] std::string what_is_missing(double seconds) const;

    StateExchange& exchange_;
    std::set<std::uint16_t> all_;
    std::set<std::uint16_t> unjoined_;
    std::int64_t within_ns_;
    PeerListener listener_;
    Phase phase_ = Phase::waiting;
    std::int64_t begun_ns_ = 0;
    std::int64_t ask_ns_ = 0;
    std::int64_t pause_ns_;
    bool first_ = true;               ///< no round has completed yet
    std::int64_t none_since_ns_ = 0;  ///< since when answers are `has_none`; or 0
    std::size_t turn_ = 0;            ///< index of the source to request from first
    Round round_;
    Counters<StateCount, StateCount_count> counts_;
    Counter whole_;
};

}  // namespace pinstrike::actors::peer
