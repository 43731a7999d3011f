// path: cold
//
// Metric families in the making: names under one prefix, the feed's label on every series, values
// from counters that other threads own.
#pragma once

#include "actors/histogram.h"
#include "config/rows.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pinstrike::actors {

using Label = prometheus::ClientMetric::Label;
using Labels = std::vector<Label>;

class Families {
  public:
    explicit Families(std::string feed) : feed_(std::move(feed)) {}

    /// `name` without prefix; a counter's ends in _total.
    void counter(const std::string& name, std::string_view help, Labels labels, double value);
    void gauge(const std::string& name, std::string_view help, Labels labels, double value);

    /// In seconds, over the buckets of bucket_bounds_ns.
    void histogram(const std::string& name, std::string_view help, Labels labels,
                   const Histogram::Snapshot& taken);

    /// In seconds, over all buckets that hold something.
    void fine_histogram(const std::string& name, std::string_view help, Labels labels,
                        const Histogram::Snapshot& taken);

    /// A row of a table of counters: <subject>_<name>_<unit>_total, its sentence as help.
    void row(std::string_view subject, const Row& row, Labels labels, std::uint64_t value);

    /// Everything so far; leaves nothing.
    [[nodiscard]] std::vector<prometheus::MetricFamily> take();

    /// About 1 us to 16 ms. Powers of two of nanoseconds: buckets of actors::Histogram end there,
    /// so that no count is split.
    static constexpr unsigned first_bound_power = 10;
    static constexpr unsigned bounds_count = 15;

  private:
    prometheus::ClientMetric& add(const std::string& name, std::string_view help,
                                  prometheus::MetricType type, Labels labels);

    std::string feed_;
    std::vector<prometheus::MetricFamily> families_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

/// <subject>_<name>_<unit>, without the unit where it is a word of the name.
[[nodiscard]] std::string row_name(std::string_view subject, const Row& row);

/// "what, by reason. name: sentence; name: sentence": help of a family with a reason label.
template <class Rows>
[[nodiscard]] std::string reasons_help(std::string_view what, const Rows& rows) {
    std::string help{what};
    help += ", by reason.";
    for (const Row& row : rows) {
        help.append(" ").append(row.name).append(": ").append(row.sentence).append(";");
    }
    help.back() = '.';
    return help;
}

}  // namespace pinstrike::actors
