// path: hot
#pragma once

#include "feed/arbitration/position.h"
#include "feed/event/block.h"
#include "feed/event/event.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace pinstrike::feed {

/// How a delivery relates to what went before it: the EventFlag bits that apply.
using DeliveryFlags = std::uint8_t;

/// Where an Arbiter's slow path puts what it decides. The fast path needs none of it.
class ArbiterSink {
  public:
    virtual ~ArbiterSink() = default;
    /// Messages first .. first+count-1 of the block (indices from 0), all decodable, in order.
    /// A block that waited has no places.
    virtual void deliver(const Block& block, unsigned first, unsigned count,
                         DeliveryFlags flags) = 0;

    /// The exchange time of the block that begins with one of these, if `block`, a data block of
    /// the same numbering, is a copy of it that has another time. Nothing: none of them.
    [[nodiscard]] virtual std::optional<std::int64_t> ts_of_copy(
        std::span<const BlockStart> /*starts*/, const Block& /*block*/) const {
        return std::nullopt;
    }

    /// Numbers first..last declared lost (or, cause repaired, found after all). None of them was
    /// stamped before `ts_exchange_ns`, as far as is known.
    virtual void gap(std::uint32_t first, std::uint32_t last, std::uint64_t messages,
                     GapCause cause, std::int64_t ts_exchange_ns) = 0;
    /// A start of day or reset, once per line; block has role start_of_day or reset. `forget` says
    /// what it makes consumers forget; inferred: no copy of it was seen, and the block, made up,
    /// has no bytes and role reset, whichever it was. Where only later something shows that a reset
    /// lowered the numbers, it is told once more, and its block is made up too.
    virtual void reset(const Block& block, Forget forget, bool inferred) = 0;

    /// Whether a reset that no stream brought is to be taken for the start of a day.
    [[nodiscard]] virtual bool start_is_due() const { return false; }

    /// A block that had been deferred is committed now, in whole or in part.
    virtual void committed(const Block& /*block*/) {}

    /// Notes for recovery, whether the numbers are declared lost yet or not: from now on, whoever
    /// has these may fill them. They were stamped within these times, as far as is known (no_ts_ns,
    /// any_ts_ns: not known).
    virtual void missing(Position /*begin*/, Position /*end*/, std::int64_t /*ts_before_ns*/,
                         std::int64_t /*ts_behind_ns*/) {}

    /// Of these, none need be looked for any more, if any was: they came, or no copy of them would
    /// help.
    virtual void found(Position /*begin*/, Position /*end*/) {}

    static constexpr std::int64_t no_ts_ns = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t any_ts_ns = std::numeric_limits<std::int64_t>::max();
};

}  // namespace pinstrike::feed
