// path: cold
//
// Compares the events that the cores got, record by record, with those that they had to get.
#include "feed/event/event.h"
#include "tests/feed/opra/decoded.h"
#include "tests/sim/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace pinstrike::sim {

namespace {

using feed::Event;
using feed::EventKind;
using feed::GapCause;

bool has(std::uint8_t cores, std::size_t core) {
    return (cores >> core & 1U) != 0;
}

void set(std::uint8_t& cores, std::size_t core) {
    cores = static_cast<std::uint8_t>(cores | 1U << core);
}

bool is_control(const Block& block, unsigned index) {
    return block.messages[index].category() == 'H';
}

}  // namespace

void Coverage::add(const Coverage& other) {
    messages += other.messages;
    lost += other.lost;
    repaired += other.repaired;
    late += other.late;
    undecodable += other.undecodable;
    outside_hours += other.outside_hours;
    refused += other.refused;
    lines += other.lines;
    lines_exact += other.lines_exact;
    sides_fresh += other.sides_fresh;
    sides_vague += other.sides_vague;
    states_taken += other.states_taken;
    series_whole += other.series_whole;
    blocks_kept += other.blocks_kept;
    held.add(other.held);
}

DeliveryCheck::DeliveryCheck(const Plan& plan, const Truth& truth,
                             const std::vector<LineExpectation>& lines, Host& host,
                             Findings& findings)
    : plan_(plan),
      truth_(truth),
      lines_(lines),
      host_(host),
      findings_(findings),
      at_(host.cores_count(), std::vector<CoreLine>(truth.lines().size())),
      lost_reported_(host.cores_count()),
      refused_reported_(host.cores_count()) {
    for (const LineTruth& line : truth.lines()) {
        deliveries_.emplace_back(line.messages.size());
        resets_delivered_.emplace_back(line.blocks.size());
    }
}

void DeliveryCheck::check(Coverage& coverage) {
    for (const auto& receive_log : host_.receive_logs()) {
        if (receive_log->housekeeping().exceeded()) {
            findings_.add("a poller did no housekeeping for long");
        }
    }
    for (std::size_t core = 0; core < host_.cores_count(); ++core) {
        if (host_.recorder(core).timers().exceeded()) {
            findings_.add(fmt::format("core {}: no timers for long", core));
        }
        read_core(core);
        coverage.refused += refused(core);
    }
    check_lines(coverage);
    check_sums(coverage);
    check_resets();
    check_twin();
}

/// If the twin is fast, honest and always up, and the limits of recovery suffice, no message is
/// lost that the twin has.
void DeliveryCheck::check_twin() {
    const feed::RecoveryConfig& recovery = plan_.recovery;
    const bool asked_well =
        recovery.requests_per_second >= 500 && recovery.messages_per_second >= 200'000 &&
        recovery.ranges_max >= 1000 && recovery.answer_within_ns >= 20'000'000 &&
        recovery.give_up_after_ns >= 5'000'000'000;
    const Twin* twin = host_.twin();
    // The missing numbers may exceed the budget of requests: after a disaster, or if a reset to a
    // high number, on any line, makes hundreds of millions of numbers seem missing.
    const auto count = [this](feed::RecoveryCount what) {
        return host_.recovery() == nullptr ? 0 : host_.recovery()->recovery().counters().read(what);
    };
    const bool overwhelmed = count(feed::RecoveryCount::untracked) != 0 ||
                             count(feed::RecoveryCount::never_asked) != 0 ||
                             count(feed::RecoveryCount::postponed) != 0;
    if (twin == nullptr || overwhelmed || !plan_.twin.kind() || !asked_well || !twin->keeps_all() ||
        !host_.had_time_to_flush()) {
        return;
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        for (const Block* block : truth_.lines()[i].blocks) {
            if (lines_[i].heard && lines_[i].exact &&
                lines_[i].blocks[block->index].fate == Fate::lost && twin->has(*block)) {
                findings_.add(name(i, block->begin) + " is lost, though the twin has it");
            }
        }
    }
}

std::string DeliveryCheck::name(std::size_t line, Place place) const {
    const LineTruth& truth = truth_.lines()[line];
    const Block& block = *truth.messages[place].first;
    return fmt::format("line {} number {} (numbering {}, stamped {})", truth.number,
                       truth.number_at(place), block.epoch, block.ts_ns);
}

std::uint64_t DeliveryCheck::counted(std::size_t core, actors::RingCount row) const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < plan_.host.pollers; ++i) {
        count += host_.poller(i).router().counters(core).read(row);
    }
    return count;
}

