// path: cold
#include "actors/telemetry/metrics/kafka_metrics.h"

#include "actors/telemetry/metrics/families.h"
#include "actors/telemetry/metrics/side_metrics.h"

#include <prometheus/text_serializer.h>

namespace pinstrike::actors {

std::string kafka_metrics_page(const kafka::KafkaProcess& process, const LogCounters& log,
                               const EndpointCounters* endpoint) {
    Families families{process.config().feed};
    const kafka::KafkaStatus status = process.status();
    families.value(Metric::kafka_feed_live, {}, status.feed_live);
    families.value(Metric::kafka_stalled_seconds, {}, stalled_seconds(status.stepped_ns));
    families.value(Metric::kafka_brokers_down, {}, status.brokers_down);
    families.value(Metric::kafka_instruments, {}, status.instruments);
    families.value(Metric::kafka_waiting_events, {}, status.waiting_events);
    families.value(Metric::kafka_waiting_definitions, {}, status.waiting_definitions);
    families.value(Metric::kafka_queue_messages, {}, status.waiting_messages);
    families.value(Metric::kafka_queue_bytes, {}, status.waiting_bytes);
    families.value(Metric::kafka_queue_max_bytes, {}, process.config().queue_bytes);
    families.rows("kafka", MarketCount_rows, RowTotals{process.market_counters()});
    for (std::size_t topic = 0; topic < process.counters().size(); ++topic) {
        const std::string name =
            kafka::topic_name(process.config(), process.config().topics[topic]);
        families.rows("kafka_topic", kafka::KafkaCount_rows, RowTotals{process.counters()[topic]},
                      {{"topic", name}});
    }
    families.histogram(Metric::kafka_acknowledge_seconds, {}, process.latency().snapshot());
    add_side_metrics(families, log, endpoint);
    return prometheus::TextSerializer{}.Serialize(families.take());
}

}  // namespace pinstrike::actors
