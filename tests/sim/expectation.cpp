// path: cold
#include "tests/sim/expectation.h"

#include "feed/arbitration/hold.h"
#include "feed/opra/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <span>

namespace pinstrike::sim {

namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

/// The first receipt of a block: its index in the receive log, and the wait clock's time then.
struct Moment {
    std::size_t turn = never;
    std::int64_t waited_ns = 0;

    [[nodiscard]] bool ever() const { return turn != never; }

    void note(const Moment& other) {
        if (other.turn < turn) {
            *this = other;
        }
    }
};

/// Memory of a block in the hold buffer, as feed/arbitration/hold.h lays it out.
std::size_t bytes_in_hold(const Block& block) {
    constexpr std::size_t unit_bytes = sizeof(feed::HeldBlock);
    return unit_bytes * (1 + (block.bytes.size() + unit_bytes - 1) / unit_bytes);
}

/// Whether the hold buffer has room for all blocks that arrived within any one window.
bool finds_room(std::size_t line, const ReceiveLog& receive_log, const ArbiterMeans& means) {
    constexpr std::size_t much_bytes = 512 << 10;  // with less, a late reset may not find room
    std::size_t waiting_bytes = 0;
    std::deque<const ReceivedPacket*> waiting;
    for (const ReceivedPacket& received : receive_log.packets()) {
        const Flight& flight = *received.flight;
        if (flight.line != line || !flight.whole || (!flight.to_line && !flight.repair)) {
            continue;
        }
        waiting.push_back(&received);
        waiting_bytes += bytes_in_hold(*flight.block);
        while (received.waited_ns - waiting.front()->waited_ns > means.window_ns) {
            waiting_bytes -= bytes_in_hold(*waiting.front()->flight->block);
            waiting.pop_front();
        }
        if (waiting_bytes > means.hold_bytes) {
            return false;
        }
    }
    return means.hold_bytes >= much_bytes;
}

/// Whether the blocks are equal except for the time in their headers.
bool are_copies(const Block& one, const Block& other) {
    constexpr std::size_t header_bytes = feed::opra::block::header_bytes;
    return one.numbered() && other.numbered() && one.header.sequence == other.header.sequence &&
           std::ranges::equal(std::span{one.bytes}.subspan(header_bytes),
                              std::span{other.bytes}.subspan(header_bytes));
}

class LineAnalysis {
  public:
    LineAnalysis(const LineTruth& truth, std::size_t line, const ReceiveLog& receive_log,
                 std::span<const Block* const> repairs)
        : truth_(truth),
          first_(truth.blocks.size()),
          offered_(truth.blocks.size(), never),
          heard_ns_(truth.blocks.size()) {
        out_.blocks.resize(truth.blocks.size());
        for (const Block* block : repairs) {
            if (block != nullptr && block->line == line) {
                out_.blocks[block->index].offered = true;
                offered_[block->index] = 0;  // its time is not known
            }
        }
        std::size_t turn = 0;
        known_.resize(truth.epochs.size());
        begun_.resize(truth.epochs.size());
        for (const ReceivedPacket& received : receive_log.packets()) {
            const Flight& flight = *received.flight;
            if (flight.line == line && flight.repair) {
                read_repair(*flight.block, turn);
            } else if (flight.line == line && flight.to_line) {
                read(received, turn);
            }
            ++turn;
        }
    }

    LineExpectation conclude(std::int64_t window_ns, bool much_memory) {
        if (out_.heard) {
            if (truth_.unannounced) {
                out_.exact = false;
                out_.inexact_why = "numbers begin anew without a reset";
            }
            decide_fates();
            check_resets(window_ns, much_memory);
            check_times(window_ns, much_memory);
        }
        return std::move(out_);
    }

  private:
    void read(const ReceivedPacket& received, std::size_t turn) {
        const Flight& flight = *received.flight;
        StreamExpectation& stream = out_.streams[static_cast<std::size_t>(flight.stream)];
        ++stream.packets;
        if (!flight.whole) {
            return;
        }
        const Block& block = *flight.block;
        if (block.numbered()) {
            stream.messages += block.messages.size();
        }
        if (!out_.heard) {
            out_.heard = true;
            out_.begin = block.begin;
            out_.begin_block = block.index;
        }
        Place& known = known_[block.epoch];
        known = std::max(known, block.end());
        begun_[block.epoch] =
            begun_[block.epoch] || block.renumbers() || block.index == out_.begin_block;
        if (!first_[block.index].ever()) {
            heard_ns_[block.index] = received.true_ns;
        }
        first_[block.index].note({turn, received.waited_ns});
    }

    /// A retransmission fills known holes and nothing else.
    void read_repair(const Block& block, std::size_t turn) {
        if (begun_[block.epoch] && block.end() <= known_[block.epoch]) {
            out_.blocks[block.index].offered = true;
            offered_[block.index] = std::min(offered_[block.index], turn);
        } else {
            early_repairs_.push_back(turn);
        }
    }

