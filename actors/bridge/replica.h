// path: cold
//
// A copy of a feed in shared memory of this host: the books of its cores, which get the state and
// the events of the serving host, and publish them as a feed does. Nobody can attach before the
// state is complete; until then the memory of the state before stays.
#pragma once

#include "actors/book/book.h"
#include "actors/bridge/bridge_counts.h"
#include "actors/bridge/frames.h"
#include "actors/publish/publish_config.h"
#include "actors/publish/publisher.h"
#include "config/problem.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace pinstrike::actors::bridge {

/// The shape of the serving feed's memory.
struct ReplicaShape {
    StartBody body;
    std::vector<std::string> cores;  ///< names
};

class Replica {
  public:
    /// `name`: under which it is published here. Null, with problems.
    [[nodiscard]] static std::unique_ptr<Replica> make(const ReplicaShape& shape,
                                                       const std::string& name,
                                                       PublishMemory memory, JoinCounters& counters,
                                                       Problems& problems);

    /// Bytes of its memory.
    [[nodiscard]] static std::size_t bytes_for(const ReplicaShape& shape);

    [[nodiscard]] std::size_t cores_count() const { return books_.size(); }

    /// State of a core, before it is published.
    void take_line(std::size_t core, const LineBody& line);
    void take_series(std::size_t core, const SeriesBody& series);

    /// Applies an event, unless the state already includes it. Returns false if it did.
    bool apply_at(std::size_t core, const feed::Event& event, std::uint64_t stamp);

    /// The state of a core is complete; its clock on the serving host.
    void set_clock(std::size_t core, const FrameHeader& ready);

    /// The state of all cores is complete: programs can attach. False, with a problem: they cannot.
    [[nodiscard]] bool publish(Problems& problems);

    [[nodiscard]] bool is_published() const { return published_; }

    /// Applies and publishes whole messages.
    void apply(std::size_t core, std::span<const feed::Event> records);

    /// The stamp of the latest event of a core.
    [[nodiscard]] std::uint64_t stamp(std::size_t core) const {
        return books_[core]->entries().clock.stamp();
    }

    /// To be called about every millisecond, with wall_ns(): readers compare it with their clock.
    void run_timers(std::int64_t now_ns);

    /// Series of a core whose ids are to be asked for, a few hundred at most: new ones first, and
    /// one without an answer again after a quarter of a second.
    [[nodiscard]] std::vector<feed::SeriesKey> without_id(std::size_t core, std::int64_t now_ns);

    /// An answer; 0: the serving host has not given an id yet.
    void set_id(std::size_t core, const feed::SeriesKey& key, std::uint32_t id);

  private:
    struct Wanted {
        feed::SeriesKey key;
        std::int64_t due_ns = 0;  ///< when to ask, or to ask again
    };

    /// Which series of a core have no id, as far as its directory was looked at.
    struct IdPass {
        std::uint32_t known = 1;  ///< the first record that was never looked at
        std::uint32_t at = 1;     ///< the next record of the pass over all records
        std::unordered_map<std::uint32_t, Wanted> wanted;  ///< by record
    };

    explicit Replica(JoinCounters& counters) : counters_(counters) {}

    void want_id(std::size_t core, std::uint32_t index);

    JoinCounters& counters_;
    std::unique_ptr<Publisher> publisher_;  ///< outlives the books, whose memory it has
    std::vector<std::unique_ptr<Book>> books_;
    std::vector<IdPass> id_passes_;  ///< by core
    bool published_ = false;
};

}  // namespace pinstrike::actors::bridge
