// path: cold
//
// The work of the recorder's thread: writes the chunks that the pollers have filled, and gives them
// back. It also repairs, while it has nothing to write, the segments that an earlier start left
// unfinished. A StateWriter writes the snapshots of the books.
//
// A chunk that the disk does not take stays in memory, and is tried again each second in a new
// segment. So nothing that reached a chunk is lost while the program runs. Meanwhile the poller
// runs out of chunks and counts what it cannot record. A segment ends before the first chunk that
// the disk did not take, so the chunks of a poller are in their order, each once. Waits are
// measured in step-free time, because the wall clock may be set back.
#pragma once

#include "actors/poller/packet_recorder.h"
#include "actors/recorder/compressor_task.h"
#include "actors/recorder/disk_queue.h"
#include "actors/recorder/record_config.h"
#include "actors/recorder/recorder_counts.h"
#include "actors/recorder/segment_writer.h"
#include "actors/recorder/state_chunks.h"
#include "actors/recorder/state_writer.h"
#include "actors/threads/run_delay.h"
#include "actors/threads/step_free_clock.h"
#include "config/problem.h"
#include "feed/event/block_numbers.h"
#include "feed/recording/segment_file.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// The chunks of one poller, and the recorder's ends of its rings.
struct RecorderInput {
    std::string poller;
    /// The poller's line numbers, in its order. Lines may be added, but not removed.
    std::function<std::vector<std::uint16_t>()> lines;
    std::vector<feed::Page> memory;
    Consumer<FilledChunk> filled;
    Producer<FreeChunk> free;
    const Counter* not_recorded = nullptr;  ///< of the poller, which lives longer than the recorder
};

/// Makes the chunks and rings of a poller that has lines of these numbers, with the poller's ends.
/// RecorderInput::lines is yet to be set.
[[nodiscard]] std::pair<std::unique_ptr<PacketRecorder>, RecorderInput> make_recorder_ends(
    std::string poller, const RecordConfig& config, std::span<const std::uint16_t> lines,
    const RepairRoute& repairs = {});

/// What the recorder states in sentences, on its thread.
enum class RecorderNote : std::uint8_t {
    repaired,     ///< about a segment that an earlier start left
    not_removed,  ///< a segment beyond the limits of the config is still there
};

using RecorderListener = std::function<void(RecorderNote note, std::string sentence)>;

struct RecorderSetup {
    std::string feed;
    RecordConfig config;
    feed::NumbersOf numbers_of = nullptr;
    RecorderListener listener;
    /// The chunks of snapshots; nullopt: none are taken.
    std::optional<Consumer<FilledStateChunk>> states{};
    std::unique_ptr<DiskQueue> disk{};  ///< writes the chunks; null: by io_uring
};

class RecorderTask {
  public:
    /// Makes the folder. Null, with a Problem, if it cannot be written to.
    [[nodiscard]] static std::unique_ptr<RecorderTask> open(RecorderSetup setup,
                                                            std::vector<RecorderInput> inputs,
                                                            Problems& problems);
    ~RecorderTask();

    RecorderTask(const RecorderTask&) = delete;
    RecorderTask& operator=(const RecorderTask&) = delete;

    /// Returns the amount of work done. If it is 0, the thread may sleep for nap_ns.
    /// `away_ns`: the time since the end of the step before.
    std::size_t step(std::int64_t now_ns, std::int64_t away_ns = 0);

    static constexpr std::int64_t nap_ns = 200'000;

    /// The pollers have ended: writes what they left, unless the disk does not take it, and closes
    /// the segments. Must be called from the thread that called step(), or after it was joined.
    void finish(std::int64_t now_ns);

    /// Any thread may read them.
    [[nodiscard]] const RecorderCounters& counters() const { return counters_; }

    /// The work of another thread; null if segments are not compressed.
    [[nodiscard]] CompressorTask* compressor() const { return compressor_.get(); }

  private:
    /// A chunk on its way to the disk.
    struct Write {
        FilledChunk chunk;
        feed::ChunkRecord record;
        std::size_t done_bytes = 0;
        std::int64_t begun_ns = 0;
        std::size_t input = 0;
        bool ended = false;
        bool failed = false;
    };

    struct Output {
        SegmentWriter writer;
        std::deque<std::unique_ptr<Write>> writes;  ///< under way, in the order of their places
        std::deque<FilledChunk> failed;             ///< to be tried again, in their order
        bool broken = false;             ///< a write of the segment failed, so it gets no more
        int error = 0;                   ///< errno of the latest failure; 0: it writes
        std::uint64_t not_recorded = 0;  ///< packets of which the reason was counted
        // In step-free time.
        std::int64_t retry_ns = 0;
        std::int64_t begun_ns = 0;  ///< when the latest write began
    };

    /// Of segments beyond the limits of the config; in step-free time.
    struct Removal {
        std::int64_t next_look_ns = 0;
        std::string path;                   ///< the segment that is being removed; empty: none
        std::set<std::string> unremovable;  ///< could not be removed
        std::int64_t again_ns = 0;          ///< when these are tried again
        nic::FileDescriptor marks;          ///< lock_marks() while it is being removed
    };

    RecorderTask(RecorderSetup setup, std::vector<RecorderInput> inputs);

    void count_missing(std::int64_t away_ns);
    std::size_t collect(std::int64_t now_ns);
    std::size_t write_chunks(std::size_t input, std::int64_t now_ns);
    [[nodiscard]] bool ready(std::size_t input, std::int64_t now_ns);
    void release_idle();
    void begin_write(std::size_t input, const FilledChunk& chunk, std::int64_t now_ns);
    void submit(Write& write);
    void end_writes(Output& output, std::int64_t now_ns);
    void fail(Output& output, int error);
    void show_error();
    bool repair_step();
    bool remove_old(std::int64_t now_ns);
    void end_removal();
    bool remove_states();

    RecorderSetup setup_;
    std::string folder_;
    std::vector<RecorderInput> inputs_;
    std::vector<Output> outputs_;  ///< of each input
    std::unique_ptr<DiskQueue> disk_;
    std::deque<std::string> unfinished_;  ///< segments of earlier starts that are yet to be checked
    std::optional<feed::SegmentScan> scan_;
    std::int64_t stepped_ns_ = 0;
    RunDelay run_delay_;
    StepFreeClock clock_;  ///< for all that waits
    Removal removal_;
    RecorderCounters counters_;
    std::unique_ptr<CompressorTask> compressor_;
    std::unique_ptr<StateWriter> states_;  ///< null: no snapshots are taken
    std::uint64_t snapshots_ = 0;          ///< after which the older ones were removed
};

}  // namespace pinstrike::actors
