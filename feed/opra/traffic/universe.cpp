// path: cold
#include "feed/opra/traffic/universe.h"

#include "config/check.h"
#include "feed/opra/message.h"
#include "feed/opra/traffic/reserved_symbols.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <unordered_set>

namespace pinstrike::feed::opra::traffic {

namespace {

struct NamedRoot {
    std::string_view symbol;
    std::int32_t price_cents;
    bool index;
};

constexpr NamedRoot named_roots[] = {
    {"SPXW", 590'000, true},  {"SPY", 66'500, false},    {"QQQ", 59'800, false},
    {"TSLA", 39'200, false},  {"NVDA", 18'100, false},   {"IWM", 24'800, false},
    {"SPX", 590'000, true},   {"AAPL", 25'100, false},   {"AMZN", 21'300, false},
    {"META", 62'500, false},  {"AMD", 20'400, false},    {"MSFT", 39'900, false},
    {"GOOGL", 30'200, false}, {"NDXP", 2'460'000, true}, {"VIX", 2'100, true},
    {"PLTR", 15'300, false},  {"NFLX", 9'400, false},    {"GLD", 46'000, false},
    {"SLV", 7'200, false},    {"COIN", 19'800, false},   {"MSTR", 14'100, false},
    {"XSP", 66'500, true},    {"AVGO", 33'100, false},   {"BABA", 13'600, false},
    {"RUT", 248'000, true},   {"INTC", 4'500, false},    {"BRKB", 49'200, false},
    {"TLT", 8'800, false},    {"HOOD", 7'600, false},    {"SMCI", 3'100, false},
    {"VIXW", 2'100, true},    {"MRUT", 24'800, true},    {"DJX", 46'800, true},
    {"GOOG", 30'300, false},  {"AAPL1", 12'550, false},  {"2SPY", 66'500, false},
    {"4QQQ", 59'800, false},  {"F", 1'250, false},       {"T", 2'700, false},
    {"NKLA1", 240, false},
};

constexpr std::string_view gth_symbols[] = {"SPX", "SPXW", "VIX", "VIXW", "XSP", "RUT", "MRUT"};

constexpr std::size_t gth_series_per_root = 400;
constexpr std::size_t test_series_per_root = 4;
constexpr std::size_t lines_per_root = 16;  // the nightly file maps a root to at most 16 lines

std::int32_t strike_step_e3(std::int32_t price_cents) {
    return price_cents < 2'500     ? 500
           : price_cents < 10'000  ? 1'000
           : price_cents < 25'000  ? 2'500
           : price_cents < 300'000 ? 5'000
                                   : 25'000;
}

std::string random_symbol(Random& random) {
    // Most roots have three or four letters; a digit after them marks an adjusted contract.
    static constexpr std::uint8_t lengths[] = {1, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4};
    const unsigned length = random.one_of<std::uint8_t>(lengths);
    std::string symbol;
    for (unsigned i = 0; i < length; ++i) {
        symbol += static_cast<char>('A' + random.below(26));
    }
    if (random.chance(0.04)) {
        symbol += static_cast<char>('1' + random.below(3));
    }
    return symbol;
}

Root make_root(std::string_view symbol, std::int32_t price_cents, bool index) {
    Root root;
    root.symbol = wire::padded(symbol);
    root.index = index;
    root.price_cents = price_cents;
    root.step_e3 = strike_step_e3(price_cents);
    root.adjusted = symbol.back() >= '0' && symbol.back() <= '9' && symbol.front() > '9';
    return root;
}

}  // namespace

LineUse use_of_line(std::uint16_t number) {
    return number >= 201 && number <= 204   ? LineUse::gth
           : number >= 220 && number <= 225 ? LineUse::maps
                                            : LineUse::regular;
}

std::string_view Root::text() const {
    return wire::trimmed(symbol);
}

ActivityCurve::ActivityCurve(std::size_t series_count) : count_(series_count) {
    PINSTRIKE_CHECK(series_count > 0);
}

SeriesIndex ActivityCurve::pick(Random& random) const {
    struct CurvePoint {
        double rank;
        double share;
    };

    constexpr double design_series = 1.5e6;
    static constexpr CurvePoint points[] = {{1, 0.0054}, {1e3, 0.09}, {1e4, 0.23},
                                            {1e5, 0.59}, {3e5, 0.82}, {design_series, 1}};
    const double share = random.unit();
    std::size_t upper = 1;
    while (points[upper].share <= share) {
        ++upper;
    }
    // Between two knots the share grows as a power of the rank, as in Zipf's law.
    const CurvePoint& low = points[upper - 1];
    const CurvePoint& high = points[upper];
    const double power = std::log(high.rank / low.rank) / std::log(high.share / low.share);
    const double rank = low.rank * std::pow(share / low.share, power);
    const auto scaled =
        static_cast<std::size_t>(rank / design_series * static_cast<double>(count_));
    return static_cast<SeriesIndex>(std::min(scaled, count_ - 1));
}

Universe::Universe(const TrafficConfig& config, std::span<const LineConfig> lines)
    : random_(config.seed) {
    make_roots(std::max<std::size_t>(config.roots_count, 1));
    make_expirations(config.start_ns);
    list_regular(std::max<std::size_t>(config.series_count, 1));
    list_others();
    assign_lines(lines);
}

void Universe::make_roots(std::size_t count) {
    std::unordered_set<std::string> taken;
    for (const NamedRoot& named : named_roots) {
        if (roots_.size() < count) {
            taken.emplace(named.symbol);
            roots_.push_back(make_root(named.symbol, named.price_cents, named.index));
        }
    }
    while (roots_.size() < count) {
        std::string symbol = random_symbol(random_);
        const auto price = static_cast<std::int32_t>(300 * std::exp(5.5 * random_.unit()));
        if (!is_reserved_symbol(symbol) && taken.insert(symbol).second) {
            roots_.push_back(make_root(symbol, price, false));
        }
    }
    for (std::uint32_t i = 0; i < roots_.size(); ++i) {
        if (roots_[i].index) {
            index_roots_.push_back(i);
        }
    }
    for (const std::string_view symbol : reserved_symbols) {
        test_roots_.push_back(static_cast<std::uint32_t>(roots_.size()));
        roots_.push_back(make_root(symbol, 5'000, false));
        roots_.back().adjusted = false;
        roots_.back().test = true;
    }
    for (const std::string_view symbol : gth_symbols) {
        const auto* const named = std::ranges::find(named_roots, symbol, &NamedRoot::symbol);
        gth_roots_.push_back(static_cast<std::uint32_t>(roots_.size()));
        roots_.push_back(make_root(symbol, named->price_cents, true));
    }
}

/// Lists all weekdays of the next two weeks, all Fridays of two months, the third Fridays of a
/// year, and those of three Januaries.
void Universe::make_expirations(std::int64_t start_ns) {
    using namespace std::chrono;
    const sys_days today = floor<days>(sys_time<nanoseconds>{nanoseconds{start_ns}});
    for (days ahead{0}; ahead <= days{1100}; ++ahead) {
        const sys_days at = today + ahead;
        const year_month_day date{at};
        const weekday on{at};
        const auto of_month = static_cast<unsigned>(date.day());
        const bool third_friday = on == Friday && of_month >= 15 && of_month <= 21;
        const bool listed = (ahead <= days{14} && on != Saturday && on != Sunday) ||
                            (ahead <= days{60} && on == Friday) ||
                            (ahead <= days{366} && third_friday) ||
                            (third_friday && date.month() == January);
        if (listed) {
            const int year = static_cast<int>(date.year()) - 2000;
            PINSTRIKE_CHECK(year >= 0 && year <= 99);
            expirations_.push_back(
                {static_cast<unsigned>(date.month()), static_cast<std::uint8_t>(of_month),
                 static_cast<std::uint8_t>(year), static_cast<std::uint16_t>(ahead.count())});
        }
    }
}

/// Lists strikes from the price outwards on both sides, for the nearest expirations of the root.
void Universe::list_series(std::uint32_t root_index, std::size_t count,
                           std::size_t expirations_count) {
    const Root& root = roots_[root_index];
    const std::size_t expirations =
        std::clamp<std::size_t>(std::min(expirations_count, count / 8), 1, expirations_.size());
    const std::int32_t centre = root.price_cents * 10 / root.step_e3 * root.step_e3;
    const std::int32_t off_grid =
        root.adjusted ? 250 + 10 * static_cast<std::int32_t>(random_.below(25)) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        // Less active roots list monthly before weekly expirations, so the nearest dates are
        // skipped.
        const std::size_t stride = expirations_.size() / expirations;
        const Expiration& expiration = expirations_[(i / 2) % expirations * stride];
        const auto ring = static_cast<std::int32_t>(i / 2 / expirations);
        // Outwards on both sides. When the lower side would reach zero, only the upper side goes
        // on.
        const std::int32_t below = (centre + off_grid - 1) / root.step_e3;
        const std::int32_t both = (ring + 1) / 2 * ((ring & 1) != 0 ? 1 : -1);
        const std::int32_t away = ring <= 2 * below ? both : ring - below;
        Series series;
        series.root = root_index;
        series.strike_e3 = centre + away * root.step_e3 + off_grid;
        series.days_left = expiration.days_left;
        series.letter =
            static_cast<char>(((i & 1) == 0 ? 'A' : 'M') + static_cast<int>(expiration.month) - 1);
        series.day = expiration.day;
        series.year = expiration.year;
        series_.push_back(series);
    }
}

void Universe::list_regular(std::size_t count) {
    const std::size_t roots = roots_.size() - test_roots_.size() - gth_roots_.size();
    std::vector<double> weights(roots);
    double total = 0;
    for (std::size_t i = 0; i < roots; ++i) {
        weights[i] = 1 / std::sqrt(static_cast<double>(i) + 2);
        total += weights[i];
    }
    std::vector<std::pair<double, Series>> ranked;
    ranked.reserve(count);
    for (std::size_t i = 0; i < roots && ranked.size() < count; ++i) {
        auto own = std::max<std::size_t>(
            2, static_cast<std::size_t>(weights[i] / total * static_cast<double>(count)));
        own = i + 1 == roots ? count - ranked.size() : std::min(own, count - ranked.size());
        series_.clear();
        list_series(static_cast<std::uint32_t>(i), own, i < 50 ? 30 : i < 500 ? 14 : 7);
        for (std::size_t k = 0; k < series_.size(); ++k) {
            const double near = 1 / (1 + static_cast<double>(k) / 60);
            const double popular = 1 / (static_cast<double>(i) + 3);
            ranked.emplace_back(popular * near * (0.3 + random_.unit()), series_[k]);
        }
    }
    // No two weights are equal, so the order needs no stable sort.
    std::ranges::sort(ranked, std::greater{}, [](const auto& pair) { return pair.first; });
    series_.clear();
    std::ranges::transform(ranked, std::back_inserter(series_),
                           [](const auto& pair) { return pair.second; });
    for (Series& series : series_) {
        const std::uint64_t most = random_.chance(0.12) ? 1 : 17;
        series.venues = static_cast<std::uint8_t>(1 + random_.below(most));
    }
}

void Universe::list_others() {
    tests_begin_ = series_.size();
    for (const std::uint32_t root : test_roots_) {
        list_series(root, test_series_per_root, 1);
    }
    gth_begin_ = series_.size();
    for (const std::uint32_t root : gth_roots_) {
        list_series(root, gth_series_per_root, 12);
    }
    for (std::size_t i = tests_begin_; i < series_.size(); ++i) {
        series_[i].venues = static_cast<std::uint8_t>(1 + random_.below(3));
    }
}

/// One of the up to 16 lines of the root, selected by a hash, so that they are not adjacent.
LineIndex Universe::line_of(std::size_t index, std::span<const LineIndex> lines) const {
    const std::uint64_t within = scramble(index) % lines_per_root;
    const std::uint64_t spread = scramble(series_[index].root * lines_per_root + within);
    return lines[spread % lines.size()];
}

/// The line by the alphabetical ranges published for GTH: 201 A to SPX calls, 202 SPX puts to T,
/// 203 U to VIX calls, 204 VIX puts to Z. If that line is not configured, another GTH line.
LineIndex Universe::gth_line(const Series& series, std::span<const LineConfig> lines) const {
    const std::string_view symbol = root_of(series).text();
    const bool first = symbol < "SPX" || (symbol == "SPX" && series.call());
    const bool second = !first && symbol < "U";
    const bool third = !first && !second && (symbol < "VIX" || (symbol == "VIX" && series.call()));
    const std::uint16_t wanted = first ? 201 : second ? 202 : third ? 203 : 204;
    LineIndex found = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (use_of_line(lines[i].number) == LineUse::gth) {
            found = static_cast<LineIndex>(i);
            if (lines[i].number == wanted) {
                break;
            }
        }
    }
    return found;
}

void Universe::assign_lines(std::span<const LineConfig> lines) {
    std::vector<LineIndex> regular;
    bool gth = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const LineUse use = use_of_line(lines[i].number);
        gth = gth || use == LineUse::gth;
        if (use == LineUse::regular) {
            regular.push_back(static_cast<LineIndex>(i));
        }
    }
    if (!gth) {
        series_.resize(gth_begin_);
    }
    for (std::size_t i = 0; i < gth_begin_ && !regular.empty(); ++i) {
        series_[i].line = line_of(i, regular);
    }
    for (std::size_t i = gth_begin_; i < series_.size(); ++i) {
        series_[i].line = gth_line(series_[i], lines);
    }
}

}  // namespace pinstrike::feed::opra::traffic
