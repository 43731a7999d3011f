// path: cold
#include "actors/telemetry/metrics/families.h"

#include <limits>
#include <utility>

namespace pinstrike::actors {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

namespace {

MetricType type_of(MetricKind kind) {
    switch (kind) {
        case MetricKind::counter:
            return MetricType::Counter;
        case MetricKind::gauge:
            return MetricType::Gauge;
        case MetricKind::histogram:
            return MetricType::Histogram;
    }
    return MetricType::Untyped;
}

}  // namespace

ClientMetric& Families::add(std::string_view name, std::string_view help, MetricKind kind,
                            Labels labels) {
    const auto [known, is_first] = by_name_.try_emplace(std::string{name}, families_.size());
    if (is_first) {
        MetricFamily family;
        family.name = std::string{metric_prefix}.append(name);
        family.help = help;
        family.type = type_of(kind);
        families_.push_back(std::move(family));
    }
    ClientMetric& metric = families_[known->second].metric.emplace_back();
    metric.label = std::move(labels);
    metric.label.insert(metric.label.begin(), Label{"feed", feed_});
    return metric;
}

void Families::set(ClientMetric& metric, MetricKind kind, double value) {
    (kind == MetricKind::counter ? metric.counter.value : metric.gauge.value) = value;
}

void Families::value(Metric metric, Labels labels, double value) {
    const MetricRow& own = row_of(metric);
    set(add(own.name, own.sentence, own.kind, std::move(labels)), own.kind, value);
}

void Families::histogram(Metric which, Labels labels, const Histogram::Snapshot& taken) {
    const MetricRow& own = row_of(which);
    ClientMetric& metric = add(own.name, own.sentence, own.kind, std::move(labels));
    metric.histogram.sample_count = taken.count;
    metric.histogram.sample_sum = static_cast<double>(taken.sum_ns) * 1e-9;
    for (unsigned i = 0; i < bounds_count; ++i) {
        const std::uint64_t bound_ns = std::uint64_t{1} << (first_bound_power + i);
        metric.histogram.bucket.push_back(
            {taken.count_up_to(bound_ns - 1), static_cast<double>(bound_ns) * 1e-9});
    }
    metric.histogram.bucket.push_back({taken.count, std::numeric_limits<double>::infinity()});
}

void Families::row(std::string_view subject, const Row& row, Labels labels, std::uint64_t value) {
    const MetricKind kind = can_fall(subject, row) ? MetricKind::gauge : MetricKind::counter;
    set(add(metric_name(subject, row), row.sentence, kind, std::move(labels)), kind,
        static_cast<double>(value));
}

void Families::row(const ActorTable& table, std::size_t row, Labels labels, std::uint64_t value) {
    const MetricKind kind = table.gauges ? MetricKind::gauge : MetricKind::counter;
    set(add(metric_name(table, row), table.rows[row].sentence, kind, std::move(labels)), kind,
        static_cast<double>(value));
}

std::vector<MetricFamily> Families::take() {
    by_name_.clear();
    return std::exchange(families_, {});
}

}  // namespace pinstrike::actors
