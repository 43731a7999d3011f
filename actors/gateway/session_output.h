// path: cold
//
// What a session sends: its queue, the records about the session itself (errors, acknowledgements,
// heartbeats), and what happens when the client reads too slowly.
#pragma once

#include "actors/gateway/output_queue.h"
#include "actors/gateway/protocol.h"
#include "actors/gateway/session_counts.h"
#include "feed/dbn/records.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pinstrike::actors::gateway {

/// Codes of error records.
enum class ErrorCode : std::uint8_t {
    key_deactivated = 2,
    symbol_failed = 4,
    invalid_subscription = 5,
    internal = 6,
    skipped = 7,
};

/// Codes of system records.
enum class SystemCode : std::uint8_t {
    heartbeat = 0,
    subscribed = 1,
    slow_reader = 2,
    replay_completed = 3,
    interval_ended = 4,
    unsubscribed = 5,
};

/// Whether there is a present state of a series that replaces records of it.
[[nodiscard]] constexpr bool has_values(feed::dbn::Schema schema) {
    using feed::dbn::Schema;
    return schema == Schema::cmbp_1 || schema == Schema::mbp_1 || schema == Schema::cbbo_1s ||
           schema == Schema::cbbo_1m;
}

struct OutputSettings {
    bool ts_out = false;
    bool zstd = false;
    SlowReader slow_reader = SlowReader::skip;
    unsigned heartbeat_seconds = 30;
    std::uint64_t records_per_second = 0;  ///< 0: no limit
    std::size_t queue_bytes = std::size_t{16} << 20;
};

class SessionOutput {
  public:
    /// Below this size of its queue a client is current: no more records are skipped, and more
    /// state is sent.
    static constexpr std::size_t current_bytes = std::size_t{256} << 10;

    explicit SessionOutput(ChunkPool& chunks) : queue_(chunks) {}

    /// Text lines, before the start.
    void put_line(std::string_view line);

    /// From now on everything is DBN; the metadata comes first.
    void start(const OutputSettings& settings, std::int64_t now_ns);

    /// Counts a record that the client asked for. True if it may be put now.
    [[nodiscard]] bool admit(feed::dbn::Schema schema);

    /// A record that may not be skipped did not fit into the queue: the session has to end.
    [[nodiscard]] bool overflowed() const { return overflowed_; }

    /// Puts a record that admit() lets pass.
    void put(std::span<const std::byte> record);

    /// Puts a mapping or state, which count for the key's rate.
    void put_own(std::span<const std::byte> record);
    void put_system(SystemCode code, std::string_view text);
    void put_interval_end(feed::dbn::Schema schema, std::int64_t end_ns);
    /// `is_last`: no other error about the same request follows.
    void put_error(ErrorCode code, std::string_view text, bool is_last = true);

    void count(SessionCount which) { counters_.bump(which); }

    /// To be called often: heartbeats, and the end of a time of skipped records.
    void step(std::int64_t now_ns);

    [[nodiscard]] bool is_skipping() const { return skipping_ || limited_; }

    /// Records that the key's rate still allows in this second.
    [[nodiscard]] std::size_t rate_left() const;

    [[nodiscard]] OutputQueue& queue() { return queue_; }

    [[nodiscard]] bool is_current() const { return queue_.bytes() < current_bytes; }

    /// The time of records that are put from now on.
    void set_time(std::int64_t now_ns, std::int64_t event_ns) {
        now_ns_ = now_ns;
        event_ns_ = event_ns;
    }

    [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }

    /// With the figures of the queue brought up to date.
    [[nodiscard]] const SessionCounters& counters();

    /// Counts what is still in the queue as not sent.
    void give_up();

  private:
    [[nodiscard]] bool is_skippable(feed::dbn::Schema schema) const;
    [[nodiscard]] bool is_above_rate();
    void put_always(std::span<const std::byte> record);

    OutputQueue queue_;
    OutputSettings settings_;
    SessionCounters counters_;
    std::int64_t now_ns_ = 0;
    std::int64_t event_ns_ = 0;  ///< when the event of records was received; 0: they are of none
    std::int64_t last_put_ns_ = 0;
    std::int64_t warned_ns_ = 0;
    bool skipping_ = false;
    bool overflowed_ = false;
    bool limited_ = false;  ///< the rate of the key is used up in this second
    std::uint64_t skipped_now_ = 0;
    std::int64_t rate_second_ = 0;
    std::uint64_t rate_records_ = 0;
};

}  // namespace pinstrike::actors::gateway
