// path: cold
//
// The joining side, without its socket: frames of the serving host go in, frames for it come out.
// It lives across connections and knows what was not carried between them.
//
// Each state that arrives becomes new published memory, as of a feed that starts anew: readers of
// the earlier one find it ended, and attach to the new one as soon as it is complete.
//
// Times are of a clock that is never set, such as runtime::steady_ns().
#pragma once

#include "actors/bridge/bridge_counts.h"
#include "actors/bridge/bridge_note.h"
#include "actors/bridge/carried.h"
#include "actors/bridge/frames.h"
#include "actors/bridge/replica.h"
#include "actors/publish/publish_config.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors::bridge {

struct JoinConfig {
    std::string name;                  ///< under which the feed is published here
    std::vector<std::string> roots{};  ///< empty: all
    std::uint32_t kinds = ~0U;         ///< bit per EventKind
    PublishMemory memory = PublishMemory::shm;
    std::size_t memory_max_bytes = std::size_t{4} << 30;
};

class Joiner {
  public:
    Joiner(JoinConfig config, JoinCounters& counters, NoteBridge note)
        : config_(std::move(config)),
          counters_(counters),
          note_(std::move(note)),
          carried_(counters) {}

    ~Joiner();
    Joiner(const Joiner&) = delete;
    Joiner& operator=(const Joiner&) = delete;

    /// A connection was opened to the serving host, whose address is for the log.
    void connect(std::string address, std::int64_t now_ns);

    [[nodiscard]] std::span<std::byte> space() { return link_->reader.space(); }

    void receive(std::size_t bytes, std::int64_t now_ns);

    /// Timers, and frames for the other side. Returns how much it did.
    std::size_t step(std::int64_t now_ns);

    [[nodiscard]] std::span<const std::byte> output() const { return link_->writer.waiting(); }

    void sent(std::size_t bytes) { link_->writer.sent(bytes); }

    enum class End : std::uint8_t { none, left, refused, down };

    /// How the connection ended; the caller closes it and calls disconnect().
    [[nodiscard]] End end() const { return end_; }

    [[nodiscard]] const std::string& why() const { return why_; }

    /// A clean end from this side; the output is still to be sent.
    void leave(const std::string& why);

    /// The socket failed.
    void lose(const std::string& why) { finish(End::down, why); }

    /// The connection is closed: readers here learn that the feed has ended.
    void disconnect();

    [[nodiscard]] bool is_live() const { return replica_ && replica_->is_published(); }

    /// What has come, and what has not.
    [[nodiscard]] const Carried& carried() const { return carried_; }

  private:
    /// What belongs to one connection.
    struct Link {
        FrameReader reader;
        FrameWriter writer;
        std::string address;
        std::uint64_t credited = 0;
        std::int64_t heard_ns = 0;
        std::int64_t spoke_ns = 0;
    };

    void take(const Frame& frame);
    void take_start(const Frame& frame);
    void take_state(const Frame& frame);
    void take_event_at(const Frame& frame);
    void take_ready(const Frame& frame);
    void take_events(const Frame& frame);
    void take_ids(const Frame& frame);
    void publish();
    void put_gaps();
    void end_replica(const std::string& why);
    void ask_ids();
    void fail(const std::string& what);
    void finish(End end, const std::string& why);

    JoinConfig config_;
    JoinCounters& counters_;
    NoteBridge note_;
    std::unique_ptr<Link> link_;
    Carried carried_;
    std::unique_ptr<Replica> replica_;
    std::int64_t now_ns_ = 0;
    std::int64_t gaps_due_ns_ = 0;
    std::int64_t timers_due_ns_ = 0;
    std::int64_t ids_due_ns_ = 0;
    std::uint64_t series_before_ = 0;  ///< JoinCount::series when the present state began
    End end_ = End::none;
    std::string why_;
};

}  // namespace pinstrike::actors::bridge
