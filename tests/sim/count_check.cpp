// path: cold
//
// Checks the counters, including those that the account does not print, against what the links
// delivered and what the cores got.
#include "feed/event/block.h"
#include "feed/opra/layout.h"
#include "tests/sim/count_comparison.h"
#include "tests/sim/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace pinstrike::sim {

namespace {

using feed::EventKind;
using feed::LineCount;
using feed::StreamCount;

/// What one core got of a line.
struct CoreReports {
    std::uint64_t gaps = 0;      ///< other than those of its own ring
    std::uint64_t late = 0;      ///< messages
    std::uint64_t inferred = 0;  ///< resets
};

/// The late events of one core's book.
struct LateBookEvents {
    std::uint64_t before_day = 0;
    std::uint64_t counted = 0;  ///< quotes, trades, open interest
    std::uint64_t perhaps = 0;  ///< summaries, which count only for series that the book has

    void note(const feed::Event& event) {
        const EventKind kind = event.header.kind;
        const bool series_map =
            kind == EventKind::series_map && event.body.series_map.mapped_line == event.header.line;
        const bool summary = kind == EventKind::end_of_day;
        const bool stated = kind == EventKind::quote || kind == EventKind::trade ||
                            kind == EventKind::open_interest;
        if ((event.header.flags & feed::flag_before_day) != 0) {
            before_day += series_map || summary || stated ? 1 : 0;
        } else if ((event.header.flags & feed::flag_late) != 0) {
            counted += stated ? 1 : 0;
            perhaps += summary ? 1 : 0;
        }
    }
};

/// What the line's poller received, in order.
struct Brought {
    std::uint64_t resets = 0;               ///< each once, from the first block received on
    std::uint64_t resets_before = 0;        ///< each once, from before the first block received
    std::uint64_t reset_copies = 0;         ///< of both streams
    std::uint64_t reset_copies_before = 0;  ///< of these, of resets from before the first block
    std::uint64_t holds = 0;                ///< blocks that arrived before an earlier one
    std::uint64_t holes = 0;            ///< times that a block showed that earlier ones are missing
    std::uint64_t realigned = 0;        ///< times that a stream changed epoch without its reset
    std::uint64_t repair_controls = 0;  ///< retransmitted blocks without numbers
    std::uint64_t repairs = 0;          ///< messages on the retransmission groups
    /// Messages of each stream: of blocks that it delivered first, and undecodable ones.
    std::array<std::uint64_t, feed::streams_count> first{};
    std::array<std::uint64_t, feed::streams_count> undecodable{};
};

class LineReader {
  public:
    LineReader(const LineTruth& truth, const LineExpectation& line)
        : truth_(truth),
          begin_(line.begin_block),
          heard_(truth.blocks.size()),
          next_(truth.epochs.size(), line.begin_block) {
        for (const Epoch& epoch : truth.epochs) {
            known_.push_back(std::max(epoch.begin, line.begin));
        }
        // If the first block is a reset, both streams are in no known epoch before it.
        const Block& first = *truth.blocks[line.begin_block];
        epochs_.fill(first.epoch + (first.renumbers() ? 0 : 1));
    }

    void read(const Flight& flight) {
        const Block& block = *flight.block;
        if (flight.repair) {
            out_.repair_controls += block.numbered() ? 0 : 1;
            out_.repairs += block.numbered() ? block.messages.size() : 0;
            return;
        }
        const bool fresh = !heard_[block.index];
        heard_[block.index] = true;
        const auto stream = static_cast<std::size_t>(flight.stream);
        if (block.numbered()) {
            out_.undecodable[stream] += block.messages.size() - block.decodable;
            out_.first[stream] += fresh && block.index >= begin_ ? block.decodable : 0;
        }
        std::size_t& epoch = epochs_[stream];
        out_.realigned += block.epoch + 1 > epoch && !block.renumbers() ? 1 : 0;
        epoch = std::max(epoch, block.epoch + 1);
        out_.reset_copies += block.renumbers() ? 1 : 0;
        const bool before = block.index < begin_;
        out_.reset_copies_before += block.renumbers() && before ? 1 : 0;
        if (block.renumbers() && fresh) {
            ++(before ? out_.resets_before : out_.resets);
        }
        Place& known = known_[block.epoch];
        out_.holes += block.begin > known ? 1 : 0;
        known = std::max(known, block.end());
        out_.holds += fresh && block.numbered() && lacks_one_before(block) ? 1 : 0;
    }

    [[nodiscard]] const Brought& brought() const { return out_; }

