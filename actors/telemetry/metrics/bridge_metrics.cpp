// path: cold
#include "actors/telemetry/metrics/bridge_metrics.h"

#include "actors/telemetry/metrics/families.h"
#include "actors/telemetry/metrics/side_metrics.h"

#include <prometheus/text_serializer.h>

namespace pinstrike::actors {

std::string bridge_metrics_page(const BridgeFigures& figures) {
    using bridge::JoinCount;
    using bridge::ServeCount;
    Families families{figures.feed};
    families.value(Metric::bridge_stalled_seconds, {}, stalled_seconds(figures.stepped_ns));
    if (figures.server != nullptr) {
        families.value(Metric::bridge_joined_hosts, {},
                       static_cast<double>(figures.server->open_connections()));
        families.value(Metric::bridge_current_hosts, {},
                       static_cast<double>(figures.server->current()));
        families.value(Metric::bridge_untaken_bytes, {},
                       static_cast<double>(figures.server->untaken_bytes()));
        for (std::size_t i = 0; i < bridge::ServeCount_rows.size(); ++i) {
            families.row("bridge_serve", bridge::ServeCount_rows[i], {},
                         figures.server->counters().read(static_cast<ServeCount>(i)));
        }
    }
    if (figures.client != nullptr) {
        families.value(Metric::bridge_live, {}, figures.client->is_live() ? 1 : 0);
        families.value(Metric::bridge_open_lines, {},
                       static_cast<double>(figures.client->open_lines()));
        for (std::size_t i = 0; i < bridge::JoinCount_rows.size(); ++i) {
            families.row("bridge_join", bridge::JoinCount_rows[i], {},
                         figures.client->counters().read(static_cast<JoinCount>(i)));
        }
    }
    add_side_metrics(families, figures.log, figures.endpoint);
    return prometheus::TextSerializer{}.Serialize(families.take());
}

}  // namespace pinstrike::actors
