// path: cold
#include "actors/peer/state_exchange.h"

#include "actors/peer/limits.h"
#include "actors/poller/sharding.h"
#include "config/check.h"

#include <algorithm>
#include <utility>

namespace pinstrike::actors::peer {

namespace {

/// Whether a book sends such records to give its state. The others answer records of a transfer: if
/// it ran out of time, its last answers are still in the rings.
bool is_state(StateRecord::Kind kind) {
    return kind == StateRecord::Kind::series || kind == StateRecord::Kind::lost ||
           kind == StateRecord::Kind::place;
}

}  // namespace

StateExchange::StateExchange(Sharding sharding, std::vector<std::optional<StateRings>> rings)
    : sharding_(sharding) {
    for (auto& each : rings) {
        cores_.emplace_back().rings = std::move(each);
    }
}

std::optional<PeerRefusal> StateExchange::begin() {
    if (taking_) {
        return PeerRefusal::no_state;
    }
    if (given_ || !at_end()) {
        return PeerRefusal::over_budget;
    }
    given_ = true;
    for (Core& core : cores_) {
        core.at_end = !core.rings;
    }
    post_to_all(StateRecord::Kind::give);
    return std::nullopt;
}

/// Takes one record of each core in turn, because a record gets old while it waits, and the taker
/// accepts it only as long as its journal reaches back to the record's place.
StateGiver::Next StateExchange::next(StateRecord& into) {
    PINSTRIKE_CHECK(given_);
    for (std::size_t looked = 0; looked < cores_.size(); ++looked) {
        Core& core = cores_[turn_];
        turn_ = (turn_ + 1) % cores_.size();
        while (read(core, into)) {
            if (is_state(into.kind)) {
                into.books = books();
                return Next::record;
            }
        }
    }
    return at_end() ? Next::end : Next::nothing_yet;
}

void StateExchange::leave() {
    given_ = false;
}

StateExchange::Posted StateExchange::post(const StateRecord& record) {
    if (record.kind == StateRecord::Kind::series || record.kind == StateRecord::Kind::earlier) {
        return post(cores_[core_of(record.key, sharding_, cores_.size())], record);
    }
    Posted posted = Posted::yes;
    for (Core& core : cores_) {
        posted = post(core, record) == Posted::full ? Posted::full : posted;
    }
    return posted;
}

std::size_t StateExchange::post_to_all(StateRecord::Kind kind, std::uint16_t line) {
    StateRecord record;
    record.kind = kind;
    record.line = line;
    for (Core& core : cores_) {
        if (core.rings) {
            core.posted.push_back(record);
        }
    }
    return books();
}

std::uint16_t StateExchange::books() const {
    return static_cast<std::uint16_t>(std::count_if(
        cores_.begin(), cores_.end(), [](const Core& core) { return core.rings.has_value(); }));
}

std::size_t StateExchange::queued() const {
    std::size_t records = 0;
    for (const Core& core : cores_) {
        records += core.posted.size();
    }
    return records;
}

bool StateExchange::answer(StateRecord& into) {
    return taking_ && std::any_of(cores_.begin(), cores_.end(),
                                  [&into](Core& core) { return read(core, into); });
}

std::size_t StateExchange::step() {
    std::size_t done = 0;
    for (Core& core : cores_) {
        while (!core.posted.empty() && core.rings->out.try_push({&core.posted.front(), 1})) {
            core.posted.pop_front();
            ++done;
        }
        // If the receiving peer left before the end, this reads the remaining records, so that the
        // books finish their walk and can start another one.
        StateRecord unwanted;
        while (!given_ && !taking_ && read(core, unwanted)) {
            ++done;
        }
    }
    return done;
}

StateExchange::Posted StateExchange::post(Core& core, const StateRecord& record) {
    if (!core.rings) {
        return Posted::no_book;
    }
    if (core.posted.size() >= posted_records_max) {
        return Posted::full;
    }
    core.posted.push_back(record);
    return Posted::yes;
}

bool StateExchange::read(Core& core, StateRecord& into) {
    while (core.rings) {
        const auto head = core.rings->in.peek(1);
        if (head.empty()) {
            return false;
        }
        into = head.front();
        core.rings->in.release(1);
        if (into.kind != StateRecord::Kind::end) {
            return true;
        }
        core.at_end = true;
    }
    return false;
}

bool StateExchange::at_end() const {
    return std::all_of(cores_.begin(), cores_.end(), [](const Core& core) { return core.at_end; });
}

}  // namespace pinstrike::actors::peer
