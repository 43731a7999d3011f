// path: cold
#include "actors/runtime/figures_text.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

namespace pinstrike::actors::runtime {

namespace {

double us_at(const Histogram::Snapshot& of, double quantile) {
    return static_cast<double>(of.quantile_ns(quantile)) * 1e-3;
}

/// Escapes the characters that the value of a label may not contain.
std::string label_of(std::string_view name) {
    std::string escaped;
    for (const char letter : name) {
        if (letter == '\\' || letter == '"') {
            escaped += '\\';
        }
        escaped += letter == '\n' ? std::string_view{"\\n"} : std::string_view{&letter, 1};
    }
    return escaped;
}

struct Family {
    std::string_view name;
    std::string_view type;
    std::string_view help;
};

constexpr Family handled_family{"runtime_actor_handled_total", "counter",
                                "Messages and timers handled"};
constexpr Family backlog_family{"runtime_actor_backlog_messages", "gauge",
                                "Messages published and not yet handled, at the last check"};
constexpr Family waiting_family{"runtime_actor_waiting_seconds", "summary",
                                "From a message's publication to its handling; sampled"};
constexpr Family service_family{"runtime_actor_service_seconds", "summary",
                                "Time of the actor for a message; sampled"};

void head(std::string& text, const std::string& prefix, const Family& family) {
    fmt::format_to(std::back_inserter(text), "# HELP {0}{1} {2}\n# TYPE {0}{1} {3}\n", prefix,
                   family.name, family.help, family.type);
}

void value(std::string& text, const std::string& prefix, const Family& family,
           const std::string& actor, const Counter& count) {
    fmt::format_to(std::back_inserter(text), "{}{}{{actor=\"{}\"}} {}\n", prefix, family.name,
                   label_of(actor), count.read());
}

void summary(std::string& text, const std::string& prefix, const Family& family,
             const std::string& actor, const Histogram& figure) {
    const Histogram::Snapshot of = figure.snapshot();
    auto out = std::back_inserter(text);
    const std::string label = label_of(actor);
    for (const double quantile : {0.5, 0.9, 0.99, 0.999}) {
        fmt::format_to(out, "{}{}{{actor=\"{}\",quantile=\"{}\"}} {:.9f}\n", prefix, family.name,
                       label, quantile, us_at(of, quantile) * 1e-6);
    }
    fmt::format_to(out, "{0}{1}_sum{{actor=\"{2}\"}} {3:.9f}\n{0}{1}_count{{actor=\"{2}\"}} {4}\n",
                   prefix, family.name, label, static_cast<double>(of.sum_ns) * 1e-9, of.count);
}

}  // namespace

void FiguresText::add(std::string name, const ActorMeasurements* figures, std::int64_t now_ns) {
    rows_.push_back({std::move(name), figures, {}});
    if (figures != nullptr) {
        rows_.back().last = read(*figures, now_ns);
    }
}

std::string FiguresText::table(std::int64_t now_ns) {
    std::string text = fmt::format("{:<16} {:>12} {:>12} {:>9} {:>8} {:>8} {:>8} {:>8} {:>6}\n",
                                   "actor", "arrivals/s", "handled/s", "backlog", "wait p50",
                                   "p99 us", "serv p50", "p99 us", "busy");
    for (Row& row : rows_) {
        if (row.figures == nullptr) {
            text += fmt::format("{:<16} its executor has no clock: not measured\n", row.name);
            continue;
        }
        const ActorReading now = read(*row.figures, now_ns);
        const ActorRates rates = since(now, row.last);
        text += fmt::format(
            "{:<16} {:>12.0f} {:>12.0f} {:>9} {:>8.2f} {:>8.2f} {:>8.3f} {:>8.3f} {:>4.0f} %\n",
            row.name, rates.arrivals_per_second, rates.handled_per_second, now.backlog,
            us_at(rates.waiting_ns, 0.5), us_at(rates.waiting_ns, 0.99),
            us_at(rates.service_ns, 0.5), us_at(rates.service_ns, 0.99), 100 * rates.busy);
        row.last = now;
    }
    return text;
}

std::string FiguresText::metrics(const std::string& prefix) const {
    std::string text;
    const auto add = [&](const Family& family, auto print, auto figure) {
        head(text, prefix, family);
        for (const Row& row : rows_) {
            if (row.figures != nullptr) {
                print(text, prefix, family, row.name, row.figures->*figure);
            }
        }
    };
    add(handled_family, value, &ActorMeasurements::handled);
    add(backlog_family, value, &ActorMeasurements::backlog);
    add(waiting_family, summary, &ActorMeasurements::waiting_ns);
    add(service_family, summary, &ActorMeasurements::service_ns);
    return text;
}

}  // namespace pinstrike::actors::runtime
