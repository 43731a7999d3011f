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
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pinstrike::actors {

using Label = prometheus::ClientMetric::Label;
using Labels = std::vector<Label>;

/// The help text of a family with a reason label: "what, by reason. name: sentence; name:
/// sentence".
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

class Families {
  public:
    explicit Families(std::string feed) : feed_(std::move(feed)) {}

    /// A counter or a gauge, according to the table.
    void value(Metric metric, Labels labels, double value);

    /// In seconds, with the buckets of bucket_bounds_ns.
    void histogram(Metric which, Labels labels, const Histogram::Snapshot& taken);

    /// A row of a table of counters, named by metric_name, with its sentence as help.
    void row(std::string_view subject, const Row& row, Labels labels, std::uint64_t value);

    /// A row of an actor's table.
    void row(const ActorTable& table, std::size_t row, Labels labels, std::uint64_t value);

    /// A counter for each row of a table of reasons, named by the label `reason`.
    template <class Rows, class Counts>
    void reasons(Metric metric, const Rows& rows, const Labels& labels, const Counts& count_of) {
        const MetricRow& own = row_of(metric);
        const std::string help = reasons_help(own.sentence, rows);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            Labels with_reason = labels;
            with_reason.push_back({"reason", std::string{rows[i].name}});
            set(add(own.name, help, own.kind, std::move(with_reason)), own.kind,
                static_cast<double>(count_of(i)));
        }
    }

    /// Returns all families so far and clears the list.
    [[nodiscard]] std::vector<prometheus::MetricFamily> take();

    /// About 1 us to 16 ms. The bounds are powers of two of nanoseconds, which are bounds of the
    /// buckets of Histogram too, so that no count is split.
    static constexpr unsigned first_bound_power = 10;
    static constexpr unsigned bounds_count = 15;

  private:
    prometheus::ClientMetric& add(std::string_view name, std::string_view help, MetricKind kind,
                                  Labels labels);
    static void set(prometheus::ClientMetric& metric, MetricKind kind, double value);

    std::string feed_;
    std::vector<prometheus::MetricFamily> families_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace pinstrike::actors
