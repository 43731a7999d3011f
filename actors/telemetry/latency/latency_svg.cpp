// path: cold
#include "actors/telemetry/latency/latency_rows.h"
#include "actors/telemetry/latency/latency_text.h"
#include "config/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

namespace pinstrike::actors {
namespace {

constexpr double plot_left = 90;
constexpr double plot_top = 60;
constexpr double plot_width = 720;
constexpr double plot_height = 440;
constexpr double legend_left = plot_left + plot_width + 25;
constexpr double legend_row = 20;
constexpr double picture_width = legend_left + 340;

/// Colours that colour-blind readers can distinguish (Okabe and Ito, 2008; black for yellow).
constexpr std::array<std::string_view, 8> colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                  "#E69F00", "#56B4E9", "#000000", "#7F7F7F"};

/// "250 ns", "1 us", "10 ms"
std::string latency_label(double ns) {
    const auto [unit, size] = ns < 1e3   ? std::pair{"ns", 1.0}
                              : ns < 1e6 ? std::pair{"us", 1e3}
                              : ns < 1e9 ? std::pair{"ms", 1e6}
                                         : std::pair{"s", 1e9};
    return fmt::format("{:g} {}", ns / size, unit);
}

class Plot {
  public:
    explicit Plot(std::vector<LatencyRow> rows) : rows_(std::move(rows)) {
        std::erase_if(rows_, [](const LatencyRow& row) { return row.taken.count == 0; });
        double lowest = 1e12;
        double highest = 1;
        for (const LatencyRow& row : rows_) {
            lowest = std::min(lowest, static_cast<double>(row.taken.quantile_ns(0)));
            highest = std::max(highest, static_cast<double>(row.taken.highest_ns));
            most_ = std::max(most_, std::min(one_in_max, static_cast<double>(row.taken.count)));
        }
        bottom_ = std::floor(std::log10(std::clamp(lowest, 10.0, 1e9)));
        top_ = std::max(bottom_ + 1, std::ceil(std::log10(std::max(highest, 1.0))));
        right_ = std::max(3.0, std::ceil(std::log10(most_)));
    }

    [[nodiscard]] double height() const {
        const double legend = legend_row * static_cast<double>(rows_.size() + 2);
        return plot_top + std::max(plot_height, legend) + 70;
    }

    void scales() {
        for (double decade = bottom_; decade <= top_; ++decade) {
            const double at = y(std::pow(10, decade));
            line(plot_left, at, plot_left + plot_width, at, "#cccccc");
            text(plot_left - 8, at + 4, "end", latency_label(std::pow(10, decade)));
            for (int part = 2; part <= 9 && decade < top_; ++part) {
                const double fine = y(part * std::pow(10, decade));
                line(plot_left, fine, plot_left + plot_width, fine, "#eeeeee");
            }
        }
        for (double decade = 0; decade <= right_; ++decade) {
            const double at = x(std::pow(10, decade));
            line(at, plot_top, at, plot_top + plot_height, "#cccccc");
            text(at, plot_top + plot_height + 18, "middle",
                 fmt::format("{:g} %", 100 - 100 / std::pow(10, decade)));
        }
        line(x(2), plot_top, x(2), plot_top + plot_height, "#cccccc");
        text(x(2), plot_top + plot_height + 18, "middle", "50 %");
        text(plot_left + plot_width / 2, plot_top + plot_height + 42, "middle",
             "percentile, by 1 / (1 - p): so many of 100 lie below the curve");
    }

    void curves() {
        double legend_y = plot_top + 10;
        std::map<std::string, std::size_t> colour_of;  // one colour with and without preemptions
        for (const LatencyRow& row : rows_) {
            const std::size_t colour =
                colour_of.try_emplace(row.thread + '\n' + row.stage, colour_of.size())
                    .first->second;
            const std::string style = fmt::format(
                "fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}",
                colours[colour % colours.size()],
                row.kind == LatencyRow::Kind::without_preemption ? " stroke-dasharray=\"7 4\""
                : row.kind == LatencyRow::Kind::preemption       ? " stroke-dasharray=\"2 3\""
                                                                 : "");
            body_ += fmt::format("<polyline {} points=\"{}\"><title>{}</title></polyline>\n", style,
                                 points(row), xml_escaped(row.title()));
            body_ += fmt::format("<polyline {} points=\"{:.0f},{:.0f} {:.0f},{:.0f}\"/>\n", style,
                                 legend_left, legend_y - 4, legend_left + 30, legend_y - 4);
            text(legend_left + 38, legend_y, "start", row.title());
            legend_y += legend_row;
        }
        if (rows_.empty()) {
            text(plot_left + plot_width / 2, plot_top + plot_height / 2, "middle",
                 "nothing was measured");
        }
    }

    void text(double left, double base, std::string_view anchor, std::string_view words,
              int size = 13) {
        body_ += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", left,
            base, anchor, size, xml_escaped(words));
    }

    [[nodiscard]] const std::string& body() const { return body_; }

  private:
    static constexpr double one_in_max = 1e6;

    [[nodiscard]] double x(double one_in) const {
        return plot_left + plot_width * std::clamp(std::log10(one_in) / right_, 0.0, 1.0);
    }

    [[nodiscard]] double y(double ns) const {
        const double share = (std::log10(std::max(ns, 1.0)) - bottom_) / (top_ - bottom_);
        return plot_top + plot_height * (1 - std::clamp(share, 0.0, 1.0));
    }

    void line(double x1, double y1, double x2, double y2, std::string_view colour) {
        body_ += fmt::format(
            "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1,
            y1, x2, y2, colour);
    }

    /// Draws each bucket's highest value at the share of the samples up to it.
    [[nodiscard]] std::string points(const LatencyRow& row) const {
        const auto count = static_cast<double>(row.taken.count);
        const double end = std::min(count, one_in_max);
        std::string out;
        std::uint64_t up_to = 0;
        for (std::size_t i = 0; i < Histogram::buckets_count; ++i) {
            if (row.taken.buckets[i] == 0) {
                continue;
            }
            const auto value =
                static_cast<double>(std::min(Histogram::upper_bound(i) - 1, row.taken.highest_ns));
            if (up_to == 0) {
                out += fmt::format("{:.1f},{:.1f}", x(1), y(value));
            }
            up_to += row.taken.buckets[i];
            const auto above = static_cast<double>(row.taken.count - up_to);
            const double one_in = above == 0 ? end : count / above;
            out += fmt::format(" {:.1f},{:.1f}", x(std::min(one_in, end)), y(value));
            if (one_in > end) {
                break;
            }
        }
        return out;
    }

    std::vector<LatencyRow> rows_;
    double most_ = 1;
    double bottom_ = 1;
    double top_ = 2;
    double right_ = 3;
    std::string body_;
};

}  // namespace

std::string latency_svg(const LatencyReading& reading) {
    Plot plot(latency_rows(reading));
    plot.text(plot_left, 26, "start",
              fmt::format("Latency of feed {}, pinstrike {}", reading.feed, reading.version), 18);
    plot.text(plot_left, 46, "start",
              fmt::format("{:.1f} s. Dashed: what overlaps preemption is left out. "
                          "Dotted: the preemptions themselves.",
                          reading.seconds));
    plot.scales();
    plot.curves();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
        picture_width, plot.height(), plot.body());
}

}  // namespace pinstrike::actors