  private:
    /// Whether an earlier block of the same epoch has not arrived yet.
    [[nodiscard]] bool lacks_one_before(const Block& block) {
        std::size_t& next = next_[block.epoch];
        while (next < block.index && (heard_[next] || !truth_.blocks[next]->numbered() ||
                                      truth_.blocks[next]->epoch != block.epoch)) {
            ++next;
        }
        return next < block.index;
    }

    const LineTruth& truth_;
    std::size_t begin_;
    std::vector<bool> heard_;        ///< by block
    std::vector<std::size_t> next_;  ///< by epoch: all blocks before this index were received
    std::vector<Place> known_;       ///< by epoch: behind the last number known to exist
    std::array<std::size_t, feed::streams_count> epochs_{};  ///< epoch of each stream, plus one
    Brought out_;
};

/// Whether two blocks of the line look like copies with different times: they agree in number and
/// size, in the first bytes of their messages, and in the sum of all bytes of messages
/// (feed::opra::Opra::ts_of_copy()). Blocks whose numbers begin anew may do so by chance.
bool has_copies(const LineTruth& truth) {
    constexpr std::size_t compared_bytes =
        sizeof(feed::BlockStart) - feed::opra::block::header_bytes;
    std::set<std::tuple<std::uint32_t, std::size_t, std::uint16_t, std::vector<std::byte>>> known;
    return std::ranges::any_of(truth.blocks, [&](const Block* block) {
        const auto messages = std::span{block->bytes}.subspan(feed::opra::block::header_bytes);
        const auto first = messages.first(std::min(messages.size(), compared_bytes));
        std::uint16_t sum = 0;
        for (const std::byte byte : messages) {
            sum = static_cast<std::uint16_t>(sum + static_cast<std::uint16_t>(byte));
        }
        return block->numbered() && !known
                                         .emplace(block->header.sequence, messages.size(), sum,
                                                  std::vector(first.begin(), first.end()))
                                         .second;
    });
}

Brought brought_to(const LineTruth& truth, std::size_t line, const LineExpectation& expected,
                   const ReceiveLog& receive_log) {
    LineReader reader{truth, expected};
    for (const ReceivedPacket& received : receive_log.packets()) {
        const Flight& flight = *received.flight;
        if (flight.line == line && flight.whole && flight.block != nullptr) {
            reader.read(flight);
        }
    }
    return reader.brought();
}

class CountCheck {
  public:
    CountCheck(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
               Host& host, Findings& findings, HeldRows& held)
        : plan_(plan), truth_(truth), lines_(lines), host_(host), findings_(findings), held_(held) {
        for (std::size_t core = 0; core < host.cores_count(); ++core) {
            read_core(core);
        }
    }

    void check() {
        for (std::size_t poller = 0; poller < plan_.host.pollers; ++poller) {
            actors::PollerTask& task = host_.poller(poller);
            for (std::size_t i = 0; i < task.lines_count(); ++i) {
                check_line(truth_.line_index(task.line(i).number), task.line(i).arbiter);
            }
        }
        if (host_.recovery() != nullptr) {
            check_holes();
        }
    }

  private:
    [[nodiscard]] CountComparison compare(std::string whose) {
        return {std::move(whose), findings_, held_};
    }

    /// Checks the core's counters, and the pollers' counts of broadcasts, against the core's
    /// events.
    void read_core(std::size_t core) {
        reports_.emplace_back(lines_.size());
        std::array<std::uint64_t, 256> kinds{};
        LateBookEvents late;
        const std::vector<feed::Event>& records = host_.recorder(core).records();
        for (std::size_t at = 0; at < records.size(); at += records[at].header.records) {
            const feed::Event& event = records[at];
            ++kinds[static_cast<std::size_t>(event.header.kind)];
            late.note(event);
            const std::size_t line = truth_.line_index(event.header.line);
            if (line < lines_.size()) {
                note(reports_[core][line], event);
            }
        }
        const auto of = [&kinds](EventKind kind) { return kinds[static_cast<std::size_t>(kind)]; };
        const actors::CoreCounters& counters = host_.core(core).counters();
        CountComparison of_core = compare(fmt::format("core {}", core));
        using actors::CoreCount;
        const auto expect = [&](CoreCount row, std::uint64_t wanted) {
            of_core.expect(row, wanted, counters.read(row));
        };
        expect(CoreCount::gap_events, of(EventKind::gap));
        expect(CoreCount::control_events, of(EventKind::control));
        expect(CoreCount::line_state_events, of(EventKind::line_state));
        expect(CoreCount::line_mark_events, of(EventKind::line_mark));
        expect(CoreCount::announced_series, 0);  // the simulation has no file of series
        expect(CoreCount::records, records.size());
        of_core.expect_between(CoreCount::batches, records.empty() ? 0 : 1, records.size(),
                               counters.read(CoreCount::batches));
        const std::uint64_t line_events = of(EventKind::gap) + of(EventKind::control) +
                                          of(EventKind::line_state) + of(EventKind::line_mark);
        const std::uint64_t events =
            std::accumulate(kinds.begin(), kinds.end(), std::uint64_t{0}) - line_events;
        expect(CoreCount::events, events);
        check_book(core, late);
        check_rings(core, events, line_events);
    }

