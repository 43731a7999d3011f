// path: cold
//
// Frames that a port of captures replays although they are in no capture file of their own, such as
// those of a part of a recording.
#pragma once

#include "config/problem.h"
#include "nic/capture/capture_reader.h"

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

    /// The next frame, in the order of their times, valid until the next call. False: there is
    /// none, or none yet.
    [[nodiscard]] virtual bool next(CapturedFrame& out) = 0;

    /// After next() returned false: the time of the earliest frame that may come yet. nullopt: none
    /// comes.
    [[nodiscard]] virtual std::optional<std::int64_t> waits_from() const { return std::nullopt; }

    /// What could not be read so far, in sentences.
    [[nodiscard]] virtual std::vector<std::string> unread() const = 0;

    /// What else is missing in what was read so far, in sentences.
    [[nodiscard]] virtual std::vector<std::string> missing() const = 0;

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
    [[nodiscard]] virtual std::unique_ptr<FrameStream> open(Problems& problems) const = 0;

  protected:
    FrameStreams() = default;
    FrameStreams(const FrameStreams&) = delete;
    FrameStreams& operator=(const FrameStreams&) = delete;
};

}  // namespace pinstrike::nic
