// path: cold
//
// The serving side of one connection, without its socket: frames of the joining host go in, frames
// for it come out. Times are of a clock that is never set, such as runtime::steady_ns().
#pragma once

#include "actors/bridge/bridge_counts.h"
#include "actors/bridge/feed_sender.h"
#include "actors/bridge/frames.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace pinstrike::actors::bridge {

class ServeSession {
  public:
    ServeSession(std::string feed, ServeCounters& counters)
        : counters_(counters), sender_(std::move(feed), counters, outlet_) {}

    ServeSession(const ServeSession&) = delete;
    ServeSession& operator=(const ServeSession&) = delete;

    /// Where to receive bytes of the other side; receive() takes them.
    [[nodiscard]] std::span<std::byte> space() { return reader_.space(); }

    void receive(std::size_t bytes, std::int64_t now_ns);

    /// Makes the next frames, as far as room and credit allow. Returns how much it did.
    std::size_t produce(std::int64_t now_ns);

    [[nodiscard]] std::span<const std::byte> output() const { return outlet_.writer.waiting(); }

    void sent(std::size_t bytes) {
        outlet_.writer.sent(bytes);
        counters_.bump(ServeCount::bytes, bytes);
    }

    enum class End : std::uint8_t { none, left, refused, down };

    /// How the session ended; its output is still to be sent, unless it is down.
    [[nodiscard]] End end() const { return end_; }

    [[nodiscard]] const std::string& why() const { return why_; }

    /// A clean end from this side.
    void leave(const std::string& why);

    /// The socket failed.
    void lose(const std::string& why) { finish(End::down, why); }

    /// Whether this side sent the last frame. Then the other side closes the connection.
    [[nodiscard]] bool sent_last_frame() const { return sent_last_frame_; }

    /// Bytes that were sent and that the other side has not taken yet.
    [[nodiscard]] std::uint64_t untaken() const { return outlet_.writer.queued() - taken_; }

    /// Whether the first frame was right.
    [[nodiscard]] bool is_greeted() const { return greeted_; }

    /// Whether the other side follows the events.
    [[nodiscard]] bool is_current() const { return sender_.is_current(); }

    /// Why no feed is followed; empty: one is, or nothing was tried yet.
    [[nodiscard]] const std::string& obstacle() const { return sender_.obstacle(); }

  private:
    void take(const Frame& frame);
    void greet(const Frame& frame);
    void take_questions(const Frame& frame);
    void finish(End end, const std::string& why);
    void refuse(const std::string& why);

    ServeCounters& counters_;
    FrameReader reader_;
    Outlet outlet_;
    FeedSender sender_;
    std::uint64_t taken_ = 0;
    bool greeted_ = false;
    std::int64_t heard_ns_ = 0;  ///< 0: produce() has not been called
    std::int64_t spoke_ns_ = 0;
    End end_ = End::none;
    bool sent_last_frame_ = false;
    std::string why_;
};

}  // namespace pinstrike::actors::bridge
