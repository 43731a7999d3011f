// path: cold
#include "feed/recovery/recovery.h"

#include "config/check.h"
#include "config/mistake.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinstrike::feed {

namespace {

/// The time in which the last blocks of an answer reach the arbiter and its notes reach recovery.
constexpr std::int64_t round_trip_ns = 5'000'000;
/// The pause between two rounds doubles at most this often.
constexpr unsigned doublings_max = 16;
/// Bounds the requests of one step, so that notes and answers are read in between.
constexpr std::size_t asked_each_step_max = 64;

}  // namespace

Recovery::Recovery(const RecoveryConfig& config, std::span<const std::uint16_t> lines,
                   std::vector<std::unique_ptr<RepairSource>> sources, RepairSink& sink,
                   const Numbering& numbering)
    : config_(config),
      numbering_(numbering),
      sink_(sink),
      requests_budget_(config.requests_per_second),
      messages_budget_(config.messages_per_second, repair_messages_max) {
    PINSTRIKE_CHECK(!sources.empty());
    for (const std::uint16_t number : lines) {
        lines_.push_back({number, {}});
    }
    for (auto& source : sources) {
        sources_.emplace_back(std::move(source));
    }
}

/// Adds ranges of one request's size at most, so that a request never has to divide one. Numbers
/// that are already tracked keep their state.
void Recovery::missing(std::size_t line, Position begin, Position end, std::int64_t ts_before_ns,
                       std::int64_t ts_behind_ns, std::int64_t now_ns) {
    if (planted(Mistake::recovery) && end - begin == 1) {
        return;
    }
    counters_.bump(RecoveryCount::holes);
    Ranges& ranges = lines_[line].ranges;
    auto next = ranges.upper_bound(begin);
    if (next != ranges.begin()) {
        begin = std::max(begin, std::prev(next)->second.end);
    }
    Range range;
    range.ts_before_ns = ts_before_ns;
    range.ts_behind_ns = ts_behind_ns;
    range.give_up_ns = now_ns + config_.give_up_after_ns;
    range.ask_ns = now_ns + config_.request_after_ns;
    while (begin < end) {
        const Position limit = next == ranges.end() ? end : std::min(end, next->first);
        const bool room = ranges.size() < config_.ranges_max;
        range.end = room ? std::min(limit, begin + repair_messages_max) : limit;
        counters_.bump(RecoveryCount::missing, range.end - begin);
        if (!room) {
            counters_.bump(RecoveryCount::untracked, range.end - begin);
        } else if (begin != range.end) {
            add(line, begin, range);
        }
        begin = range.end;
        if (next != ranges.end() && begin == next->first) {
            begin = next->second.end;
            ++next;
        }
    }
}

void Recovery::found(std::size_t line, Position begin, Position end) {
    Ranges& ranges = lines_[line].ranges;
    cut(line, begin);
    cut(line, end);
    auto range = ranges.lower_bound(begin);
    while (range != ranges.end() && range->first < end) {
        range = this->end(line, range,
                          range->second.asked ? RecoveryCount::repaired : RecoveryCount::filled);
    }
    if (ranges.size() > config_.ranges_max) {  // one range became two
        this->end(line, range, RecoveryCount::untracked);
    }
}

std::size_t Recovery::step(std::int64_t now_ns) {
    now_ns_ = std::max(now_ns_, now_ns);
    requests_budget_.advance(now_ns_);
    messages_budget_.advance(now_ns_);
    std::size_t done = 0;
    for (Source& source : sources_) {
        done += source.source->step(now_ns_, *this);
    }
    done += end_late_requests();
    done += give_up_old();
    done += ask_what_is_due();
    counters_.at(RecoveryCount::in_flight).set(in_flight_.size());
    return done;
}

std::int64_t Recovery::next_deadline_ns() const {
    std::int64_t next_ns = to_give_up_.empty() ? never_ns : to_give_up_.begin()->when_ns;
    for (const auto& [id, request] : in_flight_) {
        next_ns = std::min(next_ns, request.deadline_ns);
    }
    if (!to_ask_.empty() && in_flight_.size() < in_flight_max) {
        next_ns = std::min(next_ns, std::max(to_ask_.begin()->when_ns, budget_from_ns_));
    }
    return next_ns;
}

void Recovery::finish() {
    for (std::size_t line = 0; line < lines_.size(); ++line) {
        Ranges& ranges = lines_[line].ranges;
        for (auto range = ranges.begin(); range != ranges.end();) {
            range = give_up(line, range);
        }
    }
    counters_.at(RecoveryCount::in_flight).set(in_flight_.size());
}

