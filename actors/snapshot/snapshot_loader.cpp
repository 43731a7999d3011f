// path: cold
#include "actors/snapshot/snapshot_loader.h"

#include "config/check.h"
#include "config/time_units.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinstrike::actors {

namespace {

/// Chunks whose times are this close are given together, and so are those between two packets, in
/// which nothing joins their records earlier: until there are this many records.
constexpr std::int64_t group_ns = 20'000'000;
constexpr std::size_t group_records_max = 250'000;
/// When all chunks were given, records that nothing joins yet are given again after so much time
/// of the recording, until this much has passed.
constexpr std::int64_t repeat_ns = 50'000'000;
constexpr std::int64_t repeat_ns_max = 2'000'000'000;
/// Books keep the state of a day for no longer than this, also over holidays.
constexpr std::int64_t oldest_stamp_ns = 7 * 24 * 3600 * second_ns;

}  // namespace

bool SnapshotSelection::selects(const StateRecord& record) const {
    const auto is_of_record = [&](const std::string& symbol) {
        return feed::symbol_word_of(symbol) == record.key.symbol_word();
    };
    return record.kind != StateRecord::Kind::place &&
           std::ranges::find(lines, record.line) != lines.end() &&
           (record.kind != StateRecord::Kind::series || underlyings.empty() ||
            std::ranges::any_of(underlyings, is_of_record));
}

bool is_of_date(const CoveredPlace& place, std::int64_t trade_date_begin_ns) {
    const std::int64_t ts_ns = place.reset_ts_ns != 0 ? place.reset_ts_ns : place.ts_ns;
    return ts_ns == 0 || ts_ns >= trade_date_begin_ns ||
           ts_ns < trade_date_begin_ns - oldest_stamp_ns;
}

SnapshotLoader::SnapshotLoader(SnapshotReader snapshot, ReplayFrom from,
                               SnapshotSelection selection, peer::StateExchange& exchange,
                               ReplayProgress progress)
    : snapshot_(std::move(snapshot)),
      from_(std::move(from)),
      selection_(std::move(selection)),
      exchange_(exchange),
      progress_(std::move(progress)) {
    exchange_.set_taking(true);
}

std::size_t SnapshotLoader::step() {
    const std::size_t done = exchange_.step() + read_answers();
    switch (phase_) {
        case Phase::reading:
            return done + read_group();
        case Phase::holding:
            if (books_caught_up()) {
                add_waiting();
                round_.given = 0;
                phase_ = round_.records.empty() ? Phase::reading : Phase::giving;
                return done + 1;
            }
            break;
        case Phase::giving:
            return done + give();
        case Phase::answering:
            if (round_.answers_missing == 0) {
                end_round();
                return done + 1;
            }
            break;
        case Phase::beginning:
            if (books_caught_up()) {
                begin_range();
                return done + 1;
            }
            break;
        case Phase::over:
            break;
    }
    return done;
}

/// Reads the next chunks, and holds the packets back after their time. Without further chunks,
/// records that no message joined yet are given again later, and at last also to lines without
/// messages.
std::size_t SnapshotLoader::read_group() {
    std::int64_t group_end_ns = 0;
    const std::int64_t packet_ns = from_.gate->next_ns();
    for (auto records = snapshot_.next(); !records.empty(); records = snapshot_.next()) {
        for (const StateRecord& record : records) {
            if (!selection_.selects(record)) {
                continue;
            }
            const bool taken = is_of_date(record.place, from_.trade_date_begin_ns);
            (taken ? series_ : outdated_).add(record.kind == StateRecord::Kind::series ? 1 : 0);
            if (taken) {
                round_.records.push_back(record);
            }
        }
        group_end_ns = group_end_ns == 0 ? snapshot_.end_ns() + group_ns : group_end_ns;
        const bool is_full = round_.records.size() >= group_records_max;
        if (snapshot_.end_ns() >= group_end_ns && (snapshot_.end_ns() >= packet_ns || is_full)) {
            hold_until(std::min(snapshot_.end_ns() + 1, from_.from_ns));
            return 1;
        }
    }
    if (group_end_ns != 0) {
        hold_until(std::min(snapshot_.end_ns() + 1, from_.from_ns));
        return 1;
    }
    if (waiting_.empty()) {
        exchange_.post_to_all(StateRecord::Kind::finish);
        hold_until(from_.from_ns);
        phase_ = Phase::beginning;
        return 1;
    }
    const std::int64_t last_ns = std::min(snapshot_.end_ns() + repeat_ns_max, from_.from_ns);
    const std::int64_t next_ns = std::max(held_ns_ + repeat_ns, packet_ns);
    hold_until(std::min(next_ns, last_ns));
    round_.forced = held_ns_ >= last_ns;
    return 1;
}

