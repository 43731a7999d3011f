// path: cold
#pragma once

#include "feed/opra/traffic/traffic_session.h"

#include <cstddef>
#include <vector>

namespace pinstrike::feed::opra::traffic {

/// A block that outlives the call.
struct KeptBlock {
    std::uint16_t line = 0;
    wire::BlockHeader header;
    std::int64_t ts_ns = 0;
    BlockRole role = BlockRole::data;
    std::vector<wire::Message> messages;
    std::vector<std::byte> bytes;
};

/// Keeps every block of a session.
class Collector final : public BlockSink {
  public:
    void block(const SentBlock& block) override {
        blocks.push_back({block.line_number,
                          block.header,
                          block.ts_ns,
                          block.role,
                          {block.messages.begin(), block.messages.end()},
                          {block.bytes.begin(), block.bytes.end()}});
    }

    std::vector<KeptBlock> blocks;
};

inline std::vector<KeptBlock> blocks_of(const TrafficConfig& config,
                                        std::span<const LineConfig> lines) {
    Collector collector;
    TrafficSession{config, lines, collector}.run();
    return std::move(collector.blocks);
}

/// A day small enough for a test.
inline TrafficConfig small_day() {
    TrafficConfig config;
    config.messages_count = 40'000;
    config.series_count = 4'000;
    config.roots_count = 100;
    return config;
}

}  // namespace pinstrike::feed::opra::traffic
