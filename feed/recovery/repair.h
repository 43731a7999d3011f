// path: cold
//
// The interface between recovery and the sources of missing messages: the published retransmission
// groups, a peer, or later the venue's own request facility. Recovery sends requests and a source
// answers them; neither depends on the other's threads, sockets or clocks.
//
// All calls come from one thread, with the time passed in. A source reports its answers within its
// step(), never within request(), so no call is re-entered.
#pragma once

#include "config/rows.h"
#include "feed/event/position.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pinstrike::feed {

/// The most messages of one request. The best public model of such a request facility has the same
/// limit.
inline constexpr std::uint32_t repair_messages_max = 1000;

/// Numbers first .. first+messages-1 of a line, as on the wire: a range may span the wrap
/// (position.h). Numbers repeat after a reset, so the request is limited to blocks that
/// the exchange stamped from ts_before_ns to ts_behind_ns, both included.
struct RepairRequest {
    std::uint64_t id = 0;           ///< unique within the process
    std::uint16_t line = 0;         ///< the venue's number of the line
    std::uint64_t first = 0;        ///< never 0
    std::uint32_t messages = 0;     ///< 1 .. repair_messages_max
    std::int64_t ts_before_ns = 0;  ///< of the block before them; the minimum value: not known
    std::int64_t ts_behind_ns = 0;  ///< of a block after them; the maximum value: not known
};

/// Whether a block with numbers first .. first+messages-1 and this time stamp matches the request.
[[nodiscard]] constexpr bool concerns(const RepairRequest& request, std::uint64_t first,
                                      std::uint64_t messages, std::int64_t ts_ns,
                                      const Numbering& numbering) {
    return ts_ns >= request.ts_before_ns && ts_ns <= request.ts_behind_ns &&
           (numbering.distance(request.first, first) < request.messages ||
            numbering.distance(first, request.first) < messages);
}

// clang-format off
#define PINSTRIKE_REFUSALS(ROW) \
    ROW(not_connected, requests, "the source has no connection for the request") \
    ROW(disconnected, requests, "the connection ended before the answer") \
    ROW(busy, requests, "the source has its maximum of requests in flight") \
    ROW(over_budget, requests, "the source has reached its limit of answers for now") \
    ROW(unknown_line, requests, "the source does not have the line") \
    ROW(not_kept, requests, "the source does not have these numbers, or no longer has them") \
    ROW(malformed, requests, "the source did not understand the request") \
    ROW(no_answer, requests, "the source did not answer in time") \
    ROW(incomplete, requests, "the source answered without some of the numbers")
// clang-format on

/// Why a source did not fulfil a request.
PINSTRIKE_ROWS(Refusal, PINSTRIKE_REFUSALS)

/// Receives the answers of a source.
class RepairAnswers {
  public:
    virtual ~RepairAnswers() = default;
    /// A block as the venue sent it, for the line's arbiter, which checks it like any other and
    /// fills holes with it. It may lie outside the requested range. The bytes are copied.
    virtual void block(std::uint16_t line, std::span<const std::byte> bytes) = 0;
    /// The source has passed all its blocks for this request to block().
    virtual void finished(std::uint64_t id) = 0;
    /// The request has failed and ended.
    virtual void refused(std::uint64_t id, Refusal reason) = 0;
};

/// A source of missing messages.
class RepairSource {
  public:
    virtual ~RepairSource() = default;

    /// The name in the config; valid as long as the source.
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// True: the source takes no requests and delivers its blocks by another path. Recovery only
    /// waits for them and never calls request().
    [[nodiscard]] virtual bool passive() const { return false; }

    /// Sends a request. Nothing: it was accepted, and finished() or refused() follows unless it is
    /// cancelled before. Otherwise the reason why it was not accepted. Never blocks.
    [[nodiscard]] virtual std::optional<Refusal> request(const RepairRequest& request,
                                                         std::int64_t now_ns) = 0;

    /// Ends a request without a further answer. An id that is not in flight is ignored.
    virtual void cancel(std::uint64_t id) = 0;

    /// Performs pending work and reports answers; never blocks. Returns how much was done.
    virtual std::size_t step(std::int64_t now_ns, RepairAnswers& answers) = 0;
};

}  // namespace pinstrike::feed
