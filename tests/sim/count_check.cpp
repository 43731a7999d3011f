// path: cold
//
// Checks the counters, including those that the account does not print, against what the links
// delivered and what the cores got.
#include "tests/sim/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace pinstrike::sim {

namespace {

using feed::EventKind;
using feed::LineCount;

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
    std::uint64_t resets = 0;           ///< each once, from the first block received on
    std::uint64_t reset_copies = 0;     ///< of both streams
    std::uint64_t holds = 0;            ///< blocks that arrived before an earlier one
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
        out_.resets += block.renumbers() && fresh && block.index >= begin_ ? 1 : 0;
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
    std::array<std::size_t, feed::streams_count> epochs_{};  ///< epoch of each stream, plus one
    Brought out_;
};

Brought brought_to(const LineTruth& truth, std::size_t line, const LineExpectation& expected,
                   const ReceiveLog& receive_log) {
    LineReader reader{truth, expected};
    for (const ReceivedPacket& handed : receive_log.packets()) {
        const Flight& flight = *handed.flight;
        if (flight.line == line && flight.whole && flight.block != nullptr) {
            reader.read(flight);
        }
    }
    return reader.brought();
}

class CountCheck {
  public:
    CountCheck(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
               Host& host, Findings& findings)
        : plan_(plan), truth_(truth), lines_(lines), host_(host), findings_(findings) {
        for (std::size_t core = 0; core < host.cores_count(); ++core) {
            read_core(core);
        }
    }

    void check() {
        for (std::size_t poller = 0; poller < plan_.host.pollers; ++poller) {
            actors::PollerTask& task = host_.poller(poller);
            for (std::size_t i = 0; i < task.lines_count(); ++i) {
                check_line(truth_.line_index(task.line_number(i)), task.arbiter(i));
            }
        }
        if (host_.recovery() != nullptr) {
            check_recovery();
        }
    }

  private:
    void expect(std::uint64_t wanted, std::uint64_t found, const std::string& what) {
        if (wanted != found) {
            findings_.add(fmt::format("counts, {} is {}, not {}", what, found, wanted));
        }
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
        const std::string whose = fmt::format("core {}: ", core);
        expect(of(EventKind::gap), counters.read(actors::CoreCount::gap_events),
               whose + "gap_events");
        expect(of(EventKind::control), counters.read(actors::CoreCount::control_events),
               whose + "control_events");
        expect(of(EventKind::line_state), counters.read(actors::CoreCount::line_state_events),
               whose + "line_state_events");
        expect(of(EventKind::line_mark), counters.read(actors::CoreCount::line_mark_events),
               whose + "line_mark_events");
        expect(records.size(), counters.read(actors::CoreCount::records), whose + "records");
        check_book(core, late);
        std::uint64_t broadcast = 0;
        for (std::size_t i = 0; i < plan_.host.pollers; ++i) {
            const actors::RingCounters& ring = host_.poller(i).router().counters(core);
            broadcast += ring.read(actors::RingCount::broadcast);
            rings_full_ = rings_full_ || ring.read(actors::RingCount::refused) +
                                                 ring.read(actors::RingCount::untold_repairs) !=
                                             0;
        }
        expect(of(EventKind::gap) + of(EventKind::control) + of(EventKind::line_state) +
                   of(EventKind::line_mark),
               broadcast, whose + "broadcasts to it");
    }

