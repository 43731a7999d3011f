// path: cold
//
// Checks the account: its own identities, and each figure against what the links delivered.
#include "actors/telemetry/account.h"
#include "tests/sim/count_comparison.h"
#include "tests/sim/oracle.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike::sim {

namespace {

using feed::LineCount;
using feed::StreamCount;

/// The lost numbers as ranges (first, last) in the order of the line, with adjacent ranges joined.
std::vector<std::pair<std::uint64_t, std::uint64_t>> lost_ranges(const LineTruth& truth,
                                                                 const LineExpectation& line) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    Place next = 0;
    std::size_t epoch = 0;
    for (const Block* block : truth.blocks) {
        for (Place place = block->begin; place < block->end(); ++place) {
            if (line.fate_of(*block, place - block->begin) != Fate::lost) {
                continue;
            }
            const std::uint32_t number = truth.number_at(place);
            if (!ranges.empty() && place == next && epoch == block->epoch && number != 1) {
                ranges.back().second = number;
            } else {
                ranges.emplace_back(number, number);
            }
            next = place + 1;
            epoch = block->epoch;
        }
    }
    return ranges;
}

void check_gaps(const LineTruth& truth, const LineExpectation& line,
                const actors::LineSnapshot& counted, Findings& findings) {
    const auto wanted = lost_ranges(truth, line);
    if (wanted == counted.gaps) {
        return;
    }
    const auto [at, other] = std::ranges::mismatch(wanted, counted.gaps);
    const auto range_text = [](const auto& ranges, auto place) {
        return place == ranges.end() ? std::string{"none"}
                                     : fmt::format("{}-{}", place->first, place->second);
    };
    findings.add(fmt::format("account, line {}: the list of gaps has {} where {} is lost",
                             truth.number, range_text(counted.gaps, other),
                             range_text(wanted, at)));
}

std::uint64_t count_brought(const LineTruth& truth, const LineExpectation& line, auto&& counts) {
    std::uint64_t count = 0;
    for (const Block* block : truth.blocks) {
        if (block->numbered() && delivers(line.blocks[block->index].fate)) {
            count += static_cast<std::uint64_t>(std::ranges::count_if(
                std::span{block->messages}.first(block->decodable),
                [&](const auto& message) { return counts(*block, message); }));
        }
    }
    return count;
}

void check_line(const LineTruth& truth, const LineExpectation& line,
                const actors::LineSnapshot& counted, const Plan& plan, Findings& findings,
                HeldRows& held) {
    CountComparison compare{fmt::format("account, line {}", truth.number), findings, held};
    for (std::size_t i = 0; i < feed::streams_count; ++i) {
        const actors::StreamTotals& stream = counted.streams[i];
        compare.expect(StreamCount::packets, line.streams[i].packets, stream[StreamCount::packets]);
        compare.expect(StreamCount::messages, line.streams[i].messages,
                       stream[StreamCount::messages]);
    }
    compare.note(StreamCount::duplicate);  // imbalances() compares it with the other counts
    if (!line.exact) {
        return;
    }
    using feed::LineCount;
    const actors::LineTotals& counts = counted.counts;
    const std::uint64_t delivered = line.brought + line.repaired;
    compare.expect(LineCount::highest, delivered + line.lost, counts[LineCount::highest]);
    compare.expect(LineCount::delivered, delivered, counts[LineCount::delivered]);
    compare.expect(LineCount::lost, line.lost, counts[LineCount::lost]);
    if (!plan.twin.there && plan.retransmission.share == 0) {
        compare.expect(0, counts[LineCount::repaired] + counts[LineCount::unasked],
                       "repaired and unasked");
    }
    const bool wants_tests = plan.host.test_symbols;
    compare.expect(LineCount::filtered,
                   count_brought(truth, line,
                                 [=](const Block& block, const auto& message) {
                                     return block.test || (!wants_tests && is_test(message));
                                 }),
                   counts[LineCount::filtered]);
    compare.expect(LineCount::controls,
                   count_brought(truth, line,
                                 [](const Block& block, const auto& message) {
                                     return !block.test && message.category() == 'H';
                                 }),
                   counts[LineCount::controls]);
    check_gaps(truth, line, counted, findings);
    compare.expect(LineCount::gaps_unlisted, 0, counts[LineCount::gaps_unlisted]);
}

}  // namespace

void check_account(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                   Host& host, Findings& findings, Coverage& coverage) {
    const actors::CounterSnapshot counters = host.counters();
    for (const std::string& identity : actors::imbalances(counters)) {
        findings.add("account: " + identity);
    }
    for (const auto& line : actors::parts_of(counters, &actors::PollerSnapshot::lines)) {
        const std::size_t index = truth.line_index(line.line);
        check_line(truth.lines()[index], lines[index], line, plan, findings, coverage.held);
    }
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t missed = 0;
    std::uint64_t link_changes = 0;
    for (const auto& queue : actors::parts_of(counters, &actors::PollerSnapshot::queues)) {
        packets += queue.counts[nic::PortCount::packets];
        bytes += queue.counts[nic::PortCount::bytes];
        link_changes += queue.counts[nic::PortCount::link_changes];
        missed += queue.device.missed.value_or(0);
    }
    std::uint64_t received = 0;
    std::uint64_t received_bytes = 0;
    for (const auto& receive_log : host.receive_logs()) {
        for (const ReceivedPacket& packet : receive_log->packets()) {
            ++received;
            received_bytes += packet.flight->frame.size();
        }
    }
    CountComparison compare{"account, ports", findings, coverage.held};
    compare.expect(nic::PortCount::packets, received, packets);
    compare.expect(nic::PortCount::bytes, received_bytes, bytes);
    compare.expect(nic::PortCount::link_changes, 0, link_changes);
    compare.expect(host.missed(), missed, "missed");
}

}  // namespace pinstrike::sim
