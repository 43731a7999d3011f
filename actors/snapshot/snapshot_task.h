// path: cold
//
// Takes snapshots of the books, on the recovery thread. A snapshot is the state that a peer would
// get, in the same frames. The books give it while they go on (actors/book/transfer), so each
// record has a place of its own on its line. The recorder's thread writes the file
// (actors/recorder/state_writer.h).
#pragma once

#include "actors/peer/frames.h"
#include "actors/peer/state_exchange.h"
#include "actors/recorder/state_chunks.h"
#include "actors/threads/step_free_clock.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace pinstrike::actors {

struct SnapshotSetup {
    std::int64_t interval_ns = 0;
    /// The packets received so far. Without more of them, another snapshot says nothing new.
    std::function<std::uint64_t()> packets;
};

class SnapshotTask {
  public:
    /// The most records that the books give in a second. The work is spread over time, because the
    /// books do it beside their usual work.
    static constexpr std::int64_t records_per_second = 500'000;
    /// The first snapshot comes soon, so that little of a recording is before it.
    static constexpr std::int64_t first_after_ns = 5'000'000'000;

    /// `exchange` must outlive the task.
    SnapshotTask(SnapshotSetup setup, peer::StateExchange& exchange,
                 std::unique_ptr<StateChunks> chunks);

    /// `now_ns`: wall time. Returns the amount of work done. If it is 0, the thread may sleep.
    std::size_t step(std::int64_t now_ns);

    /// The time that the thread may sleep after a step that did nothing.
    [[nodiscard]] std::int64_t nap_ns() const {
        return phase_ == Phase::waiting ? 10'000'000 : 200'000;
    }

  private:
    enum class Phase : std::uint8_t { waiting, walking, ending };

    std::size_t begin(std::int64_t now_ns);
    std::size_t walk(std::int64_t now_ns);
    [[nodiscard]] bool pass_frames(std::int64_t now_ns);
    std::size_t end(std::int64_t now_ns);
    void leave();
    [[nodiscard]] std::size_t allowed_records();

    SnapshotSetup setup_;
    peer::StateExchange& exchange_;
    std::unique_ptr<StateChunks> chunks_;
    StepFreeClock clock_;
    Phase phase_ = Phase::waiting;
    std::int64_t due_ns_ = 0;     ///< step-free time, as the next two
    std::int64_t walked_ns_ = 0;  ///< up to where allowed_records() has counted
    std::int64_t passed_ns_ = 0;  ///< a chunk was last passed on
    std::uint64_t packets_ = 0;   ///< received before the latest snapshot
    peer::FrameWriter frames_;    ///< of the open chunk
    FilledStateChunk open_;
};

}  // namespace pinstrike::actors
