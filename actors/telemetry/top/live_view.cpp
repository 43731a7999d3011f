// path: cold
#include "actors/telemetry/top/live_view.h"

#include "actors/book/book_json.h"
#include "config/units.h"
#include "config/version.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace pinstrike::actors {

namespace {

double rate(std::uint64_t now, std::uint64_t before, double seconds) {
    return seconds > 0 && now > before ? static_cast<double>(now - before) / seconds : 0;
}

std::string grouped_rate(std::uint64_t now, std::uint64_t before, double seconds) {
    return grouped(static_cast<std::uint64_t>(rate(now, before, seconds)));
}

double gigabits(double bytes) {
    return bytes * 8 / 1e9;
}

std::string clock_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(seconds);
    return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string microseconds(std::uint64_t ns) {
    return fmt::format("{:.{}f}", static_cast<double>(ns) / 1e3, ns < 100'000 ? 2 : 0);
}

std::string series_text(const feed::SeriesKey& key) {
    const auto bytes = key.bytes();
    std::string symbol(bytes.data(), feed::SeriesKey::symbol_bytes);
    for (char& character : symbol) {
        // Replaces control characters, because the text comes from the network.
        character = character > ' ' && character < 0x7F ? character : ' ';
    }
    return fmt::format("{} {:04}-{:02}-{:02} {} {}{}", symbol, key.year(), key.month(), key.day(),
                       key.call() ? 'C' : 'P', normalised_decimal(key.strike_e8),
                       key.gth() ? " GTH" : "");
}

std::string price_text(bool present, const Price& price) {
    return present ? normalised_decimal(price.e8()) : "-";
}

std::string latency_row(std::string_view name, const Histogram::Snapshot& taken) {
    if (taken.count == 0) {
        return fmt::format("{:<24}{:>11}", name, "-");
    }
    std::string row = fmt::format("{:<24}", name);
    for (const double quantile : {0.5, 0.9, 0.99, 0.999}) {
        row += fmt::format("{:>11}", microseconds(taken.quantile_ns(quantile)));
    }
    return row + fmt::format("{:>11}", microseconds(taken.highest_ns));
}

std::string half_and_most(const Histogram::Snapshot& taken) {
    return taken.count == 0 ? fmt::format("{:>20}", "-")
                            : fmt::format("{:>11}{:>9}", microseconds(taken.quantile_ns(0.5)),
                                          microseconds(taken.quantile_ns(0.99)));
}

double busy_share(const ThreadFigures& now, const ThreadFigures* before) {
    const std::uint64_t busy = now.busy_ns - (before == nullptr ? 0 : before->busy_ns);
    const std::uint64_t idle = now.idle_ns - (before == nullptr ? 0 : before->idle_ns);
    return busy + idle == 0 ? 0 : static_cast<double>(busy) / static_cast<double>(busy + idle);
}

std::string bar(double share, std::size_t width) {
    const auto full = static_cast<std::size_t>(share * static_cast<double>(width) + 0.5);
    return std::string(std::min(full, width), '#') +
           std::string(width - std::min(full, width), '.');
}

struct LinesUp {
    std::size_t lines = 0;  ///< lines with at least one stream up
    std::size_t a = 0;
    std::size_t b = 0;
    feed::StreamsReceived received{};  ///< streams that any line receives
};

/// The number of streams, such as "12"; "-" if the feed lacks the stream.
std::string up_text(std::size_t up, bool received) {
    return received ? fmt::format("{}", up) : "-";
}

LinesUp lines_up(const LiveFigures& figures) {
    LinesUp up;
    for (const LineFigures& line : figures.lines) {
        up.a += line.a_up ? 1U : 0U;
        up.b += line.b_up ? 1U : 0U;
        up.lines += line.a_up || line.b_up ? 1U : 0U;
        up.received[0] = up.received[0] || line.received[0];
        up.received[1] = up.received[1] || line.received[1];
    }
    return up;
}

/// Builds the screen part by part.
class Screen {
  public:
    Screen(const LiveFigures& now, const LiveFigures& before, ScreenSize size)
        : now_(now), before_(before), seconds_(now.seconds - before.seconds), size_(size) {}

    void head(const std::string& feed) {
        add(fmt::format("pinstrike {}   {}   running {}", version, feed, clock_text(now_.seconds)));
        space();
    }

    void flow() {
        add(fmt::format("{:<7}{:>15}{:>17}{:>10}{:>10}{:>10}{:>11}", "", "packets", "messages",
                        "Gb", "dropped", "refused", "lost"));
        add(fmt::format("{:<7}{:>15}{:>17}{:>10.3f}{:>10}{:>10}{:>11}", "per s",
                        per_second(&LiveFigures::packets), per_second(&LiveFigures::delivered),
                        gigabits(rate(now_.bytes, before_.bytes, seconds_)),
                        per_second(&LiveFigures::dropped), per_second(&LiveFigures::refused),
                        per_second(&LiveFigures::lost)));
        add(fmt::format("{:<7}{:>15}{:>17}{:>10.1f}{:>10}{:>10}{:>11}", "total",
                        grouped(now_.packets), grouped(now_.delivered),
                        gigabits(static_cast<double>(now_.bytes)), grouped(now_.dropped),
                        grouped(now_.refused), grouped(now_.lost)));
        space();
    }

    void lines() {
        const LinesUp up = lines_up(now_);
        add(
            fmt::format("lines {} of {} up (A {}, B {})   gaps {}   repaired {}   missed by NIC {}"
                        "   rejected {}",
                        up.lines, now_.lines.size(), up_text(up.a, up.received[0]),
                        up_text(up.b, up.received[1]), grouped(now_.gaps), grouped(now_.repaired),
                        grouped(now_.missed), grouped(now_.rejected)));
        space();
    }

    void latency() {
        add(fmt::format("{:<24}{:>11}{:>11}{:>11}{:>11}{:>11}", "latency, us", "p50", "p90", "p99",
                        "p99.9", "highest"));
        add(latency_row("exchange to decoded",
                        since(now_.exchange_to_decoded, before_.exchange_to_decoded)));
        add(latency_row("receive to actor",
                        since(now_.receive_to_actor, before_.receive_to_actor)));
        space();
    }

    void threads() {
        add(fmt::format("{:<12}{:<29}{:>20}{:>19}", "thread", "busy", "longest step, us", "per s"));
        const std::size_t most = size_.rows > 20 ? size_.rows - 18 : 2;
        for (std::size_t i = 0; i < std::min(now_.threads.size(), most); ++i) {
            const ThreadFigures& thread = now_.threads[i];
            const ThreadFigures* before =
                i < before_.threads.size() ? &before_.threads[i] : nullptr;
            const double share = busy_share(thread, before);
            add(fmt::format(
                "{:<12}{}{:>5.0f} %{:>22}{:>15} {}", thread.name, bar(share, 20), share * 100,
                microseconds(thread.longest_step_ns),
                grouped_rate(thread.count, before == nullptr ? 0 : before->count, seconds_),
                thread.polls ? "pkt" : "msg"));
        }
    }

    /// Shows only the fullest ring.
    void rings() {
        const auto fullest = std::max_element(now_.rings.begin(), now_.rings.end(),
                                              [](const RingFigures& a, const RingFigures& b) {
                                                  return a.high_water_records * b.capacity_records <
                                                         b.high_water_records * a.capacity_records;
                                              });
        if (fullest != now_.rings.end() && fullest->capacity_records > 0) {
            add(fmt::format("{} ring{}; fullest so far {}: {:.1f} % of {} records",
                            now_.rings.size(), now_.rings.size() == 1 ? "" : "s", fullest->name,
                            100 * static_cast<double>(fullest->high_water_records) /
                                static_cast<double>(fullest->capacity_records),
                            grouped(fullest->capacity_records)));
        }
        space();
    }

    void actors() {
        if (now_.actors.empty()) {
            return;
        }
        add(fmt::format("{:<24}{:>15}{:>20}{:>20}", "actor, p50 and p99 in us", "messages/s",
                        "waiting", "service of a batch"));
        const std::size_t most = size_.rows > 28 ? size_.rows - 26 : 1;
        for (std::size_t i = 0; i < std::min(now_.actors.size(), most); ++i) {
            const ActorTotals& actor = now_.actors[i];
            const ActorTotals before =
                i < before_.actors.size() ? before_.actors[i] : ActorTotals{};
            add(fmt::format("{:<24}{:>15}{}{}", actor.name,
                            grouped_rate(actor.events, before.events, seconds_),
                            half_and_most(since(actor.waiting, before.waiting)),
                            half_and_most(since(actor.service, before.service))));
        }
        space();
    }

    void busiest() {
        add(fmt::format("{:<34}{:>12}{:>14}{:>10}{:>10}", "busiest series", "quotes/s", "quotes",
                        "bid", "offer"));
        std::vector<Busy> rows;
        for (const BusySeries& series : now_.busiest) {
            rows.push_back({series, rate(series.quotes, quotes_before(series.key), seconds_)});
        }
        std::sort(rows.begin(), rows.end(), [](const Busy& a, const Busy& b) {
            return std::pair{a.per_second, a.series.quotes} >
                   std::pair{b.per_second, b.series.quotes};
        });
        for (const Busy& row : rows) {
            add(fmt::format("{:<34}{:>12}{:>14}{:>10}{:>10}", series_text(row.series.key),
                            grouped(static_cast<std::uint64_t>(row.per_second)),
                            grouped(row.series.quotes),
                            price_text(row.series.has_bid, row.series.bid),
                            price_text(row.series.has_offer, row.series.offer)));
        }
    }

    [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

  private:
    struct Busy {
        BusySeries series;
        double per_second;
    };

    /// An empty row between two parts, if the screen is high enough.
    void space() {
        constexpr std::size_t rows_wanted = 30;
        if (size_.rows >= rows_wanted) {
            add("");
        }
    }

    void add(std::string line) {
        if (lines_.size() + 1 < size_.rows) {
            line.resize(std::min(line.size(), size_.columns));
            lines_.push_back(std::move(line));
        }
    }

    [[nodiscard]] std::string per_second(std::uint64_t LiveFigures::*figure) const {
        return grouped_rate(now_.*figure, before_.*figure, seconds_);
    }

    [[nodiscard]] std::uint64_t quotes_before(const feed::SeriesKey& key) const {
        for (const BusySeries& series : before_.busiest) {
            if (series.key == key) {
                return series.quotes;
            }
        }
        return ~std::uint64_t{0};  // not in the last snapshot: no rate yet
    }

    const LiveFigures& now_;
    const LiveFigures& before_;
    double seconds_;
    ScreenSize size_;
    std::vector<std::string> lines_;
};

ScreenSize size_of(std::FILE* out) {
    winsize window{};
    if (::ioctl(::fileno(out), TIOCGWINSZ, &window) != 0 || window.ws_col == 0 ||
        window.ws_row == 0) {
        return {};
    }
    return {window.ws_col, window.ws_row};
}

}  // namespace

std::vector<std::string> screen_text(const std::string& feed, const LiveFigures& now,
                                     const LiveFigures& before, ScreenSize size,
                                     const std::deque<std::string>& last_lines) {
    const std::size_t below = std::min(last_lines.size(), std::max<std::size_t>(size.rows / 8, 2));
    Screen screen(now, before, {size.columns, size.rows - below});
    screen.head(feed);
    screen.flow();
    screen.lines();
    screen.latency();
    screen.threads();
    screen.rings();
    screen.actors();
    screen.busiest();
    std::vector<std::string> text = screen.take();
    for (auto line = last_lines.end() - static_cast<std::ptrdiff_t>(below);
         line != last_lines.end(); ++line) {
        text.push_back(line->substr(0, size.columns));
    }
    return text;
}

std::string plain_text(const LiveFigures& now, const LiveFigures& before) {
    const LinesUp up = lines_up(now);
    const double seconds = now.seconds - before.seconds;
    const auto latency = since(now.receive_to_actor, before.receive_to_actor);
    return fmt::format(
        "{} packets/s {:.0f} messages/s {:.0f} Gb/s {:.3f} dropped {} refused {} lost {} "
        "lines {}/{} receive-to-actor us p50 {} p99 {}",
        clock_text(now.seconds), rate(now.packets, before.packets, seconds),
        rate(now.delivered, before.delivered, seconds),
        gigabits(rate(now.bytes, before.bytes, seconds)), now.dropped, now.refused, now.lost,
        up.lines, now.lines.size(), microseconds(latency.quantile_ns(0.5)),
        microseconds(latency.quantile_ns(0.99)));
}

LiveView::LiveView(std::string feed, std::FILE* out, const std::deque<std::string>& last_lines)
    : feed_(std::move(feed)),
      out_(out),
      terminal_(::isatty(::fileno(out)) == 1),
      last_lines_(last_lines) {
    if (terminal_) {
        std::fputs("\x1b[?25l\x1b[2J", out_);  // hides the cursor and clears the screen
    }
}

LiveView::~LiveView() {
    if (terminal_) {
        std::fputs("\x1b[?25h\n", out_);
        std::fflush(out_);
    }
}

void LiveView::draw(const CounterSnapshot& counters) {
    LiveFigures now = figures_of(counters);
    show(now);
    before_ = std::move(now);
}

void LiveView::show(const LiveFigures& now) {
    if (!terminal_) {
        // fmt::print would throw, and a failing output must not stop the program.
        std::fputs((plain_text(now, before_) + '\n').c_str(), out_);
        std::fflush(out_);
        return;
    }
    std::string frame = "\x1b[H";
    for (const std::string& line : screen_text(feed_, now, before_, size_of(out_), last_lines_)) {
        frame += line + "\x1b[K\n";
    }
    frame += "\x1b[J";
    std::fwrite(frame.data(), 1, frame.size(), out_);
    std::fflush(out_);
}

}  // namespace pinstrike::actors
