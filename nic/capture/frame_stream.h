// path: cold
//
// Where a port of captures gets its frames: files that are merged by time, or a part of a
// recording.
#pragma once

#include "config/problem.h"
#include "nic/capture/capture_reader.h"
#include "nic/capture/group_filter.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::nic {

class FrameStream {
  public:
    virtual ~FrameStream() = default;

    /// The next frame that the queue of this stream delivers, in the order of their times. False:
    /// there is none, or none yet. A frame is valid until the next call; if keeps_frames(), until
    /// the first call after one that returned false.
    [[nodiscard]] virtual bool next(CapturedFrame& out) = 0;

    /// After next() returned false: the time of the earliest frame that may come yet. nullopt: none
    /// comes.
    [[nodiscard]] virtual std::optional<std::int64_t> waits_from() const { return std::nullopt; }

    /// Whether a frame stays valid beyond the next call of next().
    [[nodiscard]] virtual bool keeps_frames() const { return false; }

    /// Whether next() may wait for another program, or returns frames only when they are written.
    /// Then no thread may read ahead.
    [[nodiscard]] virtual bool follows_writer() const { return false; }

    /// The file with this number in CapturedFrame::file.
    [[nodiscard]] virtual std::string path_of(std::uint32_t file) const = 0;

    /// Files or parts of them that could not be read so far.
    [[nodiscard]] virtual std::uint64_t unread_count() const = 0;

    /// What could not be read so far, in sentences.
    [[nodiscard]] virtual std::vector<std::string> unread() const = 0;

    /// What else is missing in what was read so far, in sentences.
    [[nodiscard]] virtual std::vector<std::string> missing() const { return {}; }

  protected:
    FrameStream() = default;
    FrameStream(const FrameStream&) = delete;
    FrameStream& operator=(const FrameStream&) = delete;
};

/// Opens a stream for each queue of a port.
class FrameStreams {
  public:
    virtual ~FrameStreams() = default;

    /// Null, with a Problem, if they cannot be read.
    [[nodiscard]] virtual std::unique_ptr<FrameStream> open(GroupFilter filter,
                                                            Problems& problems) const = 0;

  protected:
    FrameStreams() = default;
    FrameStreams(const FrameStreams&) = delete;
    FrameStreams& operator=(const FrameStreams&) = delete;
};

}  // namespace pinstrike::nic
