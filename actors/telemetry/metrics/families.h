// path: cold
//
// Builds metric families: names with one prefix, the feed's label on every series, values from
// counters that other threads own.
#pragma once

#include "actors/telemetry/metrics/metric_rows.h"
#include "config/histogram.h"

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pinstrike::actors {

using Label = prometheus::ClientMetric::Label;
using Labels = std::vector<Label>;

/// The help text of a family with a reason label: "what, by reason. name: sentence; name:
/// sentence".
[[nodiscard]] std::string reasons_help(std::string_view what, std::span<const Row> rows);

template <class Number>
[[nodiscard]] double seconds_of(Number ns) {
    return static_cast<double>(ns) * 1e-9;
}

class Families {
  public:
    explicit Families(std::string feed) : feed_(std::move(feed)) {}

    /// A counter or a gauge, according to the table.
    template <class Number>
    void value(Metric metric, Labels labels, Number value) {
        add_value(metric, std::move(labels), static_cast<double>(value));
    }

    /// Nothing if the value is unknown.
    template <class Number>
    void value(Metric metric, Labels labels, const std::optional<Number>& known) {
        if (known) {
            value(metric, std::move(labels), *known);
        }
    }

    /// In seconds, with the buckets of bucket_bounds_ns.
    void histogram(Metric which, Labels labels, const Histogram::Snapshot& taken);

    /// A row of a table of counters, named by metric_name, with its sentence as help.
    void row(std::string_view subject, const Row& row, Labels labels, std::uint64_t value);

    /// All rows of such a table.
    void rows(std::string_view subject, std::span<const Row> rows,
              std::span<const std::uint64_t> counts, const Labels& labels = {});

    /// A row of an actor's table.
    void row(const ActorTable& table, std::size_t row, Labels labels, std::uint64_t value);

    /// A counter for each row of a table of reasons, named by the label `reason`.
    void reasons(Metric metric, std::span<const Row> rows, std::span<const std::uint64_t> counts,
                 const Labels& labels = {});

    /// Returns all families so far and clears the list.
    [[nodiscard]] std::vector<prometheus::MetricFamily> take();

    /// About 1 us to 16 ms. The bounds are powers of two of nanoseconds, which are bounds of the
    /// buckets of Histogram too, so that no count is split.
    static constexpr unsigned first_bound_power = 10;
    static constexpr unsigned bounds_count = 15;

  private:
    void add_value(Metric metric, Labels labels, double value);
    prometheus::ClientMetric& add(std::string_view name, std::string_view help, MetricKind kind,
                                  Labels labels);
    void add(std::string_view name, std::string_view help, MetricKind kind, Labels labels,
             double value);

    std::string feed_;
    std::vector<prometheus::MetricFamily> families_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace pinstrike::actors
