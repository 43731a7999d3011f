// path: cold
//
// Generates a day: decides which message is sent when and on which line, and packs messages into
// blocks as OPRA does. Passes each block once to a BlockSink, in order of time. The sink decides
// what happens to the copies on streams A and B (delivery.h).
#pragma once

#include "feed/event/block.h"
#include "feed/lines/line_config.h"
#include "feed/opra/encode.h"
#include "feed/opra/message.h"
#include "feed/opra/traffic/market.h"
#include "feed/opra/traffic/random.h"
#include "feed/opra/traffic/traffic_config.h"
#include "feed/opra/traffic/universe.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <vector>

namespace pinstrike::feed::opra::traffic {

/// A block as OPRA sends it, equal on both streams.
struct SentBlock {
    LineIndex line = 0;
    std::uint16_t line_number = 0;
    wire::BlockHeader header;
    std::int64_t ts_ns = 0;
    BlockRole role = BlockRole::data;
    bool lowers = true;  ///< a reset begins an epoch; false: it announces the wrap or skips numbers
    bool disaster_site = false;  ///< sent from the other data centre
    std::span<const wire::Message> messages;
    std::span<const std::byte> bytes;  ///< the whole block; valid during the call
};

class BlockSink {
  public:
    virtual ~BlockSink() = default;
    virtual void block(const SentBlock& block) = 0;
};

/// The indices of `lines`. A line has a number of 16 bits, so a LineIndex can count them.
template <class Lines>
[[nodiscard]] auto indices_of(const Lines& lines) {
    return std::views::iota(LineIndex{0}, static_cast<LineIndex>(lines.size()));
}

class TrafficSession {
  public:
    /// `lines` and `config` must outlive the session. At most the first config.lines_count lines
    /// are used.
    TrafficSession(const TrafficConfig& config, std::span<const LineConfig> lines, BlockSink& sink);

    /// Generates the whole day, or the part to which the config limits it.
    void run();

    /// The two parts of a day that is looped: the first comes once, the second is repeated.
    void run_start();
    void run_trading();

  private:
    struct Line {
        std::uint16_t number = 0;
        LineUse use = LineUse::regular;
        std::uint32_t next = 1;  ///< number of the next message
        std::uint32_t last = 0;  ///< number of the last message sent
        std::int64_t sent_ns = 0;
        std::vector<wire::Message> pending;
        std::size_t pending_bytes = 0;
        unsigned wanted_count = 0;  ///< messages that the block under way is to hold
        std::uint8_t session = 0;
    };

    // Phases of the day.
    void warm_up();
    void start_of_day();
    void send_maps();
    void send_open_interest();
    void summarize();
    void end_of_day();
    void restart(bool disaster);
    void renumber();

    // Messages.
    void say_something();
    void say_map(SeriesIndex index);
    SeriesIndex choose_series();
    [[nodiscard]] std::size_t share_of_messages(double share) const;

    // Time.
    void advance();
    void pass_time_to(std::int64_t ts_ns);
    void housekeep();
    void switch_burst();

    // Lines and blocks.
    void post(LineIndex line, wire::Message message);
    void post_alone(LineIndex line, const wire::Message& message);
    void control(LineIndex line, char type, char participant = 'O');
    void restart_number(LineIndex line, char type, std::uint32_t sequence);
    void flush(Line& line);
    void flush_all();
    void roll_over(Line& line, std::size_t messages_count);
    void send(Line& line, std::span<const wire::Message> messages, std::uint32_t sequence,
              BlockRole role);
    [[nodiscard]] std::uint8_t session_of(const Line& line, char participant) const;
    [[nodiscard]] bool finished() const;

    const TrafficConfig& config_;
    BlockSink& sink_;
    Random random_;
    Universe universe_;
    ActivityCurve curve_;
    Market market_;
    std::vector<Line> lines_;
    std::vector<LineIndex> regular_;
    std::vector<LineIndex> gth_;
    std::vector<LineIndex> maps_;
    std::array<std::byte, block::bytes_max> buffer_{};

    std::int64_t now_ns_;
    std::int64_t last_block_ns_ = 0;
    std::int64_t housekeep_ns_;
    std::int64_t burst_switch_ns_;
    bool bursting_ = false;
    bool resets_lower_ = true;
    bool disaster_site_ = false;
    std::uint8_t trade_weekday_ = 1;
    std::uint64_t messages_ = 0;
    std::uint64_t blocks_ = 0;
};

}  // namespace pinstrike::feed::opra::traffic
