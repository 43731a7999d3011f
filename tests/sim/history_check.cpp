// path: cold
//
// Checks the history for peers: it must hold every block that a poller accepted.
#include "feed/opra/layout.h"
#include "tests/sim/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace pinstrike::sim {

namespace {

/// No block was removed from the history, and no block found the ring to it full.
bool keeps_all(Host& host, std::size_t pollers) {
    const feed::HistoryCounters& counts = host.history()->counters();
    bool all =
        counts.read(feed::HistoryCount::crowded) == 0 && counts.read(feed::HistoryCount::aged) == 0;
    for (std::size_t i = 0; i < pollers; ++i) {
        all = all && host.poller(i).history()->skipped().read() == 0;
    }
    return all;
}

/// Ignores the headers, because a retransmitted copy is marked there.
bool same_messages(std::span<const std::byte> one, std::span<const std::byte> other) {
    constexpr std::size_t header = feed::opra::block::header_bytes;
    return std::ranges::equal(one.subspan(header), other.subspan(header));
}

bool is_kept(feed::History& history, const Block& block) {
    const feed::RepairRequest request{1,
                                      block.line_number,
                                      block.header.sequence,
                                      static_cast<std::uint32_t>(block.messages.size()),
                                      block.ts_ns,
                                      block.ts_ns};
    return std::ranges::any_of(history.find(request), [&](const feed::KeptBlock& kept) {
        return kept.first == block.header.sequence && kept.messages == block.messages.size() &&
               kept.bytes.size() == block.bytes.size() && same_messages(kept.bytes, block.bytes);
    });
}

}  // namespace

void check_history(const Truth& truth, const std::vector<LineExpectation>& lines, Host& host,
                   Findings& findings, Coverage& coverage) {
    if (!keeps_all(host, host.receive_logs().size())) {
        return;
    }
    for (const Block& block : truth.blocks()) {
        const LineExpectation& line = lines[block.line];
        if (!line.exact || !block.numbered() || block.decodable == 0 ||
            !delivers(line.blocks[block.index].fate)) {
            continue;
        }
        ++coverage.blocks_kept;
        if (!is_kept(*host.history(), block)) {
            findings.add(
                fmt::format("line {}: the block of {} from {} was accepted, but is not kept",
                            block.line_number, block.messages.size(), block.header.sequence));
        }
    }
}

}  // namespace pinstrike::sim
