// path: cold
//
// Writes snapshots. A file has a temporary name until it is complete and on disk. No call waits for
// the disk: chunks are written one at a time by io_uring.
#pragma once

#include "actors/recorder/disk_queue.h"
#include "actors/recorder/recorder_counts.h"
#include "actors/recorder/state_chunks.h"
#include "config/problem.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {

class StateWriter {
  public:
    /// Removes what a crash left. Null, with a Problem, if the system refuses an io_uring.
    /// `counters` must outlive the writer.
    [[nodiscard]] static std::unique_ptr<StateWriter> open(std::string folder, std::string feed,
                                                           Consumer<FilledStateChunk> chunks,
                                                           RecorderCounters& counters,
                                                           Problems& problems);
    /// Returns the amount of work done; 0: there is none, or the disk is busy.
    std::size_t step();

    /// The recovery thread has ended: removes a file that is not complete.
    void finish();

  private:
    enum class Doing : std::uint8_t { nothing, writing, syncing };

    StateWriter(std::string folder, std::string feed, Consumer<FilledStateChunk> chunks,
                RecorderCounters& counters, std::unique_ptr<DiskQueue> disk);

    void begin(const FilledStateChunk& chunk);
    void begin_write(const FilledStateChunk& chunk, std::span<std::byte> bytes);
    void add(Doing doing, std::span<const std::byte> bytes);
    void ended(int result);
    void complete();
    void release();
    void give_up(int error);

    std::string folder_;
    std::string feed_;
    Consumer<FilledStateChunk> chunks_;
    RecorderCounters& counters_;
    std::unique_ptr<DiskQueue> disk_;
    nic::FileDescriptor file_;  ///< not valid: chunks are dropped
    std::string path_;
    std::int64_t begin_ns_ = 0;
    std::uint64_t offset_ = 0;  ///< where the next bytes go
    std::uint32_t next_number_ = 0;
    std::uint64_t series_ = 0;
    std::vector<std::byte> mark_;           ///< the file's head, or its end
    std::span<const std::byte> unwritten_;  ///< of the present chunk
    Doing doing_ = Doing::nothing;
};

}  // namespace pinstrike::actors
