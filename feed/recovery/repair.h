// path: cold
//
// What stands between recovery and those who may still have what a line lost: the published
// retransmission groups, a peer, some day the venue's own request facility. Recovery asks, a source
// answers; neither knows of the other's threads, sockets or clocks.
//
// All calls come from one thread, with the time passed in. A source tells its answers from within
// its step() and never from within request(), so nothing here is re-entered.
#pragma once

#include "config/rows.h"
#include "feed/arbitration/position.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pinstrike::feed {

/// The most messages of one request: what the best public model of such a facility takes.
inline constexpr std::uint32_t repair_messages_max = 1000;

/// Numbers first .. first+messages-1 of a line, as on the wire: a range may lead over the wrap
/// (after 4,294,967,295 comes 1). Numbers come again after a reset, so the exchange's own times say
/// which are meant: those stamped from ts_before_ns to ts_behind_ns, both included.
struct RepairRequest {
    std::uint64_t id = 0;           ///< never used twice by a process
    std::uint16_t line = 0;         ///< as the venue numbers its lines
    std::uint32_t first = 0;        ///< never 0
    std::uint32_t messages = 0;     ///< 1 .. repair_messages_max
    std::int64_t ts_before_ns = 0;  ///< of the block before them; the least value: not known
    std::int64_t ts_behind_ns = 0;  ///< of a block behind them; the greatest value: not known
};

/// Whether a block of numbers first .. first+messages-1, so stamped, holds any that are asked for.
[[nodiscard]] constexpr bool concerns(const RepairRequest& request, std::uint32_t first,
                                      std::uint32_t messages, std::int64_t ts_ns) {
    return ts_ns >= request.ts_before_ns && ts_ns <= request.ts_behind_ns &&
           (distance(request.first, first) < request.messages ||
            distance(first, request.first) < messages);
}

// clang-format off
#define PINSTRIKE_REFUSALS(ROW) \
    ROW(not_connected, requests, "the source has no connection to ask over") \
    ROW(disconnected, requests, "the connection ended before the answer") \
    ROW(busy, requests, "the source has as many requests in flight as it may have") \
    ROW(over_budget, requests, "the source has answered as much as it is allowed to for now") \
    ROW(unknown_line, requests, "the source does not have the line") \
    ROW(not_kept, requests, "the source does not keep these numbers, or no longer") \
    ROW(malformed, requests, "the source did not understand the request") \
    ROW(no_answer, requests, "the source did not answer in time") \
    ROW(incomplete, requests, "the source answered, and some of the numbers were not in it")
// clang-format on

/// Why a source did not bring what it was asked for.
PINSTRIKE_ROWS(Refusal, PINSTRIKE_REFUSALS)

/// Where a source puts what comes of its requests.
class RepairAnswers {
  public:
    virtual ~RepairAnswers() = default;
    /// A block as its venue sent it, for the line's arbiter. It is checked there like any other,
    /// and fills what is missing; it need not lie within what was asked for. The bytes are copied.
    virtual void block(std::uint16_t line, std::span<const std::byte> bytes) = 0;
    /// All that the source has for this request has been given to block().
    virtual void finished(std::uint64_t id) = 0;
    /// Nothing more will come of this request.
    virtual void refused(std::uint64_t id, Refusal reason) = 0;
};

/// Someone who may have what is missing.
class RepairSource {
  public:
    virtual ~RepairSource() = default;

    /// As in the config; lives as long as the source.
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// True: it cannot be asked; what it brings comes by itself, another way, and is only waited
    /// for. Then request() is never called.
    [[nodiscard]] virtual bool passive() const { return false; }

    /// Asks. Nothing: the request was taken, and finished() or refused() will be told of it unless
    /// it is cancelled before. Otherwise why it was not taken. Never waits.
    [[nodiscard]] virtual std::optional<Refusal> request(const RepairRequest& request,
                                                         std::int64_t now_ns) = 0;

    /// What came of it is no longer wanted; no answer is told of it any more. An id that is not in
    /// flight is let pass.
    virtual void cancel(std::uint64_t id) = 0;

    /// Does what there is to do, tells what was answered, and never waits. How much was done.
    virtual std::size_t step(std::int64_t now_ns, RepairAnswers& answers) = 0;
};

}  // namespace pinstrike::feed