/// Adds the records of lines that have changed since they were refused, and at last all others.
void SnapshotLoader::add_waiting() {
    std::erase_if(waiting_, [this](const auto& entry) {
        const auto& [line, waiting] = entry;
        if (!round_.forced && progress_.changes(line) == waiting.changes) {
            return false;
        }
        for (StateRecord record : waiting.records) {
            record.forced = round_.forced;
            round_.records.push_back(record);
        }
        return true;
    });
}

void SnapshotLoader::hold_until(std::int64_t until_ns) {
    PINSTRIKE_CHECK(phase_ == Phase::reading);
    held_ns_ = std::max(until_ns, held_ns_);
    marks_wanted_ = 0;
    from_.gate->open_until(held_ns_);
    phase_ = Phase::holding;
}

/// Whether the books have processed all packets before the gate, and know how far each line has
/// come: what the pollers sent before the second marks from now is in the rings.
bool SnapshotLoader::books_caught_up() {
    if (!from_.gate->all_held()) {
        return false;
    }
    if (marks_wanted_ == 0) {
        marks_wanted_ = progress_.marked() + 2;
    }
    return progress_.marked() >= marks_wanted_ && progress_.drained();
}

std::size_t SnapshotLoader::give() {
    const std::size_t before = round_.given;
    for (; round_.given < round_.records.size(); ++round_.given) {
        StateRecord record = round_.records[round_.given];
        record.recorded = true;
        if (exchange_.post(record) == peer::StateExchange::Posted::full) {
            return round_.given - before;
        }
    }
    PINSTRIKE_CHECK(round_.answers_missing == 0);  // one round at a time
    round_.answers_missing = exchange_.post_to_all(StateRecord::Kind::round);
    phase_ = Phase::answering;
    return round_.given - before + 1;
}

std::size_t SnapshotLoader::read_answers() {
    std::size_t done = 0;
    StateRecord answer;
    while (done < peer::StateExchange::answers_each_step && exchange_.answer(answer)) {
        ++done;
        if (answer.kind == StateRecord::Kind::round) {
            round_.answers_missing -= round_.answers_missing == 0 ? 0 : 1;
        } else if (answer.kind == StateRecord::Kind::refused) {
            const bool later =
                answer.verdict == StateVerdict::ahead || answer.verdict == StateVerdict::unheard;
            if (later) {
                round_.again.insert(answer.line);
                ++round_.unjoined;
            } else if (answer.verdict != StateVerdict::taken) {
                refused_.add();
            }
        }
    }
    return done;
}

/// Keeps the records that are to be given again. A book may take a record twice.
void SnapshotLoader::end_round() {
    PINSTRIKE_CHECK(round_.given == round_.records.size());
    PINSTRIKE_CHECK(round_.again.empty() == (round_.unjoined == 0));
    for (const std::uint16_t line : round_.again) {
        waiting_[line].changes = progress_.changes(line);
    }
    for (const StateRecord& record : round_.records) {
        if (round_.again.contains(record.line)) {
            waiting_[record.line].records.push_back(record);
        }
    }
    if (round_.forced) {
        refused_.add(round_.unjoined);
        for (const auto& [line, waiting] : std::exchange(waiting_, {})) {
            unjoined_.insert(unjoined_.end(), waiting.records.begin(), waiting.records.end());
        }
    }
    round_ = {};
    phase_ = Phase::reading;
}

void SnapshotLoader::begin_range() {
    PINSTRIKE_CHECK(!begins_.load(std::memory_order_relaxed));  // relaxed: only this thread sets it
    exchange_.set_taking(false);
    // The gate is opened with release order, and so are the rings, so an actor that is held back
    // gets the first event behind the gate.
    begins_.store(true, std::memory_order_release);
    from_.gate->open();
    phase_ = Phase::over;
}

void SnapshotLoader::give_up() {
    if (phase_ != Phase::over) {
        begin_range();
    }
}

}  // namespace pinstrike::actors
