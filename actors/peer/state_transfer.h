// path: cold
//
// Takes the state of every series from a peer, once, after the start.
//
// The streams run first; what is asked of a peer then covers places behind where they were joined.
// The transfer asks in rounds: the first for all lines, each later one for the lines that have not
// joined yet. A line has joined if all its series were taken, and if the journal of each core here
// holds everything behind the position that each core of the peer states for the line. If the peer
// states no position, it has not received the line yet: it may still get messages that were sent
// before this instance started. A series may be taken twice, so a round needs no memory of the
// one before. Where all that can be asked have just been started as well, nobody has
// anything to wait for. Towards the end of its time what is given of lines that nobody hears is
// taken as well. Then it is over, whole or not; what was not taken is unknown until it is stated.
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
    ROW(failed, requests, "of these, those that were refused or broken off") \
    ROW(received, series, "states of series received, again where they were asked for again") \
    ROW(foreign, series, "of these, those of a line or a core that takes none") \
    ROW(crowded, series, "of these, those that came faster than the cores take them: asked again") \
    ROW(taken, series, "of these, those that a core took") \
    ROW(unheard, series, "not taken: nothing came on the line yet") \
    ROW(ahead, series, "not taken: covers messages that have not come here yet") \
    ROW(behind, series, "not taken: ends before what is remembered here begins") \
    ROW(other_reset, series, "not taken: a reset lies between the peer and this instance") \
    ROW(moved, series, "not taken: the series comes on another line here") \
    ROW(no_room, series, "not taken: the book is full")

// clang-format on

namespace pinstrike::actors::peer {

PINSTRIKE_ROWS(StateCount, PINSTRIKE_STATE_COUNTS)

/// Someone who can be asked.
class StateSource {
  public:
    virtual ~StateSource() = default;
    /// "10.1.0.2:9470"
    [[nodiscard]] virtual std::string_view peer() const = 0;
    /// False: it cannot be asked now. Else StateTaker::ended comes, once.
    [[nodiscard]] virtual bool request_state(const std::vector<std::uint16_t>& lines) = 0;
};

class StateTransfer final : public StateTaker {
  public:
    /// The desk outlives it. `within_ns`: how long it may take.
    StateTransfer(StateDesk& desk, const std::vector<std::uint16_t>& lines, std::int64_t within_ns,
                  TellNews tell);

    void record(const StateRecord& record) override;
    void ended(StateOutcome outcome) override;

    /// How much was done. The time never decreases.
    std::size_t step(std::int64_t now_ns, const std::vector<StateSource*>& sources);

    [[nodiscard]] bool over() const { return phase_ == Phase::over; }

    // By any thread.

    [[nodiscard]] const Counters<StateCount, StateCount_count>& counts() const { return counts_; }

    /// 1: every line joined: its series were taken from a peer, or it had none.
    [[nodiscard]] const Counter& whole() const { return whole_; }

  private:
    enum class Phase : std::uint8_t { waiting, receiving, closing, over };

    std::size_t read_answers();
    void ask(std::int64_t now_ns, const std::vector<StateSource*>& sources);
    void close_round(std::int64_t now_ns);
    void note_unplaced();
    void pause(std::int64_t now_ns);
    void finish(bool whole, std::int64_t now_ns);

    StateDesk& desk_;
    std::set<std::uint16_t> all_;
    std::int64_t within_ns_;
    TellNews tell_;
    Phase phase_ = Phase::waiting;
    std::int64_t begun_ns_ = 0;
    std::int64_t ask_ns_ = 0;
    std::int64_t pause_ns_;
    bool first_ = true;                            ///< no round came to its end yet
    bool forced_ = false;                          ///< this round takes lines that are not heard
    StateOutcome outcome_ = StateOutcome::broken;  ///< of the round that ends
    std::int64_t none_since_ns_ = 0;               ///< since when peers say that they have none
    std::size_t turn_ = 0;                         ///< which source is asked first
    std::set<std::uint16_t> wanted_;               ///< of this round; all of them: not named
    std::set<std::uint16_t> again_;                ///< of the next
    std::map<std::uint16_t, unsigned> placed_;     ///< of each line, places stated in this round
    unsigned books_ = 1;                           ///< of the peer: places to be stated of a line
    std::size_t answers_missing_ = 0;
    std::string peer_;
    Counters<StateCount, StateCount_count> counts_;
    Counter whole_;
};

}  // namespace pinstrike::actors::peer
