// path: hot
//
// Which streams of a line are heard. A line with nothing to say still says so at least every ten
// seconds (line integrity, OPRA 6 Control), so a stream that brings no packet at all for longer has
// failed somewhere on its way. Silence counts only while the line's session is on the air.
#pragma once

#include "config/counter.h"
#include "feed/event/block.h"
#include "feed/event/event.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

struct SilenceConfig {
    std::int64_t silent_after_ns = 12'000'000'000;  ///< one line integrity, late or lost
    std::int64_t down_after_ns = 36'000'000'000;    ///< three
};

/// Which streams a feed has: one that no port brings is expected by nobody.
using StreamsReceived = std::array<bool, streams_count>;
inline constexpr StreamsReceived both_streams{true, true};

/// One line, watched by its poller's housekeeping; its state may be read by any thread.
///
/// A stream goes from up to stream_silent to stream_down and, with its next packet, back to up. The
/// line is down while none of the streams that it has is up. Before its first packet a stream is up
/// until the same time has passed since the first look.
class LineWatch {
  public:
    explicit LineWatch(const SilenceConfig& config, const StreamsReceived& received = both_streams)
        : config_(config), received_(received) {}

    /// The thread that looks. A state that has been told stays until it changes.
    void configure(const SilenceConfig& config) { config_ = config; }

    /// Silence is measured by a time that goes on evenly where the wall clock is set.
    struct Moment {
        std::int64_t even_ns;
        std::int64_t wall_ns;
    };

    /// `packets`: of each stream, so far. `on_air`: whether the line's session is on. What has
    /// changed is told as tell(LineState, stream), 'A', 'B' or, of the line as a whole, ' '.
    template <class Tell>
    void look(const Moment& now, const std::array<std::uint64_t, streams_count>& packets,
              bool on_air, Tell tell) {
        bool down = true;
        for (std::size_t i = 0; i < streams_count; ++i) {
            if (!received_[i]) {
                continue;
            }
            Watched& stream = streams_[i];
            const bool heard = packets[i] != stream.packets;
            stream.packets = packets[i];
            if (heard) {
                stream.heard_ns.set(static_cast<std::uint64_t>(now.wall_ns));
            }
            if (heard || !on_air || stream.since_ns == 0) {
                stream.since_ns = now.even_ns;
            }
            const std::int64_t silent_ns = now.even_ns - stream.since_ns;
            const LineState state = heard    ? LineState::up
                                    : on_air ? silence(silent_ns, state_of(stream))
                                             : state_of(stream);
            if (state != state_of(stream)) {
                stream.state.set(static_cast<std::uint64_t>(state));
                tell(state, static_cast<char>('A' + i));
            }
            down = down && state != LineState::up;
        }
        if (down != this->down()) {
            down_.set(down ? 1 : 0);
            tell(down ? LineState::line_down : LineState::up, ' ');
        }
    }

    [[nodiscard]] bool receives(Stream stream) const {
        return received_[static_cast<std::size_t>(stream)];
    }

    [[nodiscard]] LineState state(Stream stream) const {
        return state_of(streams_[static_cast<std::size_t>(stream)]);
    }

    /// Is neither stream up?
    [[nodiscard]] bool down() const { return down_.read() != 0; }

    /// The look that found the stream's latest packet, since the Unix epoch; 0: never heard.
    [[nodiscard]] std::uint64_t heard_ns(Stream stream) const {
        return streams_[static_cast<std::size_t>(stream)].heard_ns.read();
    }

  private:
    struct Watched {
        std::uint64_t packets = 0;
        std::int64_t since_ns = 0;  ///< when the silence began, if there is one
        Counter state;              ///< a LineState
        Counter heard_ns;
    };

    [[nodiscard]] static LineState state_of(const Watched& stream) {
        return static_cast<LineState>(stream.state.read());
    }

    /// A state does not get better by silence.
    [[nodiscard]] LineState silence(std::int64_t silent_ns, LineState state) const {
        const LineState found = silent_ns >= config_.down_after_ns     ? LineState::stream_down
                                : silent_ns >= config_.silent_after_ns ? LineState::stream_silent
                                                                       : LineState::up;
        return found < state ? state : found;
    }

    SilenceConfig config_;
    StreamsReceived received_;
    std::array<Watched, streams_count> streams_;
    Counter down_;
};

}  // namespace pinstrike::feed
