// path: cold
//
// A copy of a feed in shared memory of this host: the books of its cores, which get the state and
// the events of the serving host, and publish them as a feed does. Nobody can attach before the
// state is complete.
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
    [[nodiscard]] static std::unique_ptr<Replica> make(const ReplicaShape& shape, std::string name,
                                                       PublishMemory memory, JoinCounters& counters,
                                                       Problems& problems);

    /// Bytes of its memory.
    [[nodiscard]] static std::size_t bytes_for(const ReplicaShape& shape);

    [[nodiscard]] std::size_t cores_count() const { return books_.size(); }

    /// State of a core, before it is published.
    void take_line(std::size_t core, const LineBody& line);
    void take_series(std::size_t core, const SeriesBody& series);

    /// An event that the state may include. False: it does.
    bool apply_at(std::size_t core, const feed::Event& event, std::uint64_t stamp);

    /// The state of a core is complete; its clock on the serving host.
    void set_clock(std::size_t core, const FrameHeader& ready);

    /// The state of all cores is complete: programs can attach.
    void publish();

    [[nodiscard]] bool is_published() const { return published_; }

    /// Whole messages.
    void apply(std::size_t core, std::span<const feed::Event> records);

    /// To be called about every millisecond.
    void run_timers(std::int64_t now_ns);

    /// Series of a core that have no id: at most `max`, others at each call.
    [[nodiscard]] std::vector<feed::SeriesKey> without_id(std::size_t core, std::size_t max);

    void set_id(std::size_t core, const feed::SeriesKey& key, std::uint32_t id);

  private:
    explicit Replica(JoinCounters& counters) : counters_(counters) {}

    JoinCounters& counters_;
    std::unique_ptr<Publisher> publisher_;  ///< outlives the books, whose memory it has
    std::vector<std::unique_ptr<Book>> books_;
    std::vector<std::uint32_t> looked_at_;  ///< by core: records of the directory
    bool published_ = false;
};

}  // namespace pinstrike::actors::bridge
