// path: cold
//
// The feed as processes beside it read it: attaches to the published memory as any reader does, and
// again after the feed has ended. Events of a series without an id are held until it has one.
#pragma once

#include "actors/publish/pinstrike.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace pinstrike::actors {

/// Which state some values belong to.
struct StatePart {
    bool is_fresh = false;    ///< of another start of the feed than before: nothing known is left
    bool begins = true;       ///< the state of a core is read anew
    bool is_complete = true;  ///< no more of it follows
    std::uint16_t core = 0;   ///< if it is not fresh
};

/// What comes from the feed.
class FeedEvents {
  public:
    virtual ~FeedEvents() = default;
    /// The state of series, read anew. `fresh`: of all series of a new start; else of some series
    /// of a core. `complete`: no other part follows.
    virtual void on_state(std::span<const pinstrike_value> values, StatePart part) = 0;
    virtual void on_event(const pinstrike_record& record) = 0;

    /// Events were read, or have got the id of their series. The first was received at
    /// `received_ns` (0: unknown). on_event() follows for each of them.
    virtual void on_batch(std::int64_t received_ns) { static_cast<void>(received_ns); }

    /// An event of this series follows soon; 0: of none.
    virtual void prefetch_ahead(std::uint32_t id) { static_cast<void>(id); }

    /// An event was dropped: too many wait for the id of their series, or its series had none for
    /// too long.
    virtual void on_dropped() {}

    /// This reader was too slow for some records; on_state() follows.
    virtual void on_missed(std::uint64_t records) = 0;
    /// The feed is gone or not there yet. What is known of it is old.
    virtual void on_lost(const std::string& why) = 0;

    /// The feed goes on after on_lost(), without another start.
    virtual void on_found() {}
};

class FeedSource {
  public:
    /// `roots`: the underlyings to read; none: all.
    FeedSource(std::string feed, std::vector<std::string> roots, FeedEvents& events);

    /// Reads what has arrived, at most one batch. Returns the number of events.
    std::size_t poll(std::int64_t now_ns);

    [[nodiscard]] bool is_live() const { return live_; }

    /// The id of a series in the feed; 0: it has none.
    [[nodiscard]] std::uint32_t id_of(const pinstrike_key& key) {
        return feed_ ? feed_->id_of(key) : 0;
    }

    /// Drops the events that wait for the id of their series: none will be read any more, or their
    /// start of the feed has ended.
    void drop_waiting();

    /// Events that wait for the id of their series.
    [[nodiscard]] std::size_t waiting() const { return waiting_count_; }

  private:
    static constexpr std::size_t batch_records = 1024;

    /// Events of one series.
    struct Waiting {
        pinstrike_key key;
        std::int64_t since_ns;
        std::vector<pinstrike_record> records;
    };

    void attach();
    void begin();
    void lose(const std::string& why);
    void check_condition(bool all_read);
    void give(const pinstrike_record& record);
    void keep_waiting(const pinstrike_record& record);
    void look_for_ids();
    void end_waiting(const Waiting& waiting, std::uint32_t id);

    std::string name_;
    client::filter filter_;
    FeedEvents& events_;
    std::optional<client::feed> feed_;
    std::optional<client::stream> stream_;
    bool live_ = false;
    bool ending_ = false;  ///< it has ended or died, and events may be left to read
    std::string lost_why_;
    std::int64_t attached_ns_ = 0;  ///< when it was tried the last time
    std::int64_t checked_ns_ = 0;
    std::int64_t looked_for_ids_ns_ = 0;
    std::unordered_map<std::string, Waiting> waiting_;  ///< by the bytes of the key without its id
    std::deque<std::string> to_look_for_;               ///< the keys of waiting_, the next first
    std::size_t waiting_count_ = 0;
    std::int64_t now_ns_ = 0;
};

}  // namespace pinstrike::actors
