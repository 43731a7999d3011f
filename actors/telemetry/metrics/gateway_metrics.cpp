// path: cold
#include "actors/telemetry/metrics/gateway_metrics.h"

#include "actors/telemetry/metrics/families.h"
#include "actors/telemetry/metrics/side_metrics.h"

#include <prometheus/text_serializer.h>

namespace pinstrike::actors {
namespace {

void add_users(Families& families, const gateway::GatewayStatus& status) {
    for (const auto& [name, user] : status.users) {
        const Labels labels{{"user", name}};
        families.value(Metric::gateway_sessions, labels, user.sessions);
        families.value(Metric::gateway_queue_bytes, labels, user.queue_bytes);
        families.value(Metric::gateway_waiting_records, labels, user.waiting_records);
        families.value(Metric::gateway_behind_seconds, labels, seconds_of(user.behind_ns));
        families.rows("gateway_user", gateway::SessionCount_rows, user.counts, labels);
    }
}

}  // namespace

std::string gateway_metrics_page(const gateway::Gateway& gateway, const LogCounters& log,
                                 std::uint64_t unlogged, const EndpointCounters* endpoint) {
    Families families{gateway.config().feed};
    const gateway::GatewayStatus status = gateway.status();
    const gateway::ClientSessions::Totals& totals = gateway.clients().totals();
    families.value(Metric::gateway_feed_live, {}, status.feed_live);
    families.value(Metric::gateway_stalled_seconds, {}, stalled_seconds(status.stepped_ns));
    families.value(Metric::gateway_keys_refused, {}, totals.keys_refused.read());
    families.value(Metric::gateway_connections, {}, status.connections);
    families.value(Metric::gateway_instruments, {}, status.instruments);
    families.value(Metric::gateway_waiting_events, {}, status.waiting_events);
    families.value(Metric::gateway_refused_connections_total, {},
                   gateway.clients().refused().read());
    families.value(Metric::gateway_unlogged_sessions_total, {}, unlogged);
    families.rows("gateway", MarketCount_rows, RowTotals{gateway.counters()});
    families.rows("gateway_session", gateway::SessionCount_rows, RowTotals{totals.ended});
    families.reasons(Metric::gateway_ended_sessions_total, gateway::SessionEnding_rows,
                     RowTotals{totals.endings});
    families.histogram(Metric::gateway_write_seconds, {}, totals.writes.snapshot());
    add_users(families, status);
    add_side_metrics(families, log, endpoint);
    return prometheus::TextSerializer{}.Serialize(families.take());
}

}  // namespace pinstrike::actors
