// path: hot
#pragma once

#include "feed/arbitration/arbiter_sink.h"
#include "feed/arbitration/hold.h"
#include "feed/event/block.h"
#include "feed/event/position.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::feed {

/// A block, or a part of one, on its way through the slow path.
struct Arrival {
    const Block& block;
    unsigned first;  ///< the messages concerned are first .. last-1
    unsigned last;
    Source source;
    std::int64_t now_ns;
    ArbiterSink& sink;

    [[nodiscard]] bool original() const { return source != Source::repair; }

    [[nodiscard]] std::int64_t ts_ns() const { return block.ts_exchange_ns; }

    /// Notes that numbers are missing. This arrival shows it, so they were stamped before its
    /// block.
    void note_missing(Position begin, Position end, std::int64_t ts_before_ns) const {
        sink.missing(begin, end, std::min(ts_before_ns, ts_ns()), std::max(ts_before_ns, ts_ns()));
    }
};

/// The first number of a data block, or the number after a control.
[[nodiscard]] inline std::uint64_t number_of(const Block& block, const Numbering& numbering) {
    switch (block.role) {
        case BlockRole::data:
            return block.sequence;
        case BlockRole::start_of_day:
            return 1;
        default:
            return numbering.number_after(block.sequence);
    }
}

/// The number that follows this block.
[[nodiscard]] inline std::uint64_t next_of(const Block& block, const Numbering& numbering) {
    const Position first = numbering.last + number_of(block, numbering);
    return numbering.number_at(first + (block.role == BlockRole::data ? block.messages : 0U));
}

}  // namespace pinstrike::feed
