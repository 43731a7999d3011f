// path: cold
#include "actors/peer/state_transfer.h"

#include "actors/peer/state_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pinstrike::actors::peer {

namespace {

constexpr std::int64_t pause_least_ns = 20'000'000;
constexpr std::int64_t pause_most_ns = 2'000'000'000;
/// The time in which peers that have just started too can get state from other peers.
constexpr std::int64_t none_ns_max = 2'000'000'000;

/// By StateVerdict. `repeated` is no verdict on a peer's state.
constexpr std::array verdict_counts{StateCount::taken,   StateCount::unheard,     StateCount::ahead,
                                    StateCount::behind,  StateCount::other_reset, StateCount::moved,
                                    StateCount::no_room, StateCount::foreign};
static_assert(verdict_counts.size() == static_cast<std::size_t>(StateVerdict::repeated) + 1);

}  // namespace

StateTransfer::StateTransfer(StateExchange& exchange, const std::vector<std::uint16_t>& lines,
                             std::int64_t within_ns, PeerListener listener)
    : exchange_(exchange),
      all_(lines.begin(), lines.end()),
      within_ns_(within_ns),
      listener_(std::move(listener)),
      pause_ns_(pause_least_ns) {
    round_.wanted = all_;
    exchange_.set_taking(true);
}

void StateTransfer::record(const StateRecord& record) {
    if (phase_ != Phase::receiving) {
        return;
    }
    const bool place = record.kind == StateRecord::Kind::place;
    const unsigned series = record.kind == StateRecord::Kind::series ? 1 : 0;
    counts_.bump(StateCount::received, series);
    if (!all_.contains(record.line)) {
        counts_.bump(StateCount::foreign, series);
        return;
    }
    round_.placed[record.line] += place ? 1 : 0;
    round_.books = place ? record.books : round_.books;
    StateRecord posted = record;
    posted.forced = round_.forced;
    switch (exchange_.post(posted)) {
        case StateExchange::Posted::yes:
            break;
        case StateExchange::Posted::no_book:
            counts_.bump(StateCount::foreign);
            break;
        case StateExchange::Posted::full:
            counts_.bump(StateCount::crowded, series);
            round_.again.insert(record.line);
            break;
    }
}

void StateTransfer::impossible() {
    if (phase_ == Phase::receiving) {
        counts_.bump(StateCount::received);
        counts_.bump(StateCount::impossible);
    }
}

void StateTransfer::ended(StateOutcome outcome) {
    if (phase_ == Phase::receiving) {
        round_.outcome = outcome;
        if (outcome == StateOutcome::whole) {
            note_unplaced();
        } else {
            counts_.bump(StateCount::failed);
        }
        round_.answers_missing = exchange_.post_to_all(StateRecord::Kind::round);
        phase_ = Phase::closing;
    }
}

std::size_t StateTransfer::step(std::int64_t now_ns, const std::vector<StateSource*>& sources) {
    if (phase_ == Phase::over) {
        return 0;
    }
    begun_ns_ = begun_ns_ == 0 ? now_ns : begun_ns_;
    const std::size_t done = read_answers();
    if (phase_ == Phase::closing && round_.answers_missing == 0) {
        close_round(now_ns);
    } else if (now_ns - begun_ns_ >= within_ns_) {
        finish(false, now_ns);
    } else if (phase_ == Phase::waiting && now_ns >= ask_ns_) {
        ask(now_ns, sources);
    }
    return done;
}

std::size_t StateTransfer::read_answers() {
    std::size_t done = 0;
    StateRecord answer;
    while (done < StateExchange::answers_each_step && exchange_.answer(answer)) {
        ++done;
        if (answer.kind == StateRecord::Kind::round) {
            round_.answers_missing -= round_.answers_missing == 0 ? 0 : 1;
        } else if (answer.kind == StateRecord::Kind::refused) {
            counts_.bump(verdict_counts[static_cast<std::size_t>(answer.verdict)]);
            const bool final =
                answer.verdict == StateVerdict::taken || answer.verdict == StateVerdict::no_room;
            if (!final) {
                round_.again.insert(answer.line);
            }
        } else if (answer.kind == StateRecord::Kind::apart) {
            round_.again.insert(answer.line);
        }
    }
    return done;
}

void StateTransfer::ask(std::int64_t now_ns, const std::vector<StateSource*>& sources) {
    const bool named = round_.wanted != all_ && round_.wanted.size() <= state_lines_max;
    const std::vector<std::uint16_t> lines =
        named ? std::vector<std::uint16_t>(round_.wanted.begin(), round_.wanted.end())
              : std::vector<std::uint16_t>{};
    round_.forced = now_ns >= forced_ns();
    round_.begun_ns = now_ns;
    round_.again.clear();
    round_.placed.clear();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        StateSource& source = *sources[(turn_ + i) % sources.size()];
        if (source.request_state(lines)) {
            counts_.bump(StateCount::requests);
            turn_ = (turn_ + i) % sources.size();
            round_.peer = source.peer();
            phase_ = Phase::receiving;
            return;
        }
    }
    ask_ns_ = now_ns + pause_least_ns;  // because no peer can answer yet
}

