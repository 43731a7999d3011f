// path: cold
#include "actors/peer/state_exchange.h"

#include "actors/poller/sharding.h"
#include "config/check.h"

#include <algorithm>
#include <utility>

namespace pinstrike::actors::peer {

namespace {

/// Of one core; beyond that a peer sends faster than a core takes, and is asked again.
constexpr std::size_t posted_max = 1 << 18;

}  // namespace

StateDesk::StateDesk(Sharding sharding, std::vector<std::optional<StateRoads>> roads)
    : sharding_(sharding) {
    for (auto& each : roads) {
        desks_.emplace_back().roads = std::move(each);
    }
}

std::optional<PeerRefusal> StateDesk::begin() {
    if (taking_) {
        return PeerRefusal::no_state;
    }
    if (given_ || !at_end()) {
        return PeerRefusal::over_budget;
    }
    given_ = true;
    for (Desk& desk : desks_) {
        if (desk.roads) {
            desk.at_end = false;
            StateRecord order;
            order.kind = StateRecord::Kind::give;
            post(desk, order);
        }
    }
    return std::nullopt;
}

StateGiver::Next StateDesk::next(StateRecord& into) {
    PINSTRIKE_CHECK(given_);
    for (std::size_t looked = 0; looked < desks_.size(); ++looked) {
        if (read(desks_[turn_], into)) {
            into.books = books();
            return Next::record;
        }
        turn_ = (turn_ + 1) % desks_.size();
    }
    return at_end() ? Next::end : Next::nothing_yet;
}

void StateDesk::leave() {
    given_ = false;
}

bool StateDesk::post(const StateRecord& record) {
    if (record.kind != StateRecord::Kind::series) {
        for (Desk& desk : desks_) {
            post(desk, record);
        }
        return true;
    }
    Desk& desk = desks_[core_of(record.key, sharding_, desks_.size())];
    if (!desk.roads || desk.posted.size() >= posted_max) {
        return false;
    }
    post(desk, record);
    return true;
}

std::size_t StateDesk::post_to_all(StateRecord::Kind kind) {
    std::size_t count = 0;
    StateRecord record;
    record.kind = kind;
    for (Desk& desk : desks_) {
        post(desk, record);
        count += desk.roads ? 1 : 0;
    }
    return count;
}

std::uint16_t StateDesk::books() const {
    return static_cast<std::uint16_t>(std::count_if(
        desks_.begin(), desks_.end(), [](const Desk& desk) { return desk.roads.has_value(); }));
}

std::size_t StateDesk::waiting() const {
    std::size_t count = 0;
    for (const Desk& desk : desks_) {
        count += desk.posted.size();
    }
    return count;
}

bool StateDesk::answer(StateRecord& into) {
    return taking_ && std::any_of(desks_.begin(), desks_.end(),
                                  [&into](Desk& desk) { return read(desk, into); });
}

std::size_t StateDesk::step() {
    std::size_t done = 0;
    for (Desk& desk : desks_) {
        while (!desk.posted.empty() && desk.roads->out.try_push({&desk.posted.front(), 1})) {
            desk.posted.pop_front();
            ++done;
        }
        // Who was given it left before the end: the books walk on, so that they can begin anew.
        StateRecord unwanted;
        while (!given_ && !taking_ && read(desk, unwanted)) {
            ++done;
        }
    }
    return done;
}

void StateDesk::post(Desk& desk, const StateRecord& record) {
    if (desk.roads) {
        desk.posted.push_back(record);
    }
}

bool StateDesk::read(Desk& desk, StateRecord& into) {
    while (desk.roads) {
        const auto head = desk.roads->in.peek(1);
        if (head.empty()) {
            return false;
        }
        into = head.front();
        desk.roads->in.release(1);
        if (into.kind != StateRecord::Kind::end) {
            return true;
        }
        desk.at_end = true;
    }
    return false;
}

bool StateDesk::at_end() const {
    return std::all_of(desks_.begin(), desks_.end(), [](const Desk& desk) { return desk.at_end; });
}

}  // namespace pinstrike::actors::peer
