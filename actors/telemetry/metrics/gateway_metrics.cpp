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
        families.value(Metric::gateway_sessions, labels, static_cast<double>(user.sessions));
        families.value(Metric::gateway_queue_bytes, labels, static_cast<double>(user.queue_bytes));
        families.value(Metric::gateway_waiting_records, labels,
                       static_cast<double>(user.waiting_records));
        families.value(Metric::gateway_behind_seconds, labels,
                       static_cast<double>(user.behind_ns) * 1e-9);
        for (std::size_t i = 0; i < user.counts.size(); ++i) {
            families.row("gateway_user", gateway::SessionCount_rows[i], labels, user.counts[i]);
        }
    }
}

}  // namespace

std::string gateway_metrics_page(const gateway::Gateway& gateway, const LogCounters& log,
                                 std::uint64_t unlogged, const EndpointCounters* endpoint) {
    Families families{gateway.config().feed};
    const gateway::GatewayStatus status = gateway.status();
    families.value(Metric::gateway_feed_live, {}, status.feed_live ? 1 : 0);
    families.value(Metric::gateway_stalled_seconds, {}, stalled_seconds(status.stepped_ns));
    families.value(Metric::gateway_keys_refused, {},
                   static_cast<double>(gateway.clients().totals().keys_refused.read()));
    families.value(Metric::gateway_connections, {}, static_cast<double>(status.connections));
    families.value(Metric::gateway_instruments, {}, static_cast<double>(status.instruments));
    families.value(Metric::gateway_waiting_events, {}, static_cast<double>(status.waiting_events));
    families.value(Metric::gateway_refused_connections_total, {},
                   static_cast<double>(gateway.clients().refused().read()));
    families.value(Metric::gateway_unlogged_sessions_total, {}, static_cast<double>(unlogged));
    for (std::size_t i = 0; i < MarketCount_rows.size(); ++i) {
        families.row("gateway", MarketCount_rows[i], {},
                     gateway.counters().read(static_cast<MarketCount>(i)));
    }
    for (std::size_t i = 0; i < gateway::SessionCount_rows.size(); ++i) {
        families.row("gateway_session", gateway::SessionCount_rows[i], {},
                     gateway.clients().totals().ended.read(static_cast<gateway::SessionCount>(i)));
    }
    families.reasons(
        Metric::gateway_ended_sessions_total, gateway::SessionEnding_rows, {}, [&](std::size_t i) {
            return gateway.clients().totals().endings.read(static_cast<gateway::SessionEnding>(i));
        });
    families.histogram(Metric::gateway_write_seconds, {},
                       gateway.clients().totals().writes.snapshot());
    add_users(families, status);
    add_side_metrics(families, log, endpoint);
    return prometheus::TextSerializer{}.Serialize(families.take());
}

}  // namespace pinstrike::actors
