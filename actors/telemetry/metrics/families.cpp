// path: cold
#include "actors/telemetry/metrics/families.h"

#include <array>
#include <limits>

namespace pinstrike::actors {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

namespace {

MetricType type_of(MetricKind kind) {
    return std::array{MetricType::Counter, MetricType::Gauge,
                      MetricType::Histogram}[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string reasons_help(std::string_view what, std::span<const Row> rows) {
    std::string help{what};
    help += ", by reason.";
    for (const Row& row : rows) {
        help.append(" ").append(row.name).append(": ").append(row.sentence).append(";");
    }
    help.back() = '.';
    return help;
}

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

void Families::add(std::string_view name, std::string_view help, MetricKind kind, Labels labels,
                   double value) {
    ClientMetric& metric = add(name, help, kind, std::move(labels));
    (kind == MetricKind::counter ? metric.counter.value : metric.gauge.value) = value;
}

void Families::add_value(Metric metric, Labels labels, double value) {
    const MetricRow& own = row_of(metric);
    add(own.name, own.sentence, own.kind, std::move(labels), value);
}

void Families::histogram(Metric which, Labels labels, const Histogram::Snapshot& taken) {
    const MetricRow& own = row_of(which);
    ClientMetric& metric = add(own.name, own.sentence, own.kind, std::move(labels));
    metric.histogram.sample_count = taken.count;
    metric.histogram.sample_sum = seconds_of(taken.sum_ns);
    for (unsigned i = 0; i < bounds_count; ++i) {
        const std::uint64_t bound_ns = std::uint64_t{1} << (first_bound_power + i);
        metric.histogram.bucket.push_back({taken.count_up_to(bound_ns - 1), seconds_of(bound_ns)});
    }
    metric.histogram.bucket.push_back({taken.count, std::numeric_limits<double>::infinity()});
}

void Families::row(std::string_view subject, const Row& row, Labels labels, std::uint64_t value) {
    const MetricKind kind = can_fall(subject, row) ? MetricKind::gauge : MetricKind::counter;
    add(metric_name(subject, row), row.sentence, kind, std::move(labels),
        static_cast<double>(value));
}

void Families::rows(std::string_view subject, std::span<const Row> rows,
                    std::span<const std::uint64_t> counts, const Labels& labels) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        row(subject, rows[i], labels, counts[i]);
    }
}

void Families::row(const ActorTable& table, std::size_t row, Labels labels, std::uint64_t value) {
    const MetricKind kind = table.gauges ? MetricKind::gauge : MetricKind::counter;
    add(metric_name(table, row), table.rows[row].sentence, kind, std::move(labels),
        static_cast<double>(value));
}

void Families::reasons(Metric metric, std::span<const Row> rows,
                       std::span<const std::uint64_t> counts, const Labels& labels) {
    const MetricRow& own = row_of(metric);
    const std::string help = reasons_help(own.sentence, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Labels with_reason = labels;
        with_reason.push_back({"reason", std::string{rows[i].name}});
        add(own.name, help, own.kind, std::move(with_reason), static_cast<double>(counts[i]));
    }
}

std::vector<MetricFamily> Families::take() {
    by_name_.clear();
    return std::exchange(families_, {});
}

}  // namespace pinstrike::actors
