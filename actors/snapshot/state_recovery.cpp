// path: cold
#include "actors/snapshot/state_recovery.h"

#include "actors/publish/missing.h"
#include "actors/snapshot/snapshot_reader.h"
#include "config/time_units.h"
#include "feed/event/position.h"

#include <fmt/format.h>

namespace pinstrike::actors {

namespace {

constexpr std::uint64_t known_end = std::uint64_t{1} << 32;
constexpr std::uint64_t stated_end = std::uint64_t{1} << 33;  ///< by a place of the line
/// No more is read from the process while so many records wait for the books.
constexpr std::size_t queued_records_max = 16384;
/// Pollers state the first message of a line within a tenth of a second. If they do not, the state
/// is taken without it, so quotes are stale.
constexpr std::int64_t again_ns = second_ns / 5;
constexpr std::int64_t unheard_ns_max = 2 * second_ns;
constexpr std::int64_t longest_ns = 600 * second_ns;

const char* reason_of(StateVerdict verdict) {
    switch (verdict) {
        case StateVerdict::other_reset:
            return "a start of day arrived after this instance had started";
        case StateVerdict::no_room:
            return "the book is full";
        case StateVerdict::repeated:
            return "they were known already";
        default:
            return "they do not join";
    }
}

}  // namespace

StateRecovery::StateRecovery(StateRecoverySetup setup, peer::StateExchange& exchange,
                             const peer::StateTransfer* transfer)
    : setup_(std::move(setup)),
      exchange_(exchange),
      transfer_(transfer),
      wanted_(setup_.lines.begin(), setup_.lines.end()) {
    for (const std::uint16_t line : setup_.lines) {
        ends_[line];
    }
    exchange_.set_taking(true);  // no snapshot is taken of books that lack state
}

std::size_t StateRecovery::step(std::int64_t now_ns) {
    clock_.step(now_ns);
    if (phase_ == Phase::over) {
        return 0;
    }
    times_.begun_ns = times_.begun_ns == 0 ? clock_.now_ns() : times_.begun_ns;
    std::size_t done = exchange_.step();
    if (phase_ == Phase::waiting) {
        begin_giving();
    } else {
        done += read_answers();
        give(done);
    }
    return done;
}

/// Waits until peers have given their state, or the transfer from them has ended.
void StateRecovery::begin_giving() {
    if (recorded_.process == nullptr) {
        return finish(false, recorded_.failure);
    }
    if (transfer_ != nullptr) {
        if (!transfer_->over()) {
            return;
        }
        wanted_ = transfer_->unjoined();
        if (wanted_.empty()) {
            return finish(true, "");
        }
    }
    exchange_.set_taking(true);
    phase_ = Phase::giving;
}

void StateRecovery::give(std::size_t& done) {
    const bool ended = recorded_.process->has_ended();  // before the last bytes are read
    const std::size_t bytes = exchange_.queued() < queued_records_max ? read_frames() : 1;
    done += bytes;
    if (ended && bytes == 0 && times_.ended_ns == 0) {
        times_.ended_ns = clock_.now_ns();
    }
    if (clock_.now_ns() >= times_.again_ns) {
        give_again();
    }
    if (times_.ended_ns != 0 && unanswered_ == 0 && unheard_.empty()) {
        finish(recorded_.process->succeeded(), result());
    } else if (clock_.now_ns() - times_.begun_ns >= longest_ns) {
        finish(false, fmt::format("given up after {} s, with the states of {} series",
                                  longest_ns / second_ns, results_.taken.read()));
    }
}

/// Returns the number of bytes.
std::size_t StateRecovery::read_frames() {
    const auto bytes = recorded_.process->read();
    frames_.push(bytes);
    peer::Frame frame;
    while (frames_.next(frame) == peer::FrameReader::Result::frame) {
        if (const auto record = read_state_frame(frame)) {
            take(*record);
        }
    }
    return bytes.size();
}

/// The place of a line comes before its series. A line that was quiet has only those of its series.
/// A series may have a later place, from a snapshot whose last packets are not on disk.
void StateRecovery::take(const StateRecord& record) {
    const bool series = record.kind == StateRecord::Kind::series;
    results_.series.add(series ? 1 : 0);
    const auto end = ends_.find(record.line);
    if (end == ends_.end() || !wanted_.contains(record.line)) {
        return;
    }
    const std::uint32_t place = record.place.sequence;
    const std::uint64_t known = end->second.read();
    if (!series) {
        end->second.set(known_end | stated_end | place);
    } else if (known == 0 || ((known & stated_end) == 0 &&
                              sequence_after(place, static_cast<std::uint32_t>(known)))) {
        end->second.set(known_end | place);
    }
    if (series) {
        post(record);
    }
}

void StateRecovery::post(const StateRecord& record) {
    StateRecord posted = record;
    posted.kind = StateRecord::Kind::earlier;
    posted.recorded = true;
    posted.forced = times_.ended_ns != 0 && clock_.now_ns() - times_.ended_ns >= unheard_ns_max;
    if (exchange_.post(posted) == peer::StateExchange::Posted::yes) {
        ++unanswered_;
    }
}

std::size_t StateRecovery::read_answers() {
    std::size_t done = 0;
    StateRecord answer;
    while (done < peer::StateExchange::answers_each_step && exchange_.answer(answer)) {
        ++done;
        // Answers to a peer's records may still come.
        if (answer.kind != StateRecord::Kind::refused || !answer.recorded) {
            continue;
        }
        --unanswered_;
        if (answer.verdict == StateVerdict::taken) {
            results_.taken.add();
        } else if (answer.verdict == StateVerdict::unheard) {
            unheard_.push_back(answer);
        } else {
            ++results_.others[answer.verdict];
        }
    }
    return done;
}

void StateRecovery::give_again() {
    times_.again_ns = clock_.now_ns() + again_ns;
    for (const StateRecord& record : std::exchange(unheard_, {})) {
        post(record);
    }
}

void StateRecovery::finish(bool recovered, std::string text) {
    phase_ = Phase::over;
    recorded_.process.reset();
    if (transfer_ == nullptr || transfer_->over()) {
        exchange_.post_to_all(StateRecord::Kind::round);  // readers of the stream read state again
        exchange_.set_taking(false);
    }
    if (!text.empty()) {
        (recovered ? results_.succeeded : results_.failed).add();
        setup_.listener(recovered, std::move(text));
    }
}

std::string StateRecovery::result() {
    const std::string said = recorded_.process->last_line();
    if (results_.taken.read() == 0 && results_.others.empty()) {
        return said.empty() ? "the process that reads the recording ended without a result" : said;
    }
    const double seconds = static_cast<double>(clock_.now_ns() - times_.begun_ns) / 1e9;
    std::string text = fmt::format("states of {} series taken in {:.2f} s: {}",
                                   results_.taken.read(), seconds, said);
    for (const auto& [verdict, count] : results_.others) {
        text += fmt::format("; {} not taken because {}", count, reason_of(verdict));
    }
    std::uint64_t messages = 0;
    std::size_t lines = 0;
    for (const std::uint16_t line : setup_.lines) {
        const std::uint64_t missed_here = missed(line).value_or(0);
        messages += missed_here;
        lines += missed_here != 0 ? 1 : 0;
    }
    return text + fmt::format(
                      "; {} messages of {} lines are missing between the recording and the first "
                      "messages since the start",
                      messages, lines);
}

std::optional<std::uint64_t> StateRecovery::missed(std::uint16_t line) const {
    const auto end = ends_.find(line);
    const std::uint64_t first = setup_.first_of(line);
    if (end == ends_.end() || end->second.read() == 0 || first == 0) {
        return std::nullopt;
    }
    const auto last = static_cast<std::uint32_t>(end->second.read());
    const std::uint32_t next = feed::serial_of(first);
    return sequence_after(next, last) ? std::optional<std::uint64_t>{next - last - 1}
                                      : std::nullopt;
}

}  // namespace pinstrike::actors
