// path: cold
#include "tests/sim/held_rows.h"

#include <array>
#include <cstddef>
#include <utility>

namespace pinstrike::sim {

namespace {

struct Excuse {
    std::string name;
    std::string_view reason;
};

/// The rows that no run can hold.
std::vector<Excuse> excuses() {
    using actors::BookCount;
    using actors::peer::ServerCount;
    using actors::peer::StateCount;
    constexpr std::string_view no_sockets =
        "connections have no sockets here: tests/actors/peer/transport_test.cpp";
    constexpr std::string_view by_timing =
        "only in a sum, because it depends on how far the core is: "
        "tests/actors/book/transfer/transfer_test.cpp distinguishes the verdicts";
    return {
        {name_of(nic::PortCount::full_bursts),
         "depends on the length of a step: tests/nic/uring/uring_test.cpp"},
        {name_of(actors::RingCount::untold_repairs),
         "depends on how full a ring is: tests/actors/poller/router_test.cpp"},
        {name_of(ServerCount::unlisted), no_sockets},
        {name_of(ServerCount::crowded), no_sockets},
        {name_of(ServerCount::untaken), no_sockets},
        {name_of(StateCount::unheard), by_timing},
        {name_of(StateCount::ahead), by_timing},
        {name_of(StateCount::behind), by_timing},
    };
}

template <class Table, std::size_t Count>
void add_names(std::vector<std::string>& names) {
    for (std::size_t row = 0; row < Count; ++row) {
        names.push_back(name_of(static_cast<Table>(row)));
    }
}

/// All rows that the simulated parts count. (The log, the metrics endpoint, the reloader and the
/// reader of series files are no part of a simulation.)
std::vector<std::string> all_names() {
    using namespace actors::peer;
    std::vector<std::string> names;
    add_names<nic::PortCount, nic::PortCount_count>(names);
    add_names<actors::RingCount, actors::RingCount_count>(names);
    add_names<actors::CoreCount, actors::CoreCount_count>(names);
    add_names<nic::Drop, nic::Drop_count>(names);
    add_names<feed::opra::BlockReject, feed::opra::BlockReject_count>(names);
    add_names<feed::StreamCount, feed::StreamCount_count>(names);
    add_names<feed::LineCount, feed::LineCount_count>(names);
    add_names<feed::RecoveryCount, feed::RecoveryCount_count>(names);
    add_names<feed::Refusal, feed::Refusal_count>(names);
    add_names<feed::HistoryCount, feed::HistoryCount_count>(names);
    add_names<actors::BookCount, actors::BookCount_count>(names);
    add_names<actors::BookGauge, actors::BookGauge_count>(names);
    add_names<ServerCount, ServerCount_count>(names);
    add_names<ClientCount, ClientCount_count>(names);
    add_names<PeerDrop, PeerDrop_count>(names);
    add_names<PeerRefusal, PeerRefusal_count>(names);
    add_names<SessionEnd, SessionEnd_count>(names);
    add_names<StateCount, StateCount_count>(names);
    return names;
}

}  // namespace

std::vector<std::string> HeldRows::faults() const {
    std::set<std::string> excused;
    std::vector<std::string> faults;
    for (const Excuse& excuse : excuses()) {
        excused.insert(excuse.name);
        if (names_.contains(excuse.name)) {
            faults.push_back(
                fmt::format("{} is held, but excused: {}", excuse.name, excuse.reason));
        }
    }
    for (const std::string& name : all_names()) {
        if (!names_.contains(name) && !excused.contains(name)) {
            faults.push_back(name + " is held by no check");
        }
    }
    return faults;
}

}  // namespace pinstrike::sim