void Recovery::block(std::uint16_t line, std::span<const std::byte> bytes) {
    counters_.bump(RecoveryCount::repairs);
    if (!sink_.carry(line, bytes)) {
        counters_.bump(RecoveryCount::repairs_dropped);
    }
}

void Recovery::finished(std::uint64_t id) {
    const auto request = in_flight_.find(id);
    if (request != in_flight_.end()) {
        request->second.at_deadline = Refusal::incomplete;
        request->second.deadline_ns =
            std::min(request->second.deadline_ns, now_ns_ + round_trip_ns);
    }
}

void Recovery::refused(std::uint64_t id, Refusal reason) {
    if (in_flight_.contains(id)) {
        reopen(id, reason);
    }
}

void Recovery::add(std::size_t line, Position begin, const Range& range) {
    const auto [added, fresh] = lines_[line].ranges.emplace(begin, range);
    PINSTRIKE_CHECK(fresh);
    counters_.bump(RecoveryCount::open, range.end - begin);
    to_give_up_.insert({range.give_up_ns, line, begin});
    schedule(line, added);
}

/// Removes a range that was found or given up, and counts its messages under `outcome`.
Recovery::Ranges::iterator Recovery::end(std::size_t line, Ranges::iterator range,
                                         RecoveryCount outcome) {
    const std::uint64_t messages = range->second.end - range->first;
    counters_.bump(outcome, messages);
    Counter& open = counters_.at(RecoveryCount::open);
    open.set(open.read() - messages);
    to_give_up_.erase({range->second.give_up_ns, line, range->first});
    unschedule(line, range);
    if (range->second.request != none) {
        leave_request(range->second.request, messages, outcome);
    }
    return lines_[line].ranges.erase(range);
}

Recovery::Ranges::iterator Recovery::give_up(std::size_t line, Ranges::iterator range) {
    return end(line, range,
               range->second.asked ? RecoveryCount::abandoned : RecoveryCount::never_asked);
}

/// Splits the range, if any, that spans this position.
void Recovery::cut(std::size_t line, Position at) {
    Ranges& ranges = lines_[line].ranges;
    const auto behind = ranges.lower_bound(at);
    if (behind == ranges.begin() || std::prev(behind)->second.end <= at) {
        return;
    }
    Range& range = std::prev(behind)->second;
    const auto rest = ranges.emplace(at, range).first;
    range.end = at;
    to_give_up_.insert({range.give_up_ns, line, at});
    schedule(line, rest);
}

/// Removes messages from a request that are found or given up; ends the request with the last one.
void Recovery::leave_request(RequestId id, std::uint64_t messages, RecoveryCount outcome) {
    const auto request = in_flight_.find(id);
    PINSTRIKE_CHECK(request != in_flight_.end() && request->second.open >= messages);
    request->second.open -= messages;
    if (request->second.open == 0) {
        counters_.bump(RecoveryCount::answered, outcome == RecoveryCount::repaired ? 1 : 0);
        sources_[request->second.source].source->cancel(id);
        in_flight_.erase(request);
    }
}

std::size_t Recovery::end_late_requests() {
    std::size_t ended = 0;
    for (auto next = in_flight_.begin(); next != in_flight_.end();) {
        const auto request = next++;
        if (request->second.deadline_ns <= now_ns_) {
            sources_[request->second.source].source->cancel(request->first);
            reopen(request->first, request->second.at_deadline);
            ++ended;
        }
    }
    return ended;
}

std::size_t Recovery::give_up_old() {
    std::size_t given_up = 0;
    for (; !to_give_up_.empty() && to_give_up_.begin()->when_ns <= now_ns_; ++given_up) {
        const Entry entry = *to_give_up_.begin();
        give_up(entry.line, lines_[entry.line].ranges.find(entry.begin));
    }
    return given_up;
}

std::size_t Recovery::ask_what_is_due() {
    std::size_t asked = 0;
    while (asked < asked_each_step_max && now_ns_ >= budget_from_ns_ && !to_ask_.empty() &&
           to_ask_.begin()->when_ns <= now_ns_) {
        const Entry entry = *to_ask_.begin();
        if (!ask(entry.line, lines_[entry.line].ranges.find(entry.begin))) {
            break;
        }
        ++asked;
    }
    return asked;
}

