// path: cold
//
// One connection between two peers, without its socket. The session gets bytes and the time and
// produces bytes, and the owner of the socket receives and sends them. Tests, fuzzers and the
// simulation therefore run the code that runs in production.
#pragma once

#include "actors/peer/frames.h"
#include "actors/peer/secret.h"
#include "config/counter.h"
#include "config/rows.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors::peer {

/// The identity of this process. It is the same in all connections of the process.
struct Identity {
    std::string feed;
    Secret secret;
    Instance instance{};
};

struct SessionLimits {
    std::int64_t authenticate_within_ns = 5'000'000'000;
    std::int64_t silent_ns = 15'000'000'000;     ///< until a connection without input ends
    std::int64_t keep_alive_ns = 5'000'000'000;  ///< longest time without sending a frame
    // server
    std::uint32_t requests_per_second = 500;
    std::uint32_t messages_per_second = 200'000;
    /// If more bytes are unsent, requests are refused.
    std::size_t queue_bytes_max = std::size_t{4} << 20;
    std::uint32_t state_series_per_second = 250'000;
    /// Bounds the unsent state. The bound is small, because state gets old while it waits.
    std::size_t state_queue_bytes_max = std::size_t{512} << 10;
    /// Longest time without a frame while the books are read for a state request.
    std::int64_t state_keep_alive_ns = 1'000'000'000;
    // client
    std::size_t in_flight_max = 256;                ///< open requests of one connection
    std::int64_t answer_within_ns = 5'000'000'000;  ///< until a request without full answer fails
    /// A state request fails if neither a frame of state nor `keep_alive` came for so long. A
    /// server whose books stand still sends `keep_alive` every 5 s, which must not be in time.
    std::int64_t state_silent_ns = 4'000'000'000;
};

// clang-format off
#define PINSTRIKE_SESSION_ENDS(ROW) \
    ROW(closed, connections, "the other side closed it, or the network lost it") \
    ROW(silent, connections, "nothing was received for longer than the silence limit") \
    ROW(refused, connections, "the other side is not the expected one, or violates the protocol") \
    ROW(was_refused, connections, "the other side refused it") \
    ROW(stopped, connections, "this instance ended") \
    ROW(gave_way, connections, \
        "the maximum of connections was open, and this one was closed for a newer one before it " \
        "was authenticated")
// clang-format on

/// The reason for the end of a connection.
PINSTRIKE_ROWS(SessionEnd, PINSTRIKE_SESSION_ENDS)

class PeerSession {
  public:
    /// True if both sides are authenticated and the session has not ended.
    [[nodiscard]] bool open() const { return open_ && !end_; }

    /// True if the session has ended. It ignores further input, but pending output should be sent.
    [[nodiscard]] bool ended() const { return end_.has_value(); }

    [[nodiscard]] std::optional<SessionEnd> end() const { return end_; }

    /// The reason for the refusal, if the session ended by one.
    [[nodiscard]] std::optional<PeerRefusal> why() const { return why_; }

    /// The bytes to send.
    [[nodiscard]] std::span<const std::byte> output() const { return writer_.waiting(); }

    void sent(std::size_t count, std::int64_t now_ns) {
        writer_.sent(count);
        sent_ns_ = now_ns;
    }

  protected:
    /// `channel` is copied (see Handshake).
    PeerSession(const Identity& identity, const SessionLimits& limits,
                Counters<SessionEnd, SessionEnd_count>& ends, std::span<const std::byte> channel,
                std::int64_t now_ns)
        : identity_(identity),
          limits_(limits),
          begun_ns_(now_ns),
          received_ns_(now_ns),
          sent_ns_(now_ns),
          ends_(ends),
          channel_(channel.begin(), channel.end()) {
        handshake_.channel = channel_;
        handshake_.feed = identity.feed;
    }

    ~PeerSession() = default;

    [[nodiscard]] bool too_late(std::int64_t now_ns) const {
        return !open_ && !end_ && now_ns - begun_ns_ >= limits_.authenticate_within_ns;
    }

    [[nodiscard]] bool fell_silent(std::int64_t now_ns) const {
        return open() && now_ns - received_ns_ >= limits_.silent_ns;
    }

    /// Sends a keep-alive if nothing was sent for `after_ns`.
    void keep_alive(std::int64_t now_ns, std::int64_t after_ns) {
        if (open() && writer_.waiting().empty() && now_ns - sent_ns_ >= after_ns) {
            writer_.put_keep_alive();
            sent_ns_ = now_ns;
        }
    }

    /// Calls on_frame(frame) for each frame that is complete, until the session ends. Returns why
    /// the connection has to be refused.
    template <class OnFrame>
    [[nodiscard]] std::optional<PeerRefusal> read_frames(std::span<const std::byte> bytes,
                                                         std::int64_t now_ns, OnFrame&& on_frame) {
        received_ns_ = now_ns;
        reader_.push(bytes);
        Frame frame;
        while (!ended()) {
            switch (reader_.next(frame)) {
                case FrameReader::Result::frame:
                    on_frame(frame);
                    break;
                case FrameReader::Result::incomplete:
                    return std::nullopt;
                case FrameReader::Result::malformed:
                    return PeerRefusal::malformed;
                case FrameReader::Result::wrong_version:
                    return PeerRefusal::wrong_version;
            }
        }
        return std::nullopt;
    }

    /// Ends the session, unless it has ended.
    void end_with(SessionEnd end, std::optional<PeerRefusal> why) {
        if (!ended()) {
            end_ = end;
            why_ = why;
            ends_.bump(end);
        }
    }

    const Identity& identity_;
    SessionLimits limits_;
    FrameWriter writer_;
    Handshake handshake_;
    std::int64_t begun_ns_;
    std::int64_t received_ns_;
    std::int64_t sent_ns_;
    bool open_ = false;

  private:
    FrameReader reader_;
    Counters<SessionEnd, SessionEnd_count>& ends_;
    std::vector<std::byte> channel_;
    std::optional<SessionEnd> end_;
    std::optional<PeerRefusal> why_;
};

}  // namespace pinstrike::actors::peer