    /// `late` is not checked if state was copied, because late messages are then applied twice, or
    /// if the table was full, because refused messages do not count as late.
    void check_book(std::size_t core, const LateBookEvents& late) {
        using actors::BookCount;
        const actors::BookCounters& counters = host_.book(core).counters();
        const std::string whose = fmt::format("book of core {}: ", core);
        expect(late.before_day, counters.read(BookCount::late_before_day),
               whose + "late_before_day");
        const std::uint64_t found = counters.read(BookCount::late);
        const bool sure =
            host_.transfer() == nullptr && counters.read(BookCount::series_refused) == 0;
        if (sure && (found < late.counted || found > late.counted + late.perhaps)) {
            findings_.add(fmt::format("counts, {}late is {}, not {} to {}", whose, found,
                                      late.counted, late.counted + late.perhaps));
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
        const feed::LineCounters& counters = arbiter.counters();
        const LineTruth& truth = truth_.lines()[index];
        const LineExpectation& line = lines_[index];
        const std::string whose = fmt::format("line {}: ", truth.number);
        const auto count = [&counters](LineCount row) { return counters.read(row); };
        if (!line.heard) {
            for (std::size_t row = 0; row < feed::LineCount_count; ++row) {
                if (static_cast<LineCount>(row) != LineCount::unasked) {
                    expect(0, count(static_cast<LineCount>(row)),
                           whose + std::string{feed::LineCount_rows[row].name});
                }
            }
            return;
        }
        const Brought brought =
            brought_to(truth, index, line, *host_.receive_logs()[host_.poller_of(index)]);
        expect(brought.reset_copies,
               count(LineCount::resets) + count(LineCount::resets_repeated) +
                   count(LineCount::resets_stale),
               whose + "resets, resets_repeated and resets_stale");
        expect(brought.repair_controls, count(LineCount::retransmitted_controls),
               whose + "retransmitted_controls");
        expect(0, count(LineCount::invalid_sequence), whose + "invalid_sequence");
        if (line.exact) {
            if (count(LineCount::resets) < brought.resets) {  // earlier resets may count as well
                findings_.add(fmt::format("counts, {}resets is {}, though {} came", whose,
                                          count(LineCount::resets), brought.resets));
            }
            expect(0, count(LineCount::resets_inferred), whose + "resets_inferred");
        }
        check_messages(line, brought, arbiter, whose);
        check_reports(index, counters, whose);
        if (line.whole()) {
            if (!plan_.twin.there && plan_.retransmission.share == 0) {  // nothing else fills holes
                expect(brought.holds, count(LineCount::holds), whose + "holds");
            }
            expect(brought.realigned, count(LineCount::streams_realigned),
                   whose + "streams_realigned");
            expect(0, count(LineCount::holds_cut_short), whose + "holds_cut_short");
        }
    }

    void check_messages(const LineExpectation& line, const Brought& brought, feed::Arbiter& arbiter,
                        const std::string& whose) {
        const feed::LineCounters& counters = arbiter.counters();
        const bool alone = !plan_.twin.there;
        if (alone) {
            expect(brought.repairs,
                   counters.read(LineCount::repaired) + counters.read(LineCount::unasked),
                   whose + "repaired and unasked");
        }
        for (const feed::Stream stream : {feed::Stream::a, feed::Stream::b}) {
            const auto i = static_cast<std::size_t>(stream);
            const std::string of = whose + (i == 0 ? "A: " : "B: ");
            const feed::StreamCounters& counts = arbiter.counters(stream);
            if (line.exact && alone && plan_.retransmission.share == 0) {
                expect(brought.first[i], counts.read(feed::StreamCount::accepted), of + "accepted");
            }
            if (line.exact) {
                expect(brought.undecodable[i], counts.read(feed::StreamCount::rejected),
                       of + "rejected");
            }
        }
    }

    /// Skips lines with tests, which no core gets, and runs in which a ring was full.
    void check_reports(std::size_t index, const feed::LineCounters& counters,
                       const std::string& whose) {
        const bool tests = std::ranges::any_of(truth_.lines()[index].blocks,
                                               [](const Block* block) { return block->test; });
        if (tests || rings_full_) {
            return;
        }
        std::uint64_t late = 0;
        for (const std::vector<CoreReports>& core : reports_) {
            late += core[index].late;
            expect(core[index].gaps, counters.read(LineCount::gaps), whose + "gaps");
            expect(core[index].inferred, counters.read(LineCount::resets_inferred),
                   whose + "resets_inferred");
        }
        if (counters.read(LineCount::filtered) + counters.read(LineCount::controls) == 0) {
            expect(late, counters.read(LineCount::late), whose + "late");
        }
    }

    /// Each number that was noted missing is counted under exactly one outcome.
    void check_recovery() {
        using feed::RecoveryCount;
        const auto& counters = host_.recovery()->recovery().counters();
        std::uint64_t ends = 0;
        for (const RecoveryCount end :
             {RecoveryCount::filled, RecoveryCount::repaired, RecoveryCount::abandoned,
              RecoveryCount::never_asked, RecoveryCount::untracked, RecoveryCount::open}) {
            ends += counters.read(end);
        }
        expect(ends, counters.read(RecoveryCount::missing), "recovery: missing");
    }

    const Plan& plan_;
    const Truth& truth_;
    const std::vector<LineExpectation>& lines_;
    Host& host_;
    Findings& findings_;
    std::vector<std::vector<CoreReports>> reports_;  ///< by core and line
    bool rings_full_ = false;
};

}  // namespace

void check_counts(const Plan& plan, const Truth& truth, const std::vector<LineExpectation>& lines,
                  Host& host, Findings& findings) {
    CountCheck{plan, truth, lines, host, findings}.check();
}

}  // namespace pinstrike::sim
