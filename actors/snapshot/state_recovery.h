// path: cold
//
// Gives the books, at the start of a feed, the state that the feed recorded before, on the recovery
// thread. The feed runs meanwhile. Another process replays the recording from its last snapshot up
// to its end, and sends the state of all series and the last number of each line. The books merge
// it with the messages since the start (actors/book/transfer/earlier_state.h). If state is
// requested from peers, this comes first, and the recording fills the lines that no peer gave.
#pragma once

#include "actors/core/state_record.h"
#include "actors/peer/frames.h"
#include "actors/peer/state_exchange.h"
#include "actors/peer/state_transfer.h"
#include "actors/snapshot/state_process.h"
#include "actors/threads/step_free_clock.h"
#include "config/counter.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// The result in a sentence; `recovered`: the books got the state.
using RecoveredListener = std::function<void(bool recovered, std::string text)>;

struct StateRecoverySetup {
    std::vector<std::uint16_t> lines;
    /// The number of the first message of a line since the start; 0: not known yet. Any thread.
    std::function<std::uint64_t(std::uint16_t line)> first_of;
    RecoveredListener listener;
};

/// Where recorded state comes from.
struct RecordedState {
    std::unique_ptr<StateProcess> process;  ///< null: there is none
    std::string failure;  ///< why it could not be started; empty: recovery from the recording is
                          ///< not configured, or it was started
};

class StateRecovery {
  public:
    /// `exchange` and `transfer` must outlive the object. `transfer` is null if no state is
    /// requested from peers.
    StateRecovery(StateRecoverySetup setup, peer::StateExchange& exchange,
                  const peer::StateTransfer* transfer);

    /// Before the first step. Without a call nothing is recovered.
    void begin(RecordedState recorded) { recorded_ = std::move(recorded); }

    /// Returns the amount of work done. If it is 0, the thread may sleep for nap_ns.
    std::size_t step(std::int64_t now_ns);

    static constexpr std::int64_t nap_ns = 500'000;

    [[nodiscard]] bool over() const { return phase_ == Phase::over; }

    // Any thread may call these.

    /// States of series that the recording had.
    [[nodiscard]] const Counter& series() const { return results_.series; }

    /// Of these, those that the books took.
    [[nodiscard]] const Counter& taken() const { return results_.taken; }

    /// One of them is 1 after the end: whether the books could take the recorded state. Neither is
    /// if nobody asked for it, or if peers gave the state of all lines.
    [[nodiscard]] const Counter& succeeded() const { return results_.succeeded; }

    [[nodiscard]] const Counter& failed() const { return results_.failed; }

    /// The messages of a line between the recording and the first one since the start. nullopt: it
    /// is not known, or the line was not recovered.
    [[nodiscard]] std::optional<std::uint64_t> missed(std::uint16_t line) const;

  private:
    enum class Phase : std::uint8_t { waiting, giving, over };

    /// In step-free time.
    struct Times {
        std::int64_t begun_ns = 0;
        std::int64_t again_ns = 0;  ///< when unheard_ is given again
        std::int64_t ended_ns = 0;  ///< when the process had ended; 0: not yet
    };

    struct Results {
        Counter series;
        Counter taken;
        Counter succeeded;
        Counter failed;
        std::map<StateVerdict, std::uint64_t> others;
    };

    void begin_giving();
    void give(std::size_t& done);
    [[nodiscard]] std::size_t read_frames();
    void take(const StateRecord& record);
    void post(const StateRecord& record);
    [[nodiscard]] std::size_t read_answers();
    void give_again();
    void finish(bool recovered, std::string text);
    [[nodiscard]] std::string result();

    StateRecoverySetup setup_;
    peer::StateExchange& exchange_;
    const peer::StateTransfer* transfer_;
    RecordedState recorded_;
    Phase phase_ = Phase::waiting;
    StepFreeClock clock_;
    Times times_;
    /// The last number of each line before the start, and bits of the source; 0: not known.
    std::map<std::uint16_t, Counter> ends_;
    std::set<std::uint16_t> wanted_;  ///< lines that no peer gave
    peer::FrameReader frames_;
    std::vector<StateRecord> unheard_;  ///< of lines whose first message is not known yet
    std::size_t unanswered_ = 0;
    Results results_;
};

}  // namespace pinstrike::actors