std::uint64_t DeliveryCheck::refused(std::size_t core) const {
    return counted(core, actors::RingCount::refused);
}

void DeliveryCheck::read_core(std::size_t core) {
    const std::vector<Event>& records = host_.recorder(core).records();
    for (std::size_t at = 0; at < records.size(); at += records[at].header.records) {
        const Event& event = records[at];
        switch (event.header.kind) {
            case EventKind::gap:
                read_gap(core, event);
                break;
            case EventKind::control:
                read_control(core, event);
                break;
            case EventKind::line_state:
            case EventKind::line_mark:  // book_check.cpp checks their effect on copied state
                break;
            default:
                read_data(core, std::span{records}.subspan(at, event.header.records));
                break;
        }
    }
    if (host_.had_time_to_flush()) {
        check_end(core);
    }
}

/// Reports events that the cores got only at the end of the host, because no event may wait that
/// long.
void DeliveryCheck::check_end(std::size_t core) {
    const std::vector<Event>& records = host_.recorder(core).records();
    for (std::size_t at = host_.records_before_end(core); at < records.size();
         at += records[at].header.records) {
        const Event& event = records[at];
        if (event.header.kind != EventKind::line_mark) {  // line marks are sent continually
            return findings_.add(fmt::format(
                "core {}: a record of kind {} on line {} number {} came only when the host ended",
                core, static_cast<int>(event.header.kind), event.header.line,
                event.header.sequence));
        }
    }
}

void DeliveryCheck::read_data(std::size_t core, std::span<const Event> event) {
    const feed::Header& header = event[0].header;
    const Block* block = truth_.stamped(header.ts_exchange_ns);
    if (block != nullptr && block->line_number != header.line && host_.twin() != nullptr &&
        host_.twin()->mixed_up(header.line)) {
        return;
    }
    if (block == nullptr || !block->numbered() || block->line_number != header.line ||
        block->header.session != header.session) {
        return findings_.add(
            fmt::format("core {}: a message that OPRA did not send: line {} number {} "
                        "stamped {}",
                        core, header.line, header.sequence, header.ts_exchange_ns));
    }
    const std::uint64_t index = steps_between(block->header.sequence, header.sequence);
    if (index >= block->messages.size()) {
        return findings_.add(fmt::format("core {}: line {} number {} is not in its block {}", core,
                                         header.line, header.sequence, block->header.sequence));
    }
    const bool gth = header.line >= 201 && header.line <= 204;
    const auto what =
        feed::opra::difference({event.begin(), event.end()}, block->messages[index], gth);
    if (!what.empty()) {
        findings_.add(fmt::format("core {}: {} differs from what was sent: {}", core,
                                  name(block->line, block->begin + index), what));
    }
    note_place(core, event[0], *block, block->begin + index);
}

void DeliveryCheck::note_place(std::size_t core, const Event& event, const Block& block,
                               Place place) {
    const LineExpectation& line = lines_[block.line];
    const BlockFate& fate = line.blocks[block.index];
    Delivery& delivery = deliveries_[block.line][place];
    CoreLine& at = at_[core][block.line];
    const bool control = event.header.kind == EventKind::control;
    const bool late = (event.header.flags & feed::flag_late) != 0;
    if (line.exact && (has(delivery.cores, core) || (!control && delivery.data_count != 0))) {
        findings_.add(fmt::format("core {}: {} comes twice", core, name(block.line, place)));
    }
    if (line.exact && !late && place < at.next) {
        findings_.add(fmt::format("core {}: {} is behind {}, and not marked late", core,
                                  name(block.line, place), name(block.line, at.next - 1)));
    }
    if (late) {
        set(delivery.late, core);
    } else {
        at.next = std::max(at.next, place + 1);
    }
    set(delivery.cores, core);
    delivery.data_count = static_cast<std::uint8_t>(delivery.data_count + (control ? 0 : 1));
    data_seen_ += control ? 0 : 1;
    if (!line.exact) {
        return;
    }
    if (block.test) {
        findings_.add(fmt::format("core {}: {} was sent outside the hours, and was delivered", core,
                                  name(block.line, place)));
    }
    if (!delivers(line.fate_of(block, place - block.begin))) {
        findings_.add(fmt::format("core {}: {} was not to be delivered: fate {}", core,
                                  name(block.line, place), static_cast<int>(fate.fate)));
    }
    if ((event.header.flags & feed::flag_retransmitted) != 0 && !fate.offered) {
        findings_.add(fmt::format("core {}: {} is marked as a repair, and is none", core,
                                  name(block.line, place)));
    }
    if (late && fate.in_time) {
        findings_.add(fmt::format("core {}: {} is marked late, but came in time", core,
                                  name(block.line, place)));
    }
    if (late && !fate.overtaken && !has(delivery.lost, core) && !has(delivery.refused, core)) {
        findings_.add(fmt::format("core {}: {} is late, but was not declared lost", core,
                                  name(block.line, place)));
    }
}

