// path: cold
#include "actors/telemetry/metrics/bridge_metrics.h"

#include "actors/telemetry/metrics/families.h"
#include "actors/telemetry/metrics/side_metrics.h"

#include <prometheus/text_serializer.h>

namespace pinstrike::actors {

std::string bridge_metrics_page(const BridgeFigures& figures) {
    Families families{figures.feed};
    families.value(Metric::bridge_stalled_seconds, {}, stalled_seconds(figures.stepped_ns));
    if (figures.server != nullptr) {
        families.value(Metric::bridge_joined_hosts, {}, figures.server->open_connections());
        families.value(Metric::bridge_current_hosts, {}, figures.server->current());
        families.value(Metric::bridge_untaken_bytes, {}, figures.server->untaken_bytes());
        families.rows("bridge_serve", bridge::ServeCount_rows,
                      RowTotals{figures.server->counters()});
    }
    if (figures.client != nullptr) {
        families.value(Metric::bridge_live, {}, figures.client->is_live());
        families.value(Metric::bridge_open_lines, {}, figures.client->open_lines());
        families.rows("bridge_join", bridge::JoinCount_rows, RowTotals{figures.client->counters()});
    }
    add_side_metrics(families, figures.log, figures.endpoint);
    return prometheus::TextSerializer{}.Serialize(families.take());
}

}  // namespace pinstrike::actors
