// path: cold
//
// A stream of a feed's events that begins with the state of its series.
//
// For each core: note the position and stamp of its stream, copy its lines, read its series, then
// continue with the events behind that position, without those whose stamp the state of their
// series already includes. The lines are copied first because nothing marks what a copy of a line
// includes. If the copy has an event of a line that is newer than the position, both are taken
// again.
//
// All of this is done again for a core whose events the reader missed. The ring must not overrun
// the reader again meanwhile, however many series there are. So the series are read in parts, each
// when the reader has taken all events that have come. An event of a series whose state is not read
// yet is passed over: the state that is read later includes it, because a book applies an event
// before it publishes it. A series that is in no list, because it came after its list was taken, is
// noted at its first event and read behind the lists. So the ring only has to hold what comes while
// one part is read, and a reader that is faster than its events comes to the end.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/core_cursor.h"
#include "actors/publish/reader/feed_reader.h"
#include "actors/publish/reader/filter.h"
#include "actors/publish/reader/follower.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::reader {

class EventStream {
  public:
    /// About one or two milliseconds of reading.
    static constexpr std::size_t part_series_default = 8192;

    /// Throws Error. `part_series`: how many series a part of a state has at least, if there are so
    /// many.
    EventStream(std::unique_ptr<FeedReader> feed, Filter filter,
                std::size_t part_series = part_series_default);

    [[nodiscard]] const std::vector<pinstrike_value>& snapshot() const { return snapshot_; }

    /// Takes events that have arrived. Returns how many. Throws Error.
    std::size_t poll(std::span<pinstrike_record> records);

    /// As the results of pinstrike_wait().
    enum class Wait : std::int8_t { over = -1, timeout, events };

    /// Waits for events. Throws Error.
    Wait wait(std::int64_t timeout_ns);

  private:
    /// An event that the user gets unless its series says otherwise.
    struct Found {
        const feed::Event* event;
        std::uint64_t stamp;
        std::uint64_t hash;  ///< of its series
    };

    /// What the stream keeps of a core.
    struct Core {
        explicit Core(const CoreView& view) : cursor(view) {}

        CoreCursor cursor;
        Follower follower;
        std::array<Found, 32> found;  ///< few, so that their slots stay in the level 1 cache
        std::size_t found_count = 0;
        std::size_t next_found = 0;

        Tail began;  ///< where its state was begun to be read
        std::vector<std::uint64_t> roots;
        std::size_t next_root = 0;         ///< the first whose series are not read
        std::vector<feed::SeriesKey> met;  ///< series whose first event came before their state
        bool reads_state = false;          ///< roots or met are left
        bool full = false;                 ///< a series has no room in the follower any more
        bool over = false;                 ///< the state is of a writer that has ended
    };

    std::size_t fill(std::span<pinstrike_record> records);
    std::size_t take(Core& core, std::span<pinstrike_record> records);
    std::size_t find(Core& core);
    bool deliver(Core& core, const Found& found, pinstrike_record& record);
    bool deliver_of_series(Core& core, const Found& found, pinstrike_record& record);
    [[nodiscard]] bool comes_from(const Core& core, const feed::Event& event) const;
    FollowedSeries* follow(Core& core, const Found& found);
    static void look_for_id(const Core& core, FollowedSeries& series, std::uint64_t stamp);
    FollowedSeries* meet(Core& core, const feed::SeriesKey& key, std::uint64_t hash);
    void begin();
    bool try_begin();
    void begin_core(Core& core);
    void read_part(Core& core, std::size_t enough);
    void read_met(Core& core, std::size_t enough);
    void take_state(Core& core, const feed::SeriesKey& key, ReadResult result,
                    const SeriesParts& parts);
    bool renew(Core& core, pinstrike_kind kind, pinstrike_record& notice);
    bool attach_again();

    std::unique_ptr<FeedReader> feed_;
    Filter filter_;
    std::size_t part_series_;
    std::uint64_t attachment_ = 0;  ///< of the feed, that the cores are of
    std::shared_ptr<const Mapping> mapping_;
    std::vector<std::unique_ptr<Core>> cores_;
    std::size_t next_core_ = 0;
    std::vector<pinstrike_value> snapshot_;
    bool snapshot_is_new_ = false;  ///< the present call has read a part of it
    bool has_more_ = false;         ///< the latest call passed over as many events as it may
    std::deque<std::string> texts_;
    std::int64_t look_due_ns_ = 0;               ///< when to look for another start
    std::array<pinstrike_record, 64> waited_{};  ///< found by wait() for poll()
    std::size_t waited_count_ = 0;
    std::size_t waited_taken_ = 0;
};

}  // namespace pinstrike::reader
