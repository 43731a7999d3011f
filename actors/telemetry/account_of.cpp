// path: cold
//
// Fills the account of a stopped appliance from its counters.
#include "actors/telemetry/account_of.h"

#include "actors/appliance/appliance.h"
#include "actors/topology/actor_kinds.h"
#include "config/mistake.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

PortAccount port_account(const PollerTask& poller, std::size_t i) {
    const nic::Port& port = poller.port(i);
    const nic::DeviceStatistics device = port.statistics();
    PortAccount account;
    account.port = port.name();
    account.packets = port.counters().packets.read();
    account.bytes = port.counters().bytes.read();
    account.missed = planted(Mistake::account) ? 0 : device.missed;
    account.no_buffer = device.no_buffer;
    account.errors = device.errors;
    account.unknown_groups = poller.unknown_groups(i).most_frequent();
    account.handed = poller.handed(i);
    for (std::size_t drop = 0; drop < nic::Drop_count; ++drop) {
        account.dropped.emplace_back(std::string{nic::Drop_rows[drop].name},
                                     poller.drops(i).read(static_cast<nic::Drop>(drop)));
    }
    return account;
}

StreamAccount stream_account(feed::Arbiter& arbiter, feed::Stream stream) {
    using feed::StreamCount;
    const auto& counts = arbiter.counters(stream);
    return {counts.read(StreamCount::packets), counts.read(StreamCount::messages),
            counts.read(StreamCount::accepted), counts.read(StreamCount::duplicate),
            counts.read(StreamCount::rejected)};
}

LineAccount line_account(PollerTask& poller, std::size_t i) {
    using feed::LineCount;
    feed::Arbiter& arbiter = poller.arbiter(i);
    const auto& counts = arbiter.counters();
    LineAccount account;
    account.line = poller.line_number(i);
    account.highest = counts.read(LineCount::highest);
    account.delivered = counts.read(LineCount::delivered);
    account.lost = counts.read(LineCount::lost);
    account.repaired = counts.read(LineCount::repaired);
    account.unasked = counts.read(LineCount::unasked);
    account.filtered = counts.read(LineCount::filtered);
    account.gaps_unlisted = counts.read(LineCount::gaps_unlisted);
    account.controls = counts.read(LineCount::controls);
    account.retransmission_packets = poller.retransmission_packets(i);
    account.poller = poller.name();
    account.a = stream_account(arbiter, feed::Stream::a);
    account.b = stream_account(arbiter, feed::Stream::b);
    for (const auto& range : arbiter.gaps()) {
        account.gaps.emplace_back(range.first, range.last);
    }
    return account;
}

void add_rejects(const PollerTask& poller, std::vector<NamedCount>& rejects) {
    const auto rows = poller.reject_rows();
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (rejects.size() == row) {
            rejects.emplace_back(std::string{rows[row].name}, 0);
        }
        for (std::size_t line = 0; line < poller.lines_count(); ++line) {
            rejects[row].second += poller.rejects(line, row);
        }
    }
}

}  // namespace

void add_poller(Account& account, PollerTask& poller, std::span<const std::string> cores) {
    for (std::size_t i = 0; i < poller.ports_count(); ++i) {
        account.ports.push_back(port_account(poller, i));
    }
    for (std::size_t i = 0; i < poller.lines_count(); ++i) {
        account.lines.push_back(line_account(poller, i));
    }
    for (std::size_t i = 0; i < cores.size(); ++i) {
        const RingCounters& ring = poller.router().counters(i);
        account.rings.push_back({poller.name(), cores[i], ring.routed.read(), ring.pushed.read(),
                                 ring.refused.read(), poller.router().published(i)});
    }
    add_rejects(poller, account.rejects);
}

/// The count of the row, which is added if the actor's kind did not name it.
std::uint64_t& row(CoreAccount& account, std::string_view name) {
    for (NamedCount& each : account.rows) {
        if (each.first == name) {
            return each.second;
        }
    }
    return account.rows.emplace_back(name, 0).second;
}

void add_core(Account& total, const Core& core) {
    CoreAccount account;
    account.core = core.info().name;
    account.events = core.counters().events.read();
    account.records = core.counters().records.read();
    account.gap_events = core.counters().gap_events.read();
    account.control_events = core.counters().control_events.read();
    for (const std::string_view name : actor_account_rows()) {
        account.rows.emplace_back(name, 0);
    }
    for (std::size_t i = 0; i < core.actors_count(); ++i) {
        const Actor& actor = core.actor(i);
        account.actors.push_back({std::string{actor.name()}, core.actor_counters(i).events.read()});
        for (const auto& [name, count] : actor.account_rows()) {
            row(account, name) += count;
        }
    }
    total.cores.push_back(std::move(account));
}

Account account_of(Appliance& appliance) {
    Account account;
    account.feed = appliance.config().name;
    account.seconds = appliance.seconds();
    std::vector<std::string> cores;
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        cores.push_back(appliance.core(i).info().name);
    }
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        add_poller(account, appliance.poller(i), cores);
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        add_core(account, appliance.core(i));
    }
    return account;
}

}  // namespace pinstrike::actors