void StateTransfer::close_round(std::int64_t now_ns) {
    if (round_.outcome != StateOutcome::whole) {
        ++turn_;
        const bool none = round_.outcome == StateOutcome::has_none;
        none_since_ns_ = !none ? 0 : none_since_ns_ == 0 ? now_ns : none_since_ns_;
        const bool long_enough = none && now_ns - none_since_ns_ >= none_ns_max;
        return long_enough ? finish(false, now_ns) : pause(now_ns);
    }
    first_ = false;
    round_.lasted_ns = now_ns - round_.begun_ns;
    round_.wanted = round_.again;
    none_since_ns_ = 0;
    ++turn_;  // because another peer may have what this one lacks
    if (round_.wanted.empty() || round_.forced) {
        const bool left_out =
            counts_.read(StateCount::impossible) != 0 || counts_.read(StateCount::no_room) != 0;
        return finish(round_.wanted.empty() && !left_out, now_ns);
    }
    pause(now_ns);
}

/// Requests again the lines on which not all cores of the peer stated a position. In the last
/// round, only those that a core here has received or the peer sent series of: the others carry no
/// messages and have no state to copy.
void StateTransfer::note_unplaced() {
    for (const std::uint16_t line : round_.wanted) {
        const auto placed = round_.placed.find(line);
        const bool sent = placed != round_.placed.end();
        if (sent && placed->second >= round_.books) {
            continue;
        }
        const bool only_series = sent && placed->second == 0;
        if (round_.forced && !only_series) {
            exchange_.post_to_all(StateRecord::Kind::unplaced, line);
        } else {
            round_.again.insert(line);
        }
    }
}

/// The time from which the next round is the last one. A line without messages may only be quiet,
/// so this waits for its first message for most of the time. But a round that begins just before
/// this time and the last one must both come to their ends.
std::int64_t StateTransfer::forced_ns() const {
    return begun_ns_ + within_ns_ - std::max(within_ns_ / 4, 3 * round_.lasted_ns);
}

void StateTransfer::pause(std::int64_t now_ns) {
    phase_ = Phase::waiting;
    ask_ns_ = now_ns + pause_ns_;
    if (now_ns < forced_ns()) {
        ask_ns_ = std::min(ask_ns_, forced_ns());
    }
    pause_ns_ = std::min(2 * pause_ns_, pause_most_ns);
}

void StateTransfer::finish(bool whole, std::int64_t now_ns) {
    phase_ = Phase::over;
    if (!whole) {
        // The books tell this to peers that take state from here.
        unjoined_ = !first_ && !round_.wanted.empty() ? round_.wanted : all_;
        for (const std::uint16_t line : unjoined_) {
            exchange_.post_to_all(StateRecord::Kind::partial, line);
        }
    }
    exchange_.post_to_all(StateRecord::Kind::finish);
    exchange_.set_taking(false);
    whole_.set(whole ? 1 : 0);
    const double seconds = static_cast<double>(now_ns - begun_ns_) * 1e-9;
    if (whole) {
        listener_({PeerEvent::Kind::state_taken, round_.peer,
                   fmt::format("states of {} series taken in {:.2f} s, including repeated requests",
                               counts_.read(StateCount::taken), seconds)});
    } else {
        listener_({PeerEvent::Kind::state_missing, round_.peer.empty() ? "none" : round_.peer,
                   what_is_missing(seconds)});
    }
}

std::string StateTransfer::what_is_missing(double seconds) const {
    const std::uint64_t taken = counts_.read(StateCount::taken);
    if (first_ && taken == 0) {
        return fmt::format(
            "no peer sent its state within {:.1f} s: a series is unknown until its "
            "first message",
            seconds);
    }
    if (first_) {
        return fmt::format(
            "no peer sent all its state within {:.1f} s: states of {} series were "
            "taken, and any other series is unknown until its first message",
            seconds, taken);
    }
    if (!round_.wanted.empty()) {
        return fmt::format(
            "{} of {} lines did not join within {:.1f} s: some states of their "
            "series are missing and stay unknown until their next message",
            round_.wanted.size(), all_.size(), seconds);
    }
    return fmt::format(
        "all lines joined within {:.1f} s, but some states of series were not "
        "taken and stay unknown until their next message: the book is full, or no "
        "book can have their values",
        seconds);
}

}  // namespace pinstrike::actors::peer
