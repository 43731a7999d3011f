// path: cold
//
// What OPRA sent: every block of the generated days, with its place among its line's messages. The
// oracle looks up blocks, numbers and time stamps here.
#pragma once

#include "feed/event/block.h"
#include "feed/lines/line_config.h"
#include "feed/opra/message.h"
#include "feed/opra/traffic/random.h"
#include "feed/opra/traffic/traffic_session.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <vector>

namespace pinstrike::sim {

struct Plan;

/// A message's place among all that its line ever sent.
using Place = std::size_t;

/// One block as it left OPRA, the same on both streams.
struct Block {
    std::size_t line = 0;  ///< index
    std::uint16_t line_number = 0;
    feed::opra::wire::BlockHeader header;
    std::int64_t ts_ns = 0;
    feed::BlockRole role = feed::BlockRole::data;
    bool lowers = true;  ///< a reset that lowers the numbers
    bool disaster_site = false;
    std::vector<feed::opra::wire::Message> messages;
    unsigned decodable = 0;  ///< number of messages, from the first on, that can be decoded
    bool test = false;       ///< sent outside the hours: no core may get it
    std::vector<std::byte> bytes;
    std::size_t index = 0;  ///< among the line's blocks
    std::size_t epoch = 0;  ///< index among the line's epochs; a start of day or reset begins one
    Place begin = 0;        ///< of its first message, or of the next one if it has no numbers

    [[nodiscard]] bool numbered() const { return role == feed::BlockRole::data; }

    [[nodiscard]] bool renumbers() const {
        return role == feed::BlockRole::start_of_day || role == feed::BlockRole::reset;
    }

    /// Whether this message of the block can be decoded.
    [[nodiscard]] bool can_decode(std::size_t message) const { return message < decodable; }

    [[nodiscard]] Place end() const { return begin + (numbered() ? messages.size() : 0); }
};

/// A line's numbers between two resets.
struct Epoch {
    std::uint32_t first_number = 1;
    Place begin = 0;
    Place end = 0;
};

struct LineTruth {
    std::uint16_t number = 0;
    bool unannounced = false;  ///< restarts its numbers without a reset, as line 220 does each day
    std::vector<const Block*> blocks;
    std::vector<Epoch> epochs;
    std::vector<std::pair<const Block*, unsigned>> messages;  ///< by place

    [[nodiscard]] std::uint32_t number_at(Place place) const;

    [[nodiscard]] const feed::opra::wire::Message& message(Place place) const {
        return messages[place].first->messages[messages[place].second];
    }
};

class Truth final : public feed::opra::traffic::BlockSink {
  public:
    explicit Truth(const Plan& plan);

    void block(const feed::opra::traffic::SentBlock& sent) override;

    [[nodiscard]] const std::deque<Block>& blocks() const { return blocks_; }

    [[nodiscard]] const std::vector<LineTruth>& lines() const { return lines_; }

    /// The line's index; lines().size() if there is none of this number.
    [[nodiscard]] std::size_t line_index(std::uint16_t number) const;

    /// The block with this time stamp, which is unique. Null: none.
    [[nodiscard]] const Block* stamped(std::int64_t ts_ns) const;

    [[nodiscard]] std::uint64_t messages_count() const { return messages_count_; }

  private:
    void make_undecodable(Block& block);

    const Plan& plan_;
    feed::opra::traffic::Random random_;  ///< chooses the undecodable messages
    std::deque<Block> blocks_;            ///< a deque, so that references stay valid
    std::vector<LineTruth> lines_;
    std::unordered_map<std::int64_t, const Block*> by_ts_;
    std::uint64_t messages_count_ = 0;
};

/// The number `steps` after `number`: 1 follows 2^32 - 1.
[[nodiscard]] std::uint32_t number_after(std::uint32_t number, std::uint64_t steps);

/// How many steps lead from one number to the other.
[[nodiscard]] std::uint64_t steps_between(std::uint32_t from, std::uint32_t to);

/// A message of a reserved test symbol: filtered before the cores.
[[nodiscard]] bool is_test(const feed::opra::wire::Message& message);

}  // namespace pinstrike::sim
