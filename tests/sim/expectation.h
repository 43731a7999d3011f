// path: cold
//
// What follows for a line from what OPRA sent and what its poller was handed whole: the fate that
// each block must have, by the rules of sequencing alone (OPRA 3.05.6 Block Sequence Number). Asks
// the program nothing.
//
// Where no rule says what a receiver could know (a reset that neither stream brought in time), the
// line is not `exact`: then only what always holds is asked of it.
#pragma once

#include "tests/sim/truth.h"
#include "tests/sim/witness.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::sim {

enum class Fate : std::uint8_t {
    before_start,  ///< sent before the first block that was heard: not missing, not wanted
    brought,       ///< at least one whole copy was handed to the poller: must be delivered
    repaired,      ///< no copy was, but it was offered: must be delivered
    lost,          ///< no copy was, and something behind it was heard: must be declared lost
    unknowable,    ///< no copy was, and nothing says that it existed
};

[[nodiscard]] inline bool delivers(Fate fate) {
    return fate == Fate::brought || fate == Fate::repaired;
}

struct BlockFate {
    Fate fate = Fate::unknowable;
    bool offered = false;       ///< by the twin, or by the groups of retransmission when missed
    bool in_time = false;       ///< brought: must be in order, not late
    bool overtaken = false;     ///< brought: but a later numbering was heard of first
    bool clean = false;         ///< of a reset: heard before anything behind it
    std::int64_t heard_ns = 0;  ///< true time
};

struct StreamExpectation {
    std::uint64_t packets = 0;
    std::uint64_t messages = 0;
};

struct LineExpectation {
    bool heard = false;
    bool exact = true;
    std::string inexact_why;
    Place begin = 0;
    std::size_t begin_block = 0;
    std::vector<BlockFate> blocks;
    std::array<StreamExpectation, feed::streams_count> streams;
    std::uint64_t brought = 0;  ///< messages
    std::uint64_t repaired = 0;
    std::uint64_t lost = 0;
    bool late_possible = false;  ///< something brought may be late

    /// Of a message of the block: where the block comes, what cannot be decoded is lost.
    [[nodiscard]] Fate fate_of(const Block& block, std::size_t message) const {
        const Fate fate = blocks[block.index].fate;
        return delivers(fate) && !block.can_decode(message) ? Fate::lost : fate;
    }

    /// Nothing missing, nothing late: the book of its series is the truth's.
    [[nodiscard]] bool whole() const { return heard && exact && lost == 0 && !late_possible; }
};

/// What the arbiter was given to work with.
struct ArbiterMeans {
    std::int64_t window_ns = 0;
    std::size_t hold_bytes = 0;
};

/// `repairs`: what the twin brought, of any line.
[[nodiscard]] LineExpectation expect_line(const LineTruth& truth, std::size_t line,
                                          const Witness& witness,
                                          std::span<const Block* const> repairs,
                                          const ArbiterMeans& means);

}  // namespace pinstrike::sim
