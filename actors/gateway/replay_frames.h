// path: cold
//
// What a process that replays a recording for a client sends to the gateway: frames in a pipe. Both
// ends are the same program on one host, so integers are in its byte order.
#pragma once

#include "actors/publish/pinstrike.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::gateway {

/// A place on a line: the event that came last.
struct EventPlace {
    std::uint16_t line = 0;
    std::uint32_t sequence = 0;
    std::int64_t receive_ns = 0;

    friend bool operator==(const EventPlace&, const EventPlace&) = default;
};

/// Whether an event of the line came no later than a place on it. Numbers begin anew with a reset,
/// so they are compared only where the times are close; packets on hold have earlier times than
/// those before them.
[[nodiscard]] inline bool is_up_to(const EventPlace& event, const EventPlace& place) {
    constexpr std::int64_t close_ns = 10'000'000'000;
    const std::int64_t later_ns = event.receive_ns - place.receive_ns;
    if (later_ns > close_ns || later_ns < -close_ns) {
        return later_ns < 0;
    }
    return static_cast<std::int32_t>(event.sequence - place.sequence) <= 0;
}

struct ReplayFrame {
    enum class Kind : std::uint8_t {
        series,        ///< `key`, with the id that records of it have
        record,        ///< `record`, made from an event of `place`
        interval,      ///< `record`, of an interval that ended at `time_ns`
        interval_end,  ///< all records of an interval that ended at `time_ns` were sent
        place,         ///< all records of events up to `place` were sent
        reached,       ///< all records of events and intervals before `time_ns` were sent
        error,         ///< the replay ends: `code` and `text`
    };

    Kind kind = Kind::series;
    feed::dbn::Schema schema = feed::dbn::Schema::trades;
    bool is_late = false;  ///< a record: its event was delivered behind later ones
    std::uint8_t code = 0;
    EventPlace place;
    std::int64_t time_ns = 0;
    pinstrike_key key{};
    std::span<const std::byte> record{};  ///< whose first byte is its length in units of 4 bytes
    std::string_view text{};
};

inline constexpr std::size_t replay_frame_bytes_max = 1024;

/// Appends a frame. A longer text than fits is cut.
void put_frame(std::vector<std::byte>& out, const ReplayFrame& frame);

/// Takes the first frame off `bytes`; it refers to them. Nothing: the rest is not a whole frame, or
/// malformed, which `is_malformed` says.
[[nodiscard]] std::optional<ReplayFrame> take_frame(std::span<const std::byte>& bytes,
                                                    bool& is_malformed);

/// How many of these bytes are whole frames.
[[nodiscard]] std::size_t whole_frames_bytes(std::span<const std::byte> bytes);

/// Which records of a schema a client wants.
struct ReplayWanted {
    feed::dbn::Schema schema = feed::dbn::Schema::trades;
    std::int64_t start_ns = 0;  ///< 0: all of the day
    bool everything = false;
    std::vector<std::string> roots;
    std::vector<std::string> symbols;
};

/// What the process gets on its standard input, as JSON.
struct ReplayRequest {
    std::string folder;  ///< of the recording
    std::string config;  ///< path of the feed's config; empty: all published lines
    std::vector<ReplayWanted> wanted;
};

[[nodiscard]] std::string to_text(const ReplayRequest& request);

/// Nothing if it is malformed.
[[nodiscard]] std::optional<ReplayRequest> parse_replay_request(const std::string& text);

}  // namespace pinstrike::actors::gateway
