// path: hot
//
// The state of a line's streams. An idle line still sends line integrity at least every ten seconds
// (OPRA Control), so a stream without any packet for longer has failed somewhere. Silence counts
// only during the session hours of the line.
#pragma once

#include "config/counter.h"
#include "feed/event/block.h"
#include "feed/event/event.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

struct SilenceConfig {
    std::int64_t silent_after_ns = 12'000'000'000;  ///< one line integrity is late or lost
    std::int64_t down_after_ns = 36'000'000'000;    ///< three line integrities are late or lost
};

/// Which streams a feed receives; the others are not watched.
using StreamsReceived = std::array<bool, streams_count>;
inline constexpr StreamsReceived both_streams{true, true};

/// Watches one line, called by its poller's housekeeping. Any thread may read the state.
///
/// A stream goes from up to stream_silent to stream_down, and with its next packet back to up. The
/// line is down while none of its received streams is up. A stream without any packet yet is up
/// until the same time has passed since the first look().
class LineWatch {
  public:
    explicit LineWatch(const SilenceConfig& config, const StreamsReceived& received = both_streams)
        : config_(config), received_(received) {}

    /// Must be called by the thread that calls look(). Reports nothing: the next look() applies it.
    void configure(const SilenceConfig& config) { config_ = config; }

    /// The time of a look(). Silence is measured in `step_free_ns`, which does not jump when the
    /// wall clock is set.
    struct Moment {
        std::int64_t step_free_ns;
        std::int64_t wall_ns;
    };

    /// `packets`: the packets of each stream so far. `on_air`: whether the line is in its session
    /// hours. Reports each change by report(LineState, stream); the stream is 'A', 'B', or ' ' for
    /// the line.
    template <class Report>
    void look(const Moment& now, const std::array<std::uint64_t, streams_count>& packets,
              bool on_air, Report report) {
        if (on_air != is_watched()) {
            watched_.set(on_air ? 1 : 0);
        }
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
                stream.since_ns = now.step_free_ns;
            }
            const std::int64_t silent_ns = now.step_free_ns - stream.since_ns;
            const LineState state = heard    ? LineState::up
                                    : on_air ? silence(silent_ns, state_of(stream))
                                             : state_of(stream);
            if (state != state_of(stream)) {
                stream.state.set(static_cast<std::uint64_t>(state));
                report(state, static_cast<char>('A' + i));
            }
            down = down && state != LineState::up;
        }
        if (down != this->down()) {
            down_.set(down ? 1 : 0);
            report(down ? LineState::line_down : LineState::up, ' ');
        }
    }

    [[nodiscard]] bool receives(Stream stream) const {
        return received_[static_cast<std::size_t>(stream)];
    }

    [[nodiscard]] LineState state(Stream stream) const {
        return state_of(streams_[static_cast<std::size_t>(stream)]);
    }

    /// No received stream is up.
    [[nodiscard]] bool down() const { return down_.read() != 0; }

    /// Silence counts at present; if not, the states are those at the end of the last session.
    [[nodiscard]] bool is_watched() const { return watched_.read() != 0; }

    /// Wall time of the look() that found the stream's latest packet, since the Unix epoch; 0:
    /// none.
    [[nodiscard]] std::uint64_t heard_ns(Stream stream) const {
        return streams_[static_cast<std::size_t>(stream)].heard_ns.read();
    }

  private:
    struct Watched {
        std::uint64_t packets = 0;
        std::int64_t since_ns = 0;  ///< Moment::step_free_ns at the start of the current silence
        Counter state;              ///< a LineState
        Counter heard_ns;
    };

    [[nodiscard]] static LineState state_of(const Watched& stream) {
        return static_cast<LineState>(stream.state.read());
    }

    /// The state after a silence of this length; never better than the present state, even if the
    /// limits were raised.
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
    Counter watched_;
};

}  // namespace pinstrike::feed
