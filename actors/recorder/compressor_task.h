// path: cold
//
// The work of the compressor's thread: compresses the closed segments of a recording, the oldest
// first, one chunk at a time. A segment that cannot be compressed is tried again after all others.
// The thread has the idle priority, and sleeps after each chunk so that it takes no more than its
// share of a processor.
#pragma once

#include "actors/recorder/recorder_counts.h"
#include "actors/threads/step_free_clock.h"
#include "config/problem.h"
#include "feed/recording/segment_compressor.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace pinstrike::actors {

class CompressorTask {
  public:
    /// `level`: of zstd. Writes the counters of segments that are compressed.
    CompressorTask(std::string folder, int level, RecorderCounters& counters);

    /// Compresses one chunk. False: there is no closed segment to compress now.
    bool step(std::int64_t now_ns);

    /// How long the thread sleeps after a step of `busy_ns` that takes `percent` of a processor.
    [[nodiscard]] static std::int64_t pause_ns(std::int64_t busy_ns, unsigned percent) {
        return busy_ns * (100 - percent) / percent;
    }

    /// How long it sleeps if there is nothing to compress.
    static constexpr std::int64_t idle_nap_ns = 100'000'000;

    /// Why the latest segment that could not be compressed was not. Any thread.
    [[nodiscard]] std::string failure() const {
        const std::lock_guard lock{failure_mutex_};
        return failure_;
    }

  private:
    void begin_next();
    void fail(const std::string& path);

    std::string folder_;
    int level_;
    RecorderCounters& counters_;
    std::optional<feed::SegmentCompressor> current_;
    Problems problems_;
    StepFreeClock clock_;
    std::int64_t next_look_ns_ = 0;  ///< in step-free time
    std::set<std::string> failed_;   ///< segments that are tried again after all others
    mutable std::mutex failure_mutex_;
    std::string failure_;
};

}  // namespace pinstrike::actors
