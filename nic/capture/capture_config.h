// path: cold
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::nic {

class FrameStreams;
class ReplayGate;

/// Replay pace of captures: 0 is as fast as possible, 1 is real time, 2.5 is 2.5 times as fast.
struct Pace {
    double factor = 0;
};

/// Parses "max", "real", or a factor such as "x2.5". nullopt if the text is none of these.
[[nodiscard]] std::optional<Pace> parse_pace(const std::string& text);

/// A replay of a part. No config file can name one.
struct CapturePart {
    std::shared_ptr<const FrameStreams> frames;
    std::shared_ptr<ReplayGate> gate;  ///< null: nothing is held back
    /// The pace begins at this time. Earlier frames are replayed as fast as possible.
    std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
};

/// The keys of a port of captures.
struct CaptureConfig {
    std::vector<std::string> files;
    Pace pace;
    CapturePart part{};  ///< of these files; without frames: all of them
};

}  // namespace pinstrike::nic
