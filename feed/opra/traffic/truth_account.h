// path: cold
//
// The account that a perfect handler must reach for a generated session with faults: by line, the
// messages that were delivered and those that neither stream carried.
#pragma once

#include "feed/event/block.h"
#include "feed/opra/traffic/traffic_session.h"

#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <vector>

namespace pinstrike::feed::opra::traffic {

/// The fate of a block's copies on one stream.
struct StreamFate {
    unsigned sound = 0;    ///< copies that arrive undamaged
    unsigned corrupt = 0;  ///< copies that arrive damaged
    bool lost = false;
};

class AccountTruth {
  public:
    /// Adds the next block of the session, with the fates of its copies on streams A and B.
    /// `repaired`: it is lost on both, and is retransmitted when the loss shows.
    void block(const SentBlock& block, const std::array<StreamFate, streams_count>& fates,
               bool repaired = false);

    /// Adds the copies of a retransmitted block. `filled`: the first copy filled a hole or a gap.
    void came_again(std::uint16_t line_number, std::uint64_t messages, unsigned copies,
                    bool filled);

    /// Writes one JSON object: {"lines": [{line, highest, delivered, lost, repaired, unasked, gaps,
    /// filtered, controls,
    /// streams: {A: {packets, messages, lost_packets, corrupt_packets}, B}}], "lossless"}.
    /// `packets` and `messages` count undamaged copies; `messages` = accepted + duplicate. Adjacent
    /// gaps are written as one range.
    void write(std::ostream& out) const;

    /// True if at least one undamaged copy of every block arrives.
    [[nodiscard]] bool nothing_lost() const { return nothing_lost_; }

  private:
    struct Range {
        std::uint32_t first;
        std::uint32_t last;
        std::uint64_t count;
        std::uint64_t filtered;  ///< among them
        std::uint64_t controls;  ///< among them
        bool repaired;
    };

    struct StreamTotals {
        std::uint64_t packets = 0;
        std::uint64_t messages = 0;
        std::uint64_t lost_packets = 0;
        std::uint64_t corrupt_packets = 0;
    };

    struct Line {
        bool joined = false;
        std::uint64_t delivered = 0;
        std::uint64_t lost = 0;
        std::uint64_t repaired = 0;
        std::uint64_t unasked = 0;
        std::uint64_t filtered = 0;
        std::uint64_t controls = 0;
        std::vector<Range> unproved;  ///< lost, and no later block was received yet
        std::vector<Range> gaps;
        std::array<StreamTotals, streams_count> streams;
    };

    static void prove(Line& line);
    static void deliver(Line& line, const Range& range);

    std::map<std::uint16_t, Line> lines_;
    bool nothing_lost_ = true;
};

}  // namespace pinstrike::feed::opra::traffic
