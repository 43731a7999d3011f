// path: cold
//
// The feed, as frames for one joining host. It reads the feed's published memory with cursors of
// its own. What waits is in the feed's ring: an event is taken only when there is room and credit
// for it, so a slow joining host costs nothing but its own events.
//
// For each core: note the position of its stream, copy its lines, send its series, and the events
// from that position on. Each event has its stamp, by which the other side knows whether the state
// has it. A state that comes behind an event includes it, because a book applies an event before it
// publishes it, and replaces what the event made of the series. For the same reason a state may
// include events that are published later. So a core has caught up when its events have reached the
// newest stamp of its series. When all cores have, `ready` is sent for each of them. From there on,
// events go out as they are.
#pragma once

#include "actors/bridge/bridge_counts.h"
#include "actors/bridge/frames.h"
#include "actors/publish/reader/core_cursor.h"
#include "actors/publish/reader/mapping.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::bridge {

/// Frames for the other side, and how many bytes it has granted.
struct Outlet {
    FrameWriter writer;
    std::uint64_t granted = 0;  ///< bytes that may be sent in all

    /// Whether the largest frame may be sent, and the last one of the connection behind it. Credit
    /// counts whole frames, so that no frame is begun that may not be sent.
    [[nodiscard]] bool has_room() {
        constexpr std::size_t last_bytes = sizeof(FrameHeader) + text_bytes_max;
        return writer.has_room(body_bytes_max + last_bytes) &&
               granted >= writer.queued() + sizeof(FrameHeader) + body_bytes_max;
    }
};

class FeedSender {
  public:
    FeedSender(std::string feed, ServeCounters& counters, Outlet& outlet)
        : feed_(std::move(feed)), counters_(counters), outlet_(outlet) {}

    /// What the other side wants: a bit per EventKind, and roots as SeriesKey::symbol_word(); none:
    /// all.
    void select(std::uint32_t kinds, std::vector<std::uint64_t> roots);

    /// The other side asks for the id of a series.
    void ask(std::uint16_t core, const feed::SeriesKey& key);

    /// Makes the next frames, as far as room and credit allow. Returns how much it did.
    std::size_t produce(std::int64_t now_ns);

    /// Whether the other side follows the events.
    [[nodiscard]] bool is_current() const;

    /// Why no feed is followed; empty: one is, or nothing was tried yet. The other side knows it.
    [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

  private:
    enum class Stage : std::uint8_t { lines, series, catching_up, current };

    struct Core {
        explicit Core(const reader::CoreView& view) : cursor(view) {}

        reader::CoreCursor cursor;
        Stage stage = Stage::lines;
        std::vector<LineBody> lines;
        std::size_t next_line = 0;
        std::uint32_t next_series = 1;  ///< of the directory
        std::uint64_t newest = 0;       ///< stamp of the newest event that the state may include
        std::uint64_t left_out = 0;     ///< records since the last frame of events
    };

    void look_for_end();
    bool attach();
    [[nodiscard]] std::string open_feed();
    void begin();
    static void note_begin(Core& core);
    void detach(const std::string& why);
    std::size_t step(Core& core);
    std::size_t put_lines(Core& core);
    std::size_t put_series(Core& core);
    std::size_t put_stamped(Core& core);
    std::size_t put_events(Core& core);
    std::size_t put_ready();
    void put_ids();
    void put_event_at(const Core& core, const feed::Event& event, std::uint64_t stamp);
    bool begin_again();
    void clear_unwanted(SeriesBody& series) const;
    [[nodiscard]] bool wants(const feed::Event& event) const;
    [[nodiscard]] bool wants_root(std::uint64_t symbol) const;

    std::string feed_;
    ServeCounters& counters_;
    Outlet& outlet_;
    std::uint32_t kinds_ = ~0U;
    std::vector<std::uint64_t> roots_;  ///< sorted; empty: all
    std::shared_ptr<const reader::Mapping> mapping_;
    std::vector<std::unique_ptr<Core>> cores_;
    bool over_ = false;   ///< the feed has ended, and events may be left
    bool waits_ = false;  ///< another state is to begin, which comes too early
    std::size_t next_core_ = 0;
    std::deque<std::pair<std::uint16_t, feed::SeriesKey>> asked_;  ///< series whose ids are wanted
    std::int64_t now_ns_ = 0;
    std::string obstacle_;
    std::int64_t attach_due_ns_ = 0;
    std::int64_t begin_due_ns_ = 0;  ///< when another state may begin
};

}  // namespace pinstrike::actors::bridge
