// path: cold
//
// Derives, for each block of a line, whether it must be delivered, repaired or lost, from what OPRA
// sent and from the valid packets that the poller received. Uses only the rules of sequencing
// (OPRA Block Sequence Number) and none of the program's results.
//
// If the rules do not determine what a receiver can know (for example after a reset that neither
// stream delivered in time), the line is not `exact`, and only what always holds is checked.
#pragma once

#include "tests/sim/packet_log.h"
#include "tests/sim/truth.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::sim {

enum class Fate : std::uint8_t {
    before_start,  ///< sent before the first block received: neither missing nor delivered
    brought,       ///< the poller received at least one valid copy: must be delivered
    repaired,      ///< no copy was received, but a repair was: must be delivered
    lost,          ///< no copy was received, but a later block was: must be declared lost
    unknowable,    ///< no copy was received, and no later block shows that it existed
};

[[nodiscard]] inline bool delivers(Fate fate) {
    return fate == Fate::brought || fate == Fate::repaired;
}

struct BlockFate {
    Fate fate = Fate::unknowable;
    bool offered = false;       ///< repaired by the twin, or by a retransmission while missing
    bool in_time = false;       ///< received, and must be delivered in order, not late
    bool overtaken = false;     ///< received after a block of a later numbering
    bool clean = false;         ///< a reset, received before all blocks behind it
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
    bool late_possible = false;  ///< some delivered message may be late

    /// The fate of a message: an undecodable message of a delivered block is lost.
    [[nodiscard]] Fate fate_of(const Block& block, std::size_t message) const {
        const Fate fate = blocks[block.index].fate;
        return delivers(fate) && !block.can_decode(message) ? Fate::lost : fate;
    }

    /// Nothing is missing or late: the book of its series equals the truth.
    [[nodiscard]] bool whole() const { return heard && exact && lost == 0 && !late_possible; }
};

/// The limits of the arbiter.
struct ArbiterMeans {
    std::int64_t window_ns = 0;
    std::size_t hold_bytes = 0;
};

/// `repairs`: the blocks that the twin sent, of any line.
[[nodiscard]] LineExpectation expect_line(const LineTruth& truth, std::size_t line,
                                          const ReceiveLog& receive_log,
                                          std::span<const Block* const> repairs,
                                          const ArbiterMeans& means);

}  // namespace pinstrike::sim
