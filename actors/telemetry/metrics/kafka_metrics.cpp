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
    families.value(Metric::kafka_feed_live, {}, status.feed_live ? 1 : 0);
    families.value(Metric::kafka_stalled_seconds, {}, stalled_seconds(status.stepped_ns));
    families.value(Metric::kafka_brokers_down, {}, status.brokers_down ? 1 : 0);
    families.value(Metric::kafka_instruments, {}, static_cast<double>(status.instruments));
    families.value(Metric::kafka_waiting_events, {}, static_cast<double>(status.waiting_events));
    families.value(Metric::kafka_waiting_definitions, {},
                   static_cast<double>(status.waiting_definitions));
    families.value(Metric::kafka_queue_messages, {}, static_cast<double>(status.waiting_messages));
    families.value(Metric::kafka_queue_bytes, {}, static_cast<double>(status.waiting_bytes));
    families.value(Metric::kafka_queue_max_bytes, {},
                   static_cast<double>(process.config().queue_bytes));
    for (std::size_t i = 0; i < MarketCount_rows.size(); ++i) {
        families.row("kafka", MarketCount_rows[i], {},
                     process.market_counters().read(static_cast<MarketCount>(i)));
    }
    for (std::size_t topic = 0; topic < process.counters().size(); ++topic) {
        const std::string name =
            kafka::topic_name(process.config(), process.config().topics[topic]);
        for (std::size_t i = 0; i < kafka::KafkaCount_rows.size(); ++i) {
            families.row("kafka_topic", kafka::KafkaCount_rows[i], {{"topic", name}},
                         process.counters()[topic].read(static_cast<kafka::KafkaCount>(i)));
        }
    }
    families.histogram(Metric::kafka_acknowledge_seconds, {}, process.latency().snapshot());
    add_side_metrics(families, log, endpoint);
    return prometheus::TextSerializer{}.Serialize(families.take());
}

}  // namespace pinstrike::actors
