// path: hot
#pragma once

#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/position.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace pinstrike::feed {

/// The EventFlag bits of a delivery.
using DeliveryFlags = std::uint8_t;

/// Receives the decisions of an Arbiter's slow path. The fast path does not use it.
class ArbiterSink {
  public:
    virtual ~ArbiterSink() = default;
    /// Delivers messages first .. first+count-1 of the block (indices from 0), all decodable, in
    /// order. A block that was held has no places.
    virtual void deliver(const Block& block, unsigned first, unsigned count,
                         DeliveryFlags flags) = 0;

    /// `block` is a data block. If it is a copy of an earlier block of the same numbering, with
    /// another block time, and the beginning of that block is among the given ones: its exchange
    /// time. Else nullopt.
    [[nodiscard]] virtual std::optional<std::int64_t> ts_of_copy(
        std::span<const BlockStart> /*starts*/, const Block& /*block*/) const {
        return std::nullopt;
    }

    /// Reports numbers first..last as lost or, with cause `repaired`, as found after all. As far as
    /// is known, none of them was stamped before `ts_exchange_ns`. `flags`: those with which found
    /// messages were delivered; else 0.
    virtual void gap(std::uint64_t first, std::uint64_t last, std::uint64_t messages,
                     GapCause cause, std::int64_t ts_exchange_ns, DeliveryFlags flags) = 0;
    /// Reports a start of day or reset, once for each line. The role of `block` is start_of_day or
    /// reset. `forget` says what consumers must forget. `inferred`: no copy was received; the block
    /// is made up, has no bytes, and its role is reset whichever it was. If a later block shows
    /// that a reset lowered the numbers, the reset is reported once more, with a made-up block.
    virtual void reset(const Block& block, Forget forget, bool inferred) = 0;

    /// Whether an inferred reset counts as the start of a day.
    [[nodiscard]] virtual bool start_is_due() const { return false; }

    /// Reports that a deferred block is committed now, in whole or in part.
    virtual void committed(const Block& /*block*/) {}

    /// Tells recovery that these numbers are missing, whether they are declared lost yet or not. As
    /// far as is known they were stamped between the two times (no_ts_ns, any_ts_ns: not known).
    virtual void missing(Position /*begin*/, Position /*end*/, std::int64_t /*ts_before_ns*/,
                         std::int64_t /*ts_behind_ns*/) {}

    /// Tells recovery that none of these numbers has to be requested any more: they arrived, or no
    /// copy of them would help.
    virtual void found(Position /*begin*/, Position /*end*/) {}

    static constexpr std::int64_t no_ts_ns = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t any_ts_ns = std::numeric_limits<std::int64_t>::max();
};

}  // namespace pinstrike::feed