    /// Checks the rings of all pollers to a core against what the core got from them.
    void check_rings(std::size_t core, std::uint64_t events, std::uint64_t line_events) {
        using actors::RingCount;
        std::array<std::uint64_t, actors::RingCount_count> sums{};
        for (std::size_t i = 0; i < plan_.host.pollers; ++i) {
            const actors::RingCounters& ring = host_.poller(i).router().counters(core);
            for (std::size_t row = 0; row < sums.size(); ++row) {
                sums[row] += ring.read(static_cast<RingCount>(row));
            }
        }
        const auto sum = [&sums](RingCount row) { return sums[static_cast<std::size_t>(row)]; };
        CountComparison of_rings = compare(fmt::format("rings to core {}", core));
        of_rings.expect(RingCount::pushed, events, sum(RingCount::pushed));
        of_rings.expect(RingCount::routed, events + sum(RingCount::refused),
                        sum(RingCount::routed));
        of_rings.note(RingCount::refused);  // imbalances() compares it with the lines' counts
        of_rings.expect(RingCount::broadcast, line_events, sum(RingCount::broadcast));
        of_rings.expect(RingCount::waits, 0, sum(RingCount::waits));  // only replays wait
        rings_full_ = rings_full_ || sum(RingCount::refused) + sum(RingCount::untold_repairs) != 0;
    }

    /// `late` is not checked if state was copied, because late messages are then applied twice, or
    /// if the table was full, because refused messages do not count as late.
    void check_book(std::size_t core, const LateBookEvents& late) {
        using actors::BookCount;
        const actors::BookCounters& counters = host_.book(core).counters();
        CountComparison of_book = compare(fmt::format("book of core {}", core));
        of_book.expect(BookCount::late_before_day, late.before_day,
                       counters.read(BookCount::late_before_day));
        if (host_.transfer() == nullptr && counters.read(BookCount::series_refused) == 0) {
            of_book.expect_between(BookCount::late, late.counted, late.counted + late.perhaps,
                                   counters.read(BookCount::late));
        }
    }

    void note(CoreReports& reports, const feed::Event& event) {
        const bool control = event.header.kind == EventKind::control;
        if (event.header.kind == EventKind::gap) {
            const feed::GapCause cause = event.body.gap.cause;
            reports.gaps += cause == feed::GapCause::line || cause == feed::GapCause::undecodable;
            rings_full_ = rings_full_ || cause == feed::GapCause::ring_full;
        } else {
            reports.late += (event.header.flags & feed::flag_late) != 0 ? 1 : 0;
            reports.inferred += control && (event.header.flags & feed::flag_inferred) != 0 ? 1 : 0;
        }
    }

    void check_line(std::size_t index, feed::Arbiter& arbiter) {
        const LineTruth& truth = truth_.lines()[index];
        const LineExpectation& line = lines_[index];
        CountComparison of_line = compare(fmt::format("line {}", truth.number));
        const auto expect = [&](LineCount row, std::uint64_t wanted) {
            of_line.expect(row, wanted, arbiter.counters().read(row));
        };
        if (!line.heard) {
            for (std::size_t row = 0; row < feed::LineCount_count; ++row) {
                if (static_cast<LineCount>(row) != LineCount::unasked) {
                    expect(static_cast<LineCount>(row), 0);
                }
            }
            return;
        }
        const Brought brought =
            brought_to(truth, index, line, *host_.receive_logs()[host_.poller_of(index)]);
        expect(LineCount::retransmitted_controls, brought.repair_controls);
        expect(LineCount::invalid_sequence, 0);
        expect(LineCount::unnumbered, 0);
        check_resets(truth, line, brought, arbiter.counters(), of_line);
        holes_ += brought.holes;
        check_messages(line, brought, arbiter, of_line);
        check_reports(index, arbiter.counters(), of_line);
        if (line.whole()) {
            if (brought.repairs == 0 && !twin_repairs(index)) {  // nothing else fills holes
                expect(LineCount::holds, brought.holds);
            }
            expect(LineCount::streams_realigned, brought.realigned);
            expect(LineCount::holds_cut_short, 0);
        }
    }

