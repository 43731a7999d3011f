// path: cold
//
// Reads the records of a snapshot.
#pragma once

#include "actors/core/state_record.h"
#include "actors/peer/frames.h"
#include "feed/recording/state_file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// The record of a frame of a snapshot. Nothing if the frame is another one, is malformed, or has
/// values that no book can have.
[[nodiscard]] std::optional<StateRecord> read_state_frame(const peer::Frame& frame);

/// The records of the frames of a chunk. Nothing if a frame is malformed, is not one of a snapshot,
/// or has values that no book can have, and if there are more or fewer than `count`.
[[nodiscard]] std::optional<std::vector<StateRecord>> read_state_frames(
    std::span<const std::byte> frames, std::size_t count);

class SnapshotReader {
  public:
    explicit SnapshotReader(feed::StateFile file) : file_(std::move(file)) {}

    /// The records of the next chunk, valid until the next call; empty behind the last one, and
    /// from the first damaged one on.
    [[nodiscard]] std::span<const StateRecord> next();

    /// Wall time after the books gave the records of that chunk.
    [[nodiscard]] std::int64_t end_ns() const { return end_ns_; }

    [[nodiscard]] const feed::StateFile& file() const { return file_; }

    /// Why the file is damaged. Once next() returned nothing it is empty only for a whole file.
    [[nodiscard]] const std::string& damage() const {
        return damage_.empty() ? file_.damage() : damage_;
    }

  private:
    feed::StateFile file_;
    std::vector<StateRecord> records_;
    std::int64_t end_ns_ = 0;
    std::string damage_;
};

}  // namespace pinstrike::actors
