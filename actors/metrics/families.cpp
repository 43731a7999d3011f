// path: cold
#include "actors/metrics/families.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace pinstrike::actors {

namespace {

/// Is `word` one of those that underscores join?
bool has_word(std::string_view name, std::string_view word) {
    while (!name.empty()) {
        const std::size_t end = std::min(name.find('_'), name.size());
        if (name.substr(0, end) == word) {
            return true;
        }
        name.remove_prefix(std::min(end + 1, name.size()));
    }
    return false;
}

}  // namespace

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

prometheus::ClientMetric& Families::add(const std::string& name, std::string_view help,
                                        MetricType type, Labels labels) {
    const auto [known, is_first] = by_name_.try_emplace(name, families_.size());
    if (is_first) {
        MetricFamily family;
        family.name = "pinstrike_" + name;
        family.help = help;
        family.type = type;
        families_.push_back(std::move(family));
    }
    ClientMetric& metric = families_[known->second].metric.emplace_back();
    metric.label = std::move(labels);
    metric.label.insert(metric.label.begin(), Label{"feed", feed_});
    return metric;
}

void Families::counter(const std::string& name, std::string_view help, Labels labels,
                       double value) {
    add(name, help, MetricType::Counter, std::move(labels)).counter.value = value;
}

void Families::gauge(const std::string& name, std::string_view help, Labels labels, double value) {
    add(name, help, MetricType::Gauge, std::move(labels)).gauge.value = value;
}

void Families::histogram(const std::string& name, std::string_view help, Labels labels,
                         const Histogram::Snapshot& taken) {
    ClientMetric& metric = add(name, help, MetricType::Histogram, std::move(labels));
    metric.histogram.sample_count = taken.count;
    metric.histogram.sample_sum = static_cast<double>(taken.sum_ns) * 1e-9;
    for (unsigned i = 0; i < bounds_count; ++i) {
        const std::uint64_t bound_ns = std::uint64_t{1} << (first_bound_power + i);
        metric.histogram.bucket.push_back(
            {taken.count_up_to(bound_ns - 1), static_cast<double>(bound_ns) * 1e-9});
    }
    metric.histogram.bucket.push_back({taken.count, std::numeric_limits<double>::infinity()});
}

void Families::fine_histogram(const std::string& name, std::string_view help, Labels labels,
                              const Histogram::Snapshot& taken) {
    ClientMetric& metric = add(name, help, MetricType::Histogram, std::move(labels));
    metric.histogram.sample_count = taken.count;
    metric.histogram.sample_sum = static_cast<double>(taken.sum_ns) * 1e-9;
    std::uint64_t up_to = 0;
    for (std::size_t i = 0; i < Histogram::buckets_count; ++i) {
        if (taken.buckets[i] != 0) {
            up_to += taken.buckets[i];
            metric.histogram.bucket.push_back(
                {up_to, static_cast<double>(Histogram::upper_bound(i)) * 1e-9});
        }
    }
    metric.histogram.bucket.push_back({taken.count, std::numeric_limits<double>::infinity()});
}

void Families::row(std::string_view subject, const Row& row, Labels labels, std::uint64_t value) {
    counter(row_name(subject, row) + "_total", row.sentence, std::move(labels),
            static_cast<double>(value));
}

std::vector<MetricFamily> Families::take() {
    by_name_.clear();
    return std::exchange(families_, {});
}

std::string row_name(std::string_view subject, const Row& row) {
    std::string name{subject};
    name.append("_").append(row.name);
    if (!has_word(row.name, row.unit)) {
        name.append("_").append(row.unit);
    }
    return name;
}

}  // namespace pinstrike::actors