    /// Whether the twin sent blocks of the line, or blocks that OPRA never sent.
    [[nodiscard]] bool twin_repairs(std::size_t line) const {
        return std::ranges::any_of(host_.repairs(), [line](const Block* block) {
            return block == nullptr || block->line == line;
        });
    }

    /// Only if nothing was lost or came late, because a hole that is filled in part is noted again.
    void check_holes() {
        bool sure = std::ranges::all_of(
            lines_, [](const LineExpectation& line) { return !line.heard || line.whole(); });
        for (std::size_t i = 0; i < plan_.host.pollers; ++i) {
            sure = sure && host_.poller(i).repair_rings()->notes_dropped().read() == 0;
        }
        if (sure) {
            compare("all lines")
                .expect(feed::RecoveryCount::holes, holes_,
                        host_.recovery()->recovery().counters().read(feed::RecoveryCount::holes));
        }
    }

    void check_resets(const LineTruth& truth, const LineExpectation& line, const Brought& brought,
                      const feed::LineCounters& counters, CountComparison& of_line) {
        const std::uint64_t applied = counters.read(LineCount::resets);
        const std::uint64_t repeated = counters.read(LineCount::resets_repeated);
        const std::uint64_t stale = counters.read(LineCount::resets_stale);
        of_line.expect(brought.reset_copies, applied + repeated + stale,
                       "resets, resets_repeated and resets_stale");
        if (line.exact) {
            // A reset from before the first block changes nothing, and may count in any way.
            const std::uint64_t before = brought.reset_copies_before;
            const std::uint64_t second = brought.reset_copies - before - brought.resets;
            of_line.expect_between(LineCount::resets, brought.resets,
                                   brought.resets + brought.resets_before, applied);
            of_line.expect_between(LineCount::resets_repeated, second, second + before, repeated);
            of_line.expect_between(LineCount::resets_stale, 0, before, stale);
            of_line.expect(LineCount::resets_inferred, 0,
                           counters.read(LineCount::resets_inferred));
        }
        if (!has_copies(truth)) {
            of_line.expect(LineCount::copies_restamped, 0,
                           counters.read(LineCount::copies_restamped));
        }
    }

    void check_messages(const LineExpectation& line, const Brought& brought, feed::Arbiter& arbiter,
                        CountComparison& of_line) {
        const feed::LineCounters& counters = arbiter.counters();
        const bool alone = !plan_.twin.there;
        if (alone) {
            of_line.note(LineCount::repaired, LineCount::unasked);
            of_line.expect(brought.repairs,
                           counters.read(LineCount::repaired) + counters.read(LineCount::unasked),
                           "repaired and unasked");
        }
        for (const feed::Stream stream : {feed::Stream::a, feed::Stream::b}) {
            const auto i = static_cast<std::size_t>(stream);
            const feed::StreamCounters& counts = arbiter.counters(stream);
            if (line.exact && alone && plan_.retransmission.share == 0) {
                of_line.expect(StreamCount::accepted, brought.first[i],
                               counts.read(StreamCount::accepted));
            }
            if (line.exact) {
                of_line.expect(StreamCount::rejected, brought.undecodable[i],
                               counts.read(StreamCount::rejected));
            }
        }
    }

    /// Skips lines with tests, which no core gets, and runs in which a ring was full.
    void check_reports(std::size_t index, const feed::LineCounters& counters,
                       CountComparison& of_line) {
        const bool tests = std::ranges::any_of(truth_.lines()[index].blocks,
                                               [](const Block* block) { return block->test; });
        if (tests || rings_full_) {
            return;
        }
        std::uint64_t late = 0;
        for (const std::vector<CoreReports>& core : reports_) {
            late += core[index].late;
            of_line.expect(LineCount::gaps, core[index].gaps, counters.read(LineCount::gaps));
            of_line.expect(LineCount::resets_inferred, core[index].inferred,
                           counters.read(LineCount::resets_inferred));
        }
        if (counters.read(LineCount::filtered) + counters.read(LineCount::controls) == 0) {
            of_line.expect(LineCount::late, late, counters.read(LineCount::late));
        }
    }

    const Plan& plan_;
    const Truth& truth_;
    const std::vector<LineExpectation>& lines_;
    Host& host_;
    Findings& findings_;
    HeldRows& held_;
    std::vector<std::vector<CoreReports>> reports_;  ///< by core and line
    bool rings_full_ = false;
    std::uint64_t holes_ = 0;
};

}  // namespace

void check_counts(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                  Host& host, Findings& findings, Coverage& coverage) {
    CountCheck{plan, truth, lines, host, findings, coverage.held}.check();
}

}  // namespace pinstrike::sim
