// path: cold
#include "actors/telemetry/explain/explanations.h"

#include "actors/bridge/bridge_config.h"
#include "actors/gateway/client_keys.h"
#include "actors/gateway/gateway_config.h"
#include "actors/kafka/kafka_config.h"
#include "actors/telemetry/explain/row_tables.h"
#include "actors/telemetry/log/codes.h"
#include "actors/topology/feed_keys.h"
#include "config/joined.h"
#include "config/nearest.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinstrike::actors {

namespace {

std::vector<KeyDoc> documented_keys() {
    std::vector<KeyDoc> docs;
    document_section(feed_section(), "", docs);
    document_section(gateway::gateway_section(), "gateway", docs);
    document_section(gateway::client_key_section(), "gateway_keys", docs);
    document_section(kafka::kafka_section(), "kafka", docs);
    document_section(bridge::bridge_section(), "bridge", docs);
    return docs;
}

Explanation explained(std::string kind, std::string_view name, std::string_view sentence,
                      std::vector<Fact> facts, std::string metric = "") {
    return {std::move(kind),  std::string{name}, std::string{sentence}, std::move(facts), {},
            std::move(metric)};
}

std::string prefixed(std::string_view name) {
    return std::string{metric_prefix}.append(name);
}

/// The values of a metric's label `reason`, as "a, b"; empty if it has no such label.
std::string reasons_of(Metric metric, const std::vector<ReasonTable>& tables) {
    std::vector<std::string_view> words;
    for (const ReasonTable& table : tables) {
        if (std::ranges::count(table.metrics, metric) != 0) {
            std::ranges::transform(table.rows, std::back_inserter(words), &Row::name);
        }
    }
    return joined(words);
}

void add_metrics(std::vector<Explanation>& out, const std::vector<ReasonTable>& tables) {
    for (std::size_t i = 0; i < Metric_count; ++i) {
        const MetricRow& row = Metric_rows[i];
        const std::string name = prefixed(row.name);
        Explanation one = explained("metric", name, row.sentence,
                                    {{"type", std::string{word_of(row.kind)}}}, name);
        if (std::string reasons = reasons_of(static_cast<Metric>(i), tables); !reasons.empty()) {
            one.facts.push_back({"reasons", std::move(reasons)});
        }
        out.push_back(std::move(one));
    }
}

Explanation counter_of(const ActorTable& table, const Row& row) {
    const std::string metric =
        prefixed(table.gauges ? row_name(table.subject, row) : metric_name(table.subject, row));
    return explained("counter", row.name, row.sentence,
                     {{"counts", std::string{row.unit}},
                      {"of", std::string{table.of}},
                      {"metric", metric},
                      {"type", table.gauges || can_fall(table.subject, row) ? "gauge" : "counter"}},
                     metric);
}

Explanation reason_of(const ReasonTable& table, const Row& row) {
    const auto word = [](Metric metric) { return prefixed(row_of(metric).name); };
    return explained("reason", row.name, row.sentence,
                     {{"counts", std::string{row.unit}},
                      {"of", std::string{table.of}},
                      {"metric", joined(table.metrics, ", ", word) + ", label reason"}});
}

template <class Table>
void add_rows(std::vector<Explanation>& out, const std::vector<Table>& tables,
              Explanation (*explanation)(const Table&, const Row&)) {
    for (const Table& table : tables) {
        for (const Row& row : table.rows) {
            out.push_back(explanation(table, row));
        }
    }
}

void add_codes(std::vector<Explanation>& out) {
    for (const LogRow& row : LogCode_rows) {
        out.push_back(explained("log code", row.code, row.sentence,
                                {{"level", std::string{word_of(row.level)}}}));
    }
}

/// All explanations except those of keys.
std::vector<Explanation> names_of_running() {
    const std::vector<ReasonTable> reasons = reason_tables();
    std::vector<Explanation> out;
    add_metrics(out, reasons);
    add_rows(out, counter_tables(), counter_of);
    add_rows(out, reasons, reason_of);
    add_codes(out);
    std::ranges::move(alert_explanations(), std::back_inserter(out));
    return out;
}

/// Removes the suffix that queries add to the name of a histogram.
std::string_view without_series(std::string_view name) {
    for (const std::string_view end : {"_bucket", "_sum", "_count"}) {
        if (name.ends_with(end)) {
            return name.substr(0, name.size() - end.size());
        }
    }
    return name;
}

bool is_called(const Explanation& one, std::string_view asked) {
    if (one.name == asked) {
        return true;
    }
    const std::string_view metric = one.metric;
    return !metric.empty() &&
           (metric == asked || metric == without_series(asked) ||
            metric.substr(std::min(metric.size(), metric_prefix.size())) == asked);
}

}  // namespace

std::vector<Explanation> all_explanations() {
    std::vector<Explanation> out;
    std::ranges::transform(documented_keys(), std::back_inserter(out), explanation_of);
    std::ranges::move(names_of_running(), std::back_inserter(out));
    return out;
}

std::vector<Explanation> find_explanations(std::string_view asked) {
    std::vector<Explanation> found;
    std::ranges::transform(find_keys(documented_keys(), asked), std::back_inserter(found),
                           explanation_of);
    std::ranges::copy_if(names_of_running(), std::back_inserter(found),
                         [&](const Explanation& one) { return is_called(one, asked); });
    return found;
}

std::vector<std::string> near_explanations(std::string_view asked) {
    constexpr std::size_t count = 5;
    std::vector<std::string> near = near_keys(documented_keys(), asked);
    std::vector<std::string> names;
    const auto know = [&names](const std::string& name) {
        if (!name.empty() && std::ranges::count(names, name) == 0) {
            names.push_back(name);
        }
    };
    for (const Explanation& one : names_of_running()) {
        know(one.name);
        know(one.metric);
    }
    std::ranges::move(nearest(asked, names, count), std::back_inserter(near));
    return near;
}

}  // namespace pinstrike::actors
