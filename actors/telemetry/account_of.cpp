// path: cold
//
// The account of a stopped appliance.
#include "actors/telemetry/account_of.h"

#include "actors/topology/actor_kinds.h"
#include "config/mistake.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

PortAccount port_account(const QueueSnapshot& queue) {
    PortAccount account;
    account.port = queue.name;
    account.packets = queue.packets;
    account.bytes = queue.bytes;
    account.missed = planted(Mistake::account) ? 0 : queue.device.missed;
    account.no_buffer = queue.device.no_buffer;
    account.errors = queue.device.errors;
    account.unknown_groups = queue.unknown_groups;
    account.handed = queue.handed;
    for (std::size_t drop = 0; drop < nic::Drop_count; ++drop) {
        account.dropped.emplace_back(std::string{nic::Drop_rows[drop].name}, queue.dropped[drop]);
    }
    return account;
}

StreamAccount stream_account(const StreamTotals& counts) {
    using feed::StreamCount;
    return {counts[StreamCount::packets], counts[StreamCount::messages],
            counts[StreamCount::accepted], counts[StreamCount::duplicate],
            counts[StreamCount::rejected]};
}

LineAccount line_account(const LineSnapshot& line, const std::string& poller) {
    using feed::LineCount;
    LineAccount account;
    account.line = line.line;
    account.highest = line.counts[LineCount::highest];
    account.delivered = line.counts[LineCount::delivered];
    account.lost = line.counts[LineCount::lost];
    account.repaired = line.counts[LineCount::repaired];
    account.unasked = line.counts[LineCount::unasked];
    account.filtered = line.counts[LineCount::filtered];
    account.gaps_unlisted = line.counts[LineCount::gaps_unlisted];
    account.controls = line.counts[LineCount::controls];
    account.retransmission_packets = line.retransmission_packets;
    account.poller = poller;
    account.a = stream_account(line.streams[0]);
    account.b = stream_account(line.streams[1]);
    account.gaps = line.gaps;
    return account;
}

void add_rejects(const PollerSnapshot& poller, std::vector<NamedCount>& rejects) {
    for (std::size_t row = 0; row < poller.reject_rows.size(); ++row) {
        if (rejects.size() == row) {
            rejects.emplace_back(std::string{poller.reject_rows[row].name}, 0);
        }
        for (const LineSnapshot& line : poller.lines) {
            rejects[row].second += line.rejected[row];
        }
    }
}

/// Made where the actor's kind did not name it.
std::uint64_t& row(CoreAccount& account, std::string_view name) {
    for (NamedCount& each : account.rows) {
        if (each.first == name) {
            return each.second;
        }
    }
    return account.rows.emplace_back(name, 0).second;
}

}  // namespace

void add_poller(Account& account, const PollerSnapshot& poller) {
    for (const QueueSnapshot& queue : poller.queues) {
        account.ports.push_back(port_account(queue));
    }
    for (const LineSnapshot& line : poller.lines) {
        account.lines.push_back(line_account(line, poller.name));
    }
    for (const RingSnapshot& ring : poller.rings) {
        account.rings.push_back(
            {ring.from, ring.to, ring.routed, ring.pushed, ring.refused, ring.published_records});
    }
    add_rejects(poller, account.rejects);
}

void add_core(Account& total, const CoreSnapshot& core) {
    CoreAccount account;
    account.core = core.name;
    account.events = core.events;
    account.records = core.records;
    account.gap_events = core.gap_events;
    account.control_events = core.control_events;
    for (const std::string_view name : actor_account_rows()) {
        account.rows.emplace_back(name, 0);
    }
    for (const ActorSnapshot& actor : core.actors) {
        account.actors.push_back({actor.name, actor.events});
        for (const auto& [name, count] : actor.account_rows) {
            row(account, name) += count;
        }
    }
    total.cores.push_back(std::move(account));
}

Account account_of(const CounterSnapshot& counters) {
    Account account;
    account.feed = counters.feed;
    account.seconds = counters.seconds;
    for (const PollerSnapshot& poller : counters.pollers) {
        add_poller(account, poller);
    }
    for (const CoreSnapshot& core : counters.cores) {
        add_core(account, core);
    }
    return account;
}

}  // namespace pinstrike::actors
