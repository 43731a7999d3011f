// path: cold
//
// The states of a hole: open (the other stream may still fill it), requested (from one source after
// the other), and then found or given up. The arbiters' notes report missing and found numbers.
//
// This is a pure state machine: one thread steps it with a time that never decreases. All sizes are
// bounded: ranges per line, requests in flight, and requests and messages per second. A number is
// requested from one source at a time. If all sources failed, recovery begins again with the first
// after a pause, which doubles each time, until the hole is given up.
#pragma once

#include "config/counter.h"
#include "config/rows.h"
#include "feed/event/position.h"
#include "feed/recovery/recovery_config.h"
#include "feed/recovery/repair.h"
#include "feed/recovery/token_bucket.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace pinstrike::feed {

// clang-format off
#define PINSTRIKE_RECOVERY_COUNTS(ROW) \
    ROW(holes, ranges, "ranges of numbers noted missing") \
    ROW(missing, messages, "numbers noted missing") \
    ROW(filled, messages, "missing numbers found before they were requested") \
    ROW(repaired, messages, "missing numbers found after they were requested") \
    ROW(abandoned, messages, "missing numbers given up after they were requested") \
    ROW(never_asked, messages, \
        "missing numbers given up before the budget or a source allowed a request") \
    ROW(untracked, messages, "missing numbers that did not fit in a line's list of ranges") \
    ROW(open, messages, "missing numbers still being recovered") \
    ROW(in_flight, requests, "requests that are not yet answered") \
    ROW(requests, requests, "requests that a source accepted") \
    ROW(requested, messages, "messages requested, counted in each request") \
    ROW(answered, requests, \
        "requests that ended because none of their messages was missing any more") \
    ROW(postponed, requests, "requests postponed because the budget of the second was used up") \
    ROW(repairs, blocks, "blocks received from sources") \
    ROW(repairs_dropped, blocks, \
        "blocks received from sources that did not fit in the ring to the poller")
// clang-format on

PINSTRIKE_ROWS(RecoveryCount, PINSTRIKE_RECOVERY_COUNTS)

using RecoveryCounters = Counters<RecoveryCount, RecoveryCount_count>;
using RefusalCounters = Counters<Refusal, Refusal_count>;

/// Passes repair blocks from the sources to the arbiter of the line.
class RepairSink {
  public:
    virtual ~RepairSink() = default;
    /// Copies a block; false: there is not enough space for it.
    [[nodiscard]] virtual bool carry(std::uint16_t line, std::span<const std::byte> bytes) = 0;
};

class Recovery final : private RepairAnswers {
  public:
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();
    static constexpr std::size_t in_flight_max = 256;

    /// `lines`: the numbers of the lines; notes name a line by its index here. `sources` must not
    /// be empty; requests go to the first, then to the next in this order.
    Recovery(const RecoveryConfig& config, std::span<const std::uint16_t> lines,
             std::vector<std::unique_ptr<RepairSource>> sources, RepairSink& sink,
             const Numbering& numbering);

    // The notes of the arbiters. `line` is an index into the lines of the constructor.

    void missing(std::size_t line, Position begin, Position end, std::int64_t ts_before_ns,
                 std::int64_t ts_behind_ns, std::int64_t now_ns);
    void found(std::size_t line, Position begin, Position end);

    /// Steps the sources, gives up old holes and sends due requests. Returns how much was done; 0:
    /// the thread may sleep.
    std::size_t step(std::int64_t now_ns);

    /// The time when step() next has work, apart from answers of the sources.
    [[nodiscard]] std::int64_t next_deadline_ns() const;

    /// Gives up all open ranges; no further requests are sent.
    void finish();

    [[nodiscard]] const RecoveryCounters& counters() const { return counters_; }

    [[nodiscard]] std::size_t sources_count() const { return sources_.size(); }

    [[nodiscard]] const RepairSource& source(std::size_t i) const { return *sources_[i].source; }

    /// Requests that source `i` did not fulfil, by reason.
    [[nodiscard]] const RefusalCounters& refused(std::size_t i) const {
        return sources_[i].refused;
    }

    [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }

  private:
    using RequestId = std::uint64_t;
    static constexpr RequestId none = 0;

    /// Consecutive numbers in one state; the key in the map is the first.
    struct Range {
        Position end = 0;
        std::int64_t ts_before_ns = 0;
        std::int64_t ts_behind_ns = 0;
        std::int64_t give_up_ns = 0;
        std::int64_t ask_ns = 0;   ///< when to send a request, if none is in flight
        RequestId request = none;  ///< the request in flight
        std::size_t source = 0;    ///< index of the source of that request, or of the next one
        unsigned round = 0;        ///< times that all sources failed
        bool asked = false;        ///< at least one request was sent
    };

    using Ranges = std::map<Position, Range>;

    struct Line {
        std::uint16_t number;
        Ranges ranges;
    };

    struct Request {
        std::size_t line;
        std::size_t source;
        Position begin;
        Position end;
        std::uint64_t open;  ///< messages that are still missing
        std::int64_t deadline_ns;
        Refusal at_deadline;  ///< why it counts as failed at the deadline
    };

    struct Source {
        std::unique_ptr<RepairSource> source;
        RefusalCounters refused;
    };

    /// A range in a queue that is ordered by time.
    struct Entry {
        std::int64_t when_ns;
        std::size_t line;
        Position begin;
        auto operator<=>(const Entry&) const = default;
    };

    // RepairAnswers
    void block(std::uint16_t line, std::span<const std::byte> bytes) override;
    void finished(std::uint64_t id) override;
    void refused(std::uint64_t id, Refusal reason) override;

    void add(std::size_t line, Position begin, const Range& range);
    Ranges::iterator end(std::size_t line, Ranges::iterator range, RecoveryCount outcome);
    Ranges::iterator give_up(std::size_t line, Ranges::iterator range);
    void cut(std::size_t line, Position at);
    void leave_request(RequestId id, std::uint64_t messages, RecoveryCount outcome);
    std::size_t give_up_old();
    std::size_t end_late_requests();
    std::size_t ask_what_is_due();
    bool ask(std::size_t line, Ranges::iterator first);
    [[nodiscard]] RepairRequest request_of(std::uint16_t line, Ranges::iterator first,
                                           Ranges::iterator last);
    bool send(std::size_t line, std::size_t source, Position begin, const RepairRequest& request);
    [[nodiscard]] bool allowed(std::uint32_t messages);
    [[nodiscard]] Ranges::iterator end_of_request(Line& line, Ranges::iterator first) const;
    void go_on(Range& range) const;
    void reopen(RequestId id, Refusal reason);
    void schedule(std::size_t line, Ranges::iterator range);
    void unschedule(std::size_t line, Ranges::iterator range);

    RecoveryConfig config_;
    Numbering numbering_;
    std::vector<Line> lines_;
    std::deque<Source> sources_;
    RepairSink& sink_;
    TokenBucket requests_budget_;
    TokenBucket messages_budget_;
    std::map<RequestId, Request> in_flight_;
    std::set<Entry> to_ask_;      // all ranges without a request in flight
    std::set<Entry> to_give_up_;  // all ranges
    RequestId last_id_ = none;
    std::int64_t now_ns_ = 0;
    std::int64_t budget_from_ns_ = 0;  // no request before this time: the budget is spent
    RecoveryCounters counters_;
};

}  // namespace pinstrike::feed