    void decide_fates() {
        for (const Block* block : truth_.blocks) {
            BlockFate& fate = out_.blocks[block->index];
            fate.heard_ns = heard_ns_[block->index];
            const bool heard = first_[block->index].ever();
            if (block->begin < out_.begin || block->index < out_.begin_block) {
                fate.fate = Fate::before_start;
            } else if (heard) {
                fate.fate = Fate::brought;
                out_.brought += block->numbered() ? block->decodable : 0;
            } else if (fate.offered) {
                fate.fate = Fate::repaired;
                out_.repaired += block->decodable;
                out_.late_possible = true;
            } else if (block->numbered() && block->end() <= known_[block->epoch]) {
                fate.fate = Fate::lost;
                out_.lost += block->decodable;
            }
            if (fate.fate != Fate::before_start && fate.fate != Fate::unknowable) {
                out_.lost += block->messages.size() - block->decodable;
            }
        }
    }

    void mark_inexact(const Block& reset, const char* why) {
        out_.exact = false;
        out_.inexact_why =
            fmt::format("{}: reset to {} stamped {}", why, reset.header.sequence, reset.ts_ns);
    }

    /// The place of a number in the numbering before this reset, counted over the wrap: 0 for the
    /// first number of that numbering, negative before it.
    [[nodiscard]] std::int64_t place_before(const Block& reset, std::uint32_t number) const {
        constexpr auto numbers_count = static_cast<std::int64_t>(0xFFFF'FFFF);
        const auto steps = static_cast<std::int64_t>(
            steps_between(truth_.epochs[reset.epoch - 1].first_number, number));
        return steps > numbers_count / 2 ? steps - numbers_count : steps;
    }

    /// The place of the reset that began the numbering before this reset, if it was received before
    /// this turn; otherwise a value below all places.
    [[nodiscard]] std::int64_t begin_before(const Block& reset, std::size_t turn) const {
        constexpr std::int64_t unknown = std::numeric_limits<std::int32_t>::min();
        for (std::size_t i = reset.index; i-- > 0;) {
            const Block& block = *truth_.blocks[i];
            if (block.epoch + 1 == reset.epoch && block.renumbers()) {
                return first_[i].turn < turn ? place_before(reset, block.header.sequence) : unknown;
            }
        }
        return unknown;
    }

    /// The last place in the numbering before this reset that was received before this turn.
    [[nodiscard]] std::int64_t highest_before(const Block& reset, std::size_t turn) const {
        std::int64_t highest = begin_before(reset, turn);
        for (std::size_t i = reset.index; i-- > 0;) {
            const Block& block = *truth_.blocks[i];
            if (block.epoch + 1 != reset.epoch) {
                break;
            }
            if (first_[i].turn < turn && block.numbered()) {
                highest = std::max(highest, end_before(reset, block));
            }
        }
        return highest;
    }

    [[nodiscard]] std::int64_t end_before(const Block& reset, const Block& block) const {
        return place_before(reset, truth_.number_at(block.end() - 1));
    }

    /// Whether a block behind the reset that was received before it could also continue the numbers
    /// before the reset, directly or behind a repaired hole: no receiver can tell these cases
    /// apart.
    [[nodiscard]] bool seems_to_go_on(const Block& reset) const {
        const std::size_t turn = first_[reset.index].turn;
        const std::int64_t last = highest_before(reset, turn);
        for (std::size_t i = reset.index + 1; i < truth_.blocks.size(); ++i) {
            const Block& block = *truth_.blocks[i];
            if (!block.numbered() || first_[i].turn >= turn) {
                continue;
            }
            const std::int64_t by_then = highest_before(reset, first_[i].turn);
            const std::int64_t begin = place_before(reset, block.header.sequence);
            // A block that spans the beginning of a numbering does not belong to it.
            const bool next = begin <= last + 1 && begin > begin_before(reset, turn);
            if ((next && end_before(reset, block) > by_then) ||
                repairs_lead_to(reset, block, by_then)) {
                return true;
            }
        }
        return false;
    }

    /// Whether, before the reset arrived, the hole between this place and the block was filled with
    /// repairs of the block's numbering instead of the previous one, which has the same numbers.
    [[nodiscard]] bool repairs_lead_to(const Block& reset, const Block& block,
                                       std::int64_t place) const {
        return std::ranges::any_of(truth_.blocks, [&](const Block* other) {
            return other->epoch == block.epoch && other->begin < block.begin &&
                   offered_[other->index] < first_[reset.index].turn && other->numbered() &&
                   end_before(reset, *other) > place;
        });
    }

    /// Whether a block behind the reset that was received before it equals one of the previous
    /// numbering except for its time: the arbiter treats it as a copy
    /// (feed/arbitration/arbiter_state.h).
    [[nodiscard]] bool repeats_before(const Block& reset) const {
        const auto early = [&](const Block* block) {
            return block->epoch == reset.epoch && block->numbered() &&
                   first_[block->index].turn < first_[reset.index].turn;
        };
        return std::ranges::any_of(truth_.blocks, [&](const Block* block) {
            return early(block) && std::ranges::any_of(truth_.blocks, [&](const Block* other) {
                       return other->epoch + 1 == block->epoch && are_copies(*other, *block);
                   });
        });
    }

    /// Whether a repair of numbers that were not known to be missing arrived between these turns.
    /// Data behind a reset that has not arrived yet may seem to be far ahead, over the wrap: the
    /// repair then filled the hole before it.
    [[nodiscard]] bool repaired_between(std::size_t begin, std::size_t end) const {
        return std::ranges::any_of(early_repairs_,
                                   [=](std::size_t turn) { return begin < turn && turn < end; });
    }

    /// Whether data behind the reset, and the next reset, were received before it.
    [[nodiscard]] bool overtaken_with_data(const Block& reset) const {
        const std::size_t turn = first_[reset.index].turn;
        bool data = false;
        for (std::size_t i = reset.index + 1; i < truth_.blocks.size(); ++i) {
            const Block& block = *truth_.blocks[i];
            data = data || (block.epoch == reset.epoch && first_[i].turn < turn);
            if (data && block.renumbers() && first_[i].turn < turn) {
                return true;
            }
        }
        return false;
    }

    /// Whether the next two resets were received before it: the arbiter looks back over only one.
    [[nodiscard]] bool overtaken_twice(const Block& reset) const {
        const auto overtakes = [&](const Block* block) {
            return block->index > reset.index && block->renumbers() &&
                   first_[block->index].turn < first_[reset.index].turn;
        };
        return std::ranges::count_if(truth_.blocks, overtakes) >= 2;
    }

    /// Marks the line inexact unless each reset was received before the blocks behind it, or within
    /// the window after them.
    void check_resets(std::int64_t window_ns, bool much_memory) {
        Moment behind;  // first receipt of any block behind the current one
        for (auto at = truth_.blocks.rbegin(); at != truth_.blocks.rend(); ++at) {
            const Block& block = **at;
            if (block.index < out_.begin_block) {
                break;
            }
            const Moment& first = first_[block.index];
            if (block.renumbers() && block.index != out_.begin_block && behind.ever()) {
                BlockFate& fate = out_.blocks[block.index];
                fate.clean = first.turn < behind.turn;
                if (!first.ever()) {
                    mark_inexact(block, "on neither stream");
                } else if (!fate.clean && !much_memory) {
                    mark_inexact(block, "behind its data, with little memory");
                } else if (!fate.clean && first.waited_ns - behind.waited_ns >= window_ns) {
                    mark_inexact(block, "too long behind its data");
                } else if (!fate.clean && overtaken_twice(block)) {
                    mark_inexact(block, "behind two resets that follow it");
                } else if (!fate.clean && overtaken_with_data(block)) {
                    mark_inexact(block, "behind the reset that follows it");
                } else if (!fate.clean && repaired_between(behind.turn, first.turn)) {
                    mark_inexact(block, "behind its data, and repairs between them");
                } else if (!fate.clean && repeats_before(block)) {
                    mark_inexact(block, "behind data that is equal to data before it");
                } else if (!fate.clean && seems_to_go_on(block)) {
                    mark_inexact(block, "behind data that seemed to go on");
                }
                out_.late_possible = out_.late_possible || !fate.clean;
            }
            behind.note(first);
        }
    }

    /// A block received before its hole's wait was over must be delivered in order.
    void check_times(std::int64_t window_ns, bool much_memory) {
        Moment later_epoch;  // first receipt of any block of a later epoch
        Moment behind;       // first receipt of any block behind the current one in its epoch
        std::size_t epoch = truth_.epochs.size();
        for (auto at = truth_.blocks.rbegin(); at != truth_.blocks.rend(); ++at) {
            const Block& block = **at;
            const Moment& first = first_[block.index];
            if (block.epoch != epoch) {
                later_epoch.note(behind);
                behind = {};
                epoch = block.epoch;
            }
            BlockFate& fate = out_.blocks[block.index];
            if (fate.fate == Fate::brought && block.numbered()) {
                fate.overtaken = later_epoch.turn < first.turn;
                const bool next = first.turn < behind.turn;
                const bool waits = first.waited_ns - behind.waited_ns < window_ns;
                fate.in_time = !fate.overtaken && (next || (waits && much_memory));
                out_.late_possible = out_.late_possible || !fate.in_time;
            }
            behind.note(first);
        }
    }

    const LineTruth& truth_;
    std::vector<Place> known_;  ///< by epoch: behind the last number known to have existed
    std::vector<bool> begun_;   ///< by epoch: its reset, or the line's first block, was received
    std::vector<Moment> first_;
    std::vector<std::size_t> offered_;        ///< by block: the turn of its first repair
    std::vector<std::size_t> early_repairs_;  ///< turns of repairs of numbers not known to exist
    std::vector<std::int64_t> heard_ns_;
    LineExpectation out_;
};

}  // namespace

LineExpectation expect_line(const LineTruth& truth, std::size_t line, const ReceiveLog& receive_log,
                            std::span<const Block* const> repairs, const ArbiterMeans& means) {
    return LineAnalysis{truth, line, receive_log, repairs}.conclude(
        means.window_ns, finds_room(line, receive_log, means));
}

}  // namespace pinstrike::sim