void DeliveryCheck::read_control(std::size_t core, const Event& event) {
    const feed::Header& header = event.header;
    if ((header.flags & feed::flag_inferred) != 0) {
        const std::size_t line = truth_.line_index(header.line);
        if (lines_[line].exact) {
            findings_.add(fmt::format("core {}: line {}: a reset was inferred that was not missed",
                                      core, header.line));
        }
        return;
    }
    const Block* block = truth_.stamped(header.ts_exchange_ns);
    if (block != nullptr && block->renumbers() && block->line_number == header.line) {
        return read_reset(core, event, *block);
    }
    read_data(core, {&event, 1});
}

void DeliveryCheck::read_reset(std::size_t core, const Event& event, const Block& block) {
    const std::string what =
        fmt::format("core {}: line {} {} {} stamped {}", core, block.line_number, event.header.type,
                    event.header.sequence, block.ts_ns);
    const bool day = block.role == feed::BlockRole::start_of_day;
    if (event.header.type != (day ? 'C' : 'K') || event.header.sequence != block.header.sequence) {
        findings_.add(what + ": is not what was sent");
    }
    std::uint8_t& delivery = resets_delivered_[block.line][block.index];
    const feed::Forget forget = event.body.control.forget;
    if (has(delivery, core)) {
        // A second event is allowed if only the slower stream showed that the reset lowers the
        // numbers, or if this reset stands in for a lost one before it.
        const bool lowers = block.lowers || !lines_[block.line].exact;
        if (!lowers || forget != feed::Forget::quotes) {
            findings_.add(what + ": delivered twice");
        }
        return;
    }
    set(delivery, core);
    const LineExpectation& line = lines_[block.line];
    if (line.exact && block.test) {
        findings_.add(what + ": was sent outside the hours, and was delivered");
    }
    if (!line.exact || !line.blocks[block.index].clean || block.index <= line.begin_block) {
        return;
    }
    if (at_[core][block.line].next > block.begin) {
        findings_.add(what + ": delivered behind what came after it");
    }
    const Block* before =
        block.index == 0 ? nullptr : truth_.lines()[block.line].blocks[block.index - 1];
    // Of two consecutive resets, the second has the effect of the first if that was lost.
    const bool sure = day || (!block.lowers && before != nullptr && !before->renumbers());
    const feed::Forget wanted = day ? feed::Forget::day : feed::Forget::nothing;
    if (sure && forget != wanted) {
        findings_.add(fmt::format("{}: makes forget {}", what, static_cast<int>(forget)));
    }
}

/// Marks the numbers of the gap in every epoch that has them.
void DeliveryCheck::read_gap(std::size_t core, const Event& event) {
    const std::size_t index = truth_.line_index(event.header.line);
    if (index == truth_.lines().size()) {
        return findings_.add(fmt::format("core {}: a gap of line {}", core, event.header.line));
    }
    const feed::Gap& gap = event.body.gap;
    if (gap.cause == GapCause::repaired) {
        lost_reported_[core] -= gap.messages;
        return;
    }
    const bool mine = gap.cause == GapCause::ring_full;
    (mine ? refused_reported_ : lost_reported_)[core] += gap.messages;
    const std::uint32_t first = feed::serial_of(gap.first);
    const std::uint64_t span = steps_between(first, feed::serial_of(gap.last));
    for (const Epoch& epoch : truth_.lines()[index].epochs) {
        const std::uint64_t size = epoch.end - epoch.begin;
        const std::uint64_t into = steps_between(epoch.first_number, first);  // of the epoch
        const std::uint64_t before = steps_between(first, epoch.first_number);
        std::uint64_t from = into;
        std::uint64_t to = into + span + 1;
        if (into >= size) {  // the gap begins before the epoch, or does not touch it
            from = 0;
            to = before <= span ? span - before + 1 : 0;
        }
        for (std::uint64_t i = from; i < std::min(to, size); ++i) {
            Delivery& delivery = deliveries_[index][epoch.begin + i];
            set(mine ? delivery.refused : delivery.lost, core);
        }
    }
}

