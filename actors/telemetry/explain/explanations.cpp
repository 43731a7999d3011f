// path: cold
#include "actors/telemetry/explain/explanations.h"

#include "actors/bridge/bridge_config.h"
#include "actors/gateway/client_keys.h"
#include "actors/gateway/gateway_config.h"
#include "actors/kafka/kafka_config.h"
#include "actors/telemetry/explain/row_tables.h"
#include "actors/telemetry/log/codes.h"
#include "actors/topology/feed_keys.h"
#include "config/nearest.h"

#include <algorithm>
#include <array>
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

std::string prefixed(std::string_view name) {
    return std::string{metric_prefix}.append(name);
}

/// The values of a metric's label `reason`, as "a, b"; empty if it has no such label.
std::string reasons_of(Metric metric, const std::vector<RowTable>& tables) {
    std::string words;
    for (const RowTable& table : tables) {
        if (std::find(table.by_reason.begin(), table.by_reason.end(), metric) !=
            table.by_reason.end()) {
            for (const Row& row : table.rows) {
                words.append(words.empty() ? "" : ", ").append(row.name);
            }
        }
    }
    return words;
}

void add_metrics(std::vector<Explanation>& out, const std::vector<RowTable>& tables) {
    for (std::size_t i = 0; i < Metric_count; ++i) {
        const MetricRow& row = Metric_rows[i];
        const std::string name = prefixed(row.name);
        Explanation one{
            "metric", name, std::string{row.sentence}, {{"type", std::string{word_of(row.kind)}}},
            {},       name};
        if (std::string reasons = reasons_of(static_cast<Metric>(i), tables); !reasons.empty()) {
            one.facts.push_back({"reasons", std::move(reasons)});
        }
        out.push_back(std::move(one));
    }
}

Explanation counter_of(const RowTable& table, const Row& row) {
    const std::string metric =
        prefixed(table.gauges ? row_name(table.subject, row) : metric_name(table.subject, row));
    return {"counter",
            std::string{row.name},
            std::string{row.sentence},
            {{"counts", std::string{row.unit}},
             {"of", std::string{table.of}},
             {"metric", metric},
             {"type", table.gauges || can_fall(table.subject, row) ? "gauge" : "counter"}},
            {},
            metric};
}

Explanation reason_of(const RowTable& table, const Row& row) {
    Explanation one{"reason",
                    std::string{row.name},
                    std::string{row.sentence},
                    {{"counts", std::string{row.unit}}, {"of", std::string{table.of}}},
                    {},
                    ""};
    std::string metrics;
    for (const Metric metric : table.by_reason) {
        metrics.append(metrics.empty() ? "" : ", ").append(prefixed(row_of(metric).name));
    }
    one.facts.push_back({"metric", metrics + ", label reason"});
    return one;
}

/// Adds the rows of the tables of counters, or those of the tables of reasons.
void add_rows(std::vector<Explanation>& out, const std::vector<RowTable>& tables, bool reasons) {
    for (const RowTable& table : tables) {
        if (table.subject.empty() != reasons) {
            continue;
        }
        for (const Row& row : table.rows) {
            out.push_back(reasons ? reason_of(table, row) : counter_of(table, row));
        }
    }
}

void add_codes(std::vector<Explanation>& out) {
    for (const LogRow& row : LogCode_rows) {
        out.push_back({"log code",
                       std::string{row.code},
                       std::string{row.sentence},
                       {{"level", std::string{word_of(row.level)}}},
                       {},
                       ""});
    }
}

/// All explanations except those of keys.
std::vector<Explanation> names_of_running() {
    const std::vector<RowTable> tables = row_tables();
    std::vector<Explanation> out;
    add_metrics(out, tables);
    add_rows(out, tables, false);
    add_rows(out, tables, true);
    add_codes(out);
    std::vector<Explanation> alerts = alert_explanations();
    std::move(alerts.begin(), alerts.end(), std::back_inserter(out));
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
    for (const KeyDoc& doc : documented_keys()) {
        out.push_back(explanation_of(doc));
    }
    std::vector<Explanation> others = names_of_running();
    std::move(others.begin(), others.end(), std::back_inserter(out));
    return out;
}

std::vector<Explanation> find_explanations(std::string_view asked) {
    std::vector<Explanation> found;
    for (const KeyDoc& doc : find_keys(documented_keys(), asked)) {
        found.push_back(explanation_of(doc));
    }
    for (Explanation& one : names_of_running()) {
        if (is_called(one, asked)) {
            found.push_back(std::move(one));
        }
    }
    return found;
}

std::vector<std::string> near_explanations(std::string_view asked) {
    constexpr std::size_t count = 5;
    std::vector<std::string> near = near_keys(documented_keys(), asked);
    std::vector<std::string> names;
    const auto know = [&names](const std::string& name) {
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    };
    for (const Explanation& one : names_of_running()) {
        know(one.name);
        know(one.metric);
    }
    for (std::string& name : nearest(asked, names, count)) {
        near.push_back(std::move(name));
    }
    return near;
}

}  // namespace pinstrike::actors