/// Requests this range and the ranges that adjoin it from their next source. False: no further
/// request can be sent now.
bool Recovery::ask(std::size_t line, Ranges::iterator first) {
    const Ranges::iterator last = end_of_request(lines_[line], first);
    const std::size_t source = first->second.source;
    RequestId taken = none;
    bool asked = true;
    std::int64_t wait_ns = 0;
    if (sources_[source].source->passive()) {
        wait_ns = config_.answer_within_ns;
    } else {
        const RepairRequest request = request_of(lines_[line].number, first, last);
        if (!allowed(request.messages)) {
            return false;
        }
        asked = send(line, source, first->first, request);
        taken = asked ? request.id : none;
    }
    for (auto range = first; range != last; ++range) {
        unschedule(line, range);
        range->second.asked = range->second.asked || asked;
        range->second.request = taken;
        if (taken == none) {
            go_on(range->second);
            range->second.ask_ns += wait_ns;
        }
        schedule(line, range);
    }
    return true;
}

RepairRequest Recovery::request_of(std::uint16_t line, Ranges::iterator first,
                                   Ranges::iterator last) {
    RepairRequest request;
    request.id = ++last_id_;
    request.line = line;
    request.first = numbering_.number_at(first->first);
    request.messages = static_cast<std::uint32_t>(std::prev(last)->second.end - first->first);
    request.ts_before_ns = first->second.ts_before_ns;
    request.ts_behind_ns = first->second.ts_behind_ns;
    for (; first != last; ++first) {
        request.ts_before_ns = std::min(request.ts_before_ns, first->second.ts_before_ns);
        request.ts_behind_ns = std::max(request.ts_behind_ns, first->second.ts_behind_ns);
    }
    return request;
}

bool Recovery::send(std::size_t line, std::size_t source, Position begin,
                    const RepairRequest& request) {
    if (const auto refusal = sources_[source].source->request(request, now_ns_)) {
        sources_[source].refused.bump(*refusal);
        return false;
    }
    counters_.bump(RecoveryCount::requests);
    counters_.bump(RecoveryCount::requested, request.messages);
    requests_budget_.spend(1);
    messages_budget_.spend(request.messages);
    in_flight_.emplace(request.id,
                       Request{line, source, begin, begin + request.messages, request.messages,
                               now_ns_ + config_.answer_within_ns, Refusal::no_answer});
    return true;
}

/// Whether a request for so many messages may be sent now; if the budget is spent, sets
/// budget_from_ns_.
bool Recovery::allowed(std::uint32_t messages) {
    if (in_flight_.size() >= in_flight_max) {
        return false;
    }
    if (requests_budget_.has(1) && messages_budget_.has(messages)) {
        return true;
    }
    budget_from_ns_ = std::max(requests_budget_.time_of(1), messages_budget_.time_of(messages));
    counters_.bump(RecoveryCount::postponed);
    return false;
}

/// The end of the ranges that one request covers together with `first`.
Recovery::Ranges::iterator Recovery::end_of_request(Line& line, Ranges::iterator first) const {
    const Position limit = first->first + repair_messages_max;
    auto last = std::next(first);
    while (last != line.ranges.end() && last->first == std::prev(last)->second.end &&
           last->second.end <= limit && last->second.request == none &&
           last->second.source == first->second.source && last->second.ask_ns <= now_ns_) {
        ++last;
    }
    return last;
}

/// After the range's source failed: selects the next source, or the first again after a pause.
void Recovery::go_on(Range& range) const {
    range.request = none;
    range.ask_ns = now_ns_;
    if (++range.source == sources_.size()) {
        range.source = 0;
        range.ask_ns += config_.answer_within_ns << std::min(range.round, doublings_max);
        ++range.round;
    }
}

void Recovery::reopen(RequestId id, Refusal reason) {
    const Request request = in_flight_.at(id);
    in_flight_.erase(id);
    sources_[request.source].refused.bump(reason);
    Ranges& ranges = lines_[request.line].ranges;
    for (auto range = ranges.lower_bound(request.begin);
         range != ranges.end() && range->first < request.end; ++range) {
        if (range->second.request == id) {
            go_on(range->second);
            schedule(request.line, range);
        }
    }
}

void Recovery::schedule(std::size_t line, Ranges::iterator range) {
    if (range->second.request == none) {
        to_ask_.insert({range->second.ask_ns, line, range->first});
    }
}

void Recovery::unschedule(std::size_t line, Ranges::iterator range) {
    if (range->second.request == none) {
        to_ask_.erase({range->second.ask_ns, line, range->first});
    }
}

}  // namespace pinstrike::feed