void DeliveryCheck::check_lines(Coverage& coverage) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const LineExpectation& line = lines_[i];
        coverage.lines += line.heard ? 1 : 0;
        if (!line.heard || !line.exact) {
            continue;
        }
        ++coverage.lines_exact;
        coverage.messages += line.brought;
        coverage.lost += line.lost;
        coverage.repaired += line.repaired;
        for (const Block* block : truth_.lines()[i].blocks) {
            for (Place place = block->begin; place < block->end(); ++place) {
                coverage.undecodable += block->can_decode(place - block->begin) ? 0 : 1;
                coverage.outside_hours += block->test ? 1 : 0;
                coverage.late += deliveries_[i][place].late != 0 ? 1 : 0;
                check_place(i, *block, place);
            }
        }
    }
}

void DeliveryCheck::check_place(std::size_t line, const Block& block, Place place) {
    const auto index = static_cast<unsigned>(place - block.begin);
    const Fate fate = lines_[line].fate_of(block, index);
    const Delivery& delivery = deliveries_[line][place];
    const auto all = static_cast<std::uint8_t>((1U << host_.cores_count()) - 1);
    const bool filtered = !plan_.host.test_symbols && is_test(block.messages[index]);
    if (filtered && delivery.cores != 0) {
        findings_.add(fmt::format("{} is a test, and was delivered", name(line, place)));
    }
    if (block.test) {
        return;  // note_place() reports tests that were delivered
    }
    if (fate == Fate::lost && (delivery.lost | delivery.refused) != all) {
        findings_.add(fmt::format("{} is lost without a gap: only cores {:b} got one",
                                  name(line, place), delivery.lost | delivery.refused));
    }
    if (!delivers(fate) || filtered) {
        return;
    }
    const bool all_know = (delivery.cores | delivery.refused) == all;
    const bool known =
        is_control(block, index) ? all_know : delivery.data_count != 0 || delivery.refused != 0;
    if (!known) {
        findings_.add(
            fmt::format("{} was brought and is neither delivered nor declared refused: "
                        "cores {:b}, refused {:b}, lost {:b}",
                        name(line, place), delivery.cores, delivery.refused, delivery.lost));
    }
}

void DeliveryCheck::check_sums(Coverage& /*coverage*/) {
    std::uint64_t due = 0;
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        if (lines_[i].heard && !lines_[i].exact) {
            return;
        }
        for (const Block* block : truth_.lines()[i].blocks) {
            for (unsigned m = 0; m < block->messages.size() && block->numbered(); ++m) {
                if (!lines_[i].heard || block->test) {
                    continue;  // no core gets a day of tests
                }
                const bool filtered = !plan_.host.test_symbols && is_test(block->messages[m]);
                const Fate fate = lines_[i].fate_of(*block, m);
                due += delivers(fate) && !filtered && !is_control(*block, m) ? 1 : 0;
                lost += fate == Fate::lost ? 1 : 0;
            }
        }
    }
    std::uint64_t all_refused = 0;
    for (std::size_t core = 0; core < host_.cores_count(); ++core) {
        const std::uint64_t mine = refused(core);
        all_refused += mine;
        const std::uint64_t reported = lost_reported_[core] + refused_reported_[core];
        // If a repair did not fit into the ring, the core counts a loss too many, which is safe.
        const bool calm = mine == 0 && refused_reported_[core] == 0 &&
                          counted(core, actors::RingCount::untold_repairs) == 0;
        if (reported < lost + mine || (calm && reported != lost)) {
            findings_.add(
                fmt::format("core {}: gaps cover {} messages; {} are lost and {} were "
                            "refused",
                            core, reported, lost, mine));
        }
    }
    if (due != data_seen_ + all_refused) {
        findings_.add(fmt::format("{} messages were due, {} came, and {} were refused", due,
                                  data_seen_, all_refused));
    }
}

void DeliveryCheck::check_resets() {
    for (std::size_t core = 0; core < host_.cores_count(); ++core) {
        if (refused(core) != 0 || refused_reported_[core] != 0) {
            continue;
        }
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            for (const Block* block : truth_.lines()[i].blocks) {
                const bool due = lines_[i].heard && lines_[i].exact && block->renumbers() &&
                                 !block->test &&
                                 lines_[i].blocks[block->index].fate == Fate::brought;
                if (due && !has(resets_delivered_[i][block->index], core)) {
                    findings_.add(fmt::format(
                        "core {}: line {}: a reset to {} stamped {} was not "
                        "reported",
                        core, block->line_number, block->header.sequence, block->ts_ns));
                }
            }
        }
    }
}

}  // namespace pinstrike::sim
