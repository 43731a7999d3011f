// path: cold
//
// All messages except quotes: trade reports and cancels, open interest, summaries, maps, indices,
// texts.
#include "feed/opra/traffic/market.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pinstrike::feed::opra::traffic {

namespace {

constexpr double cancel_share = 0.06;
constexpr std::size_t live_reports_max = 16;  // reports that a cancel may refer to

/// The types of new reports, each as often as its share: mostly electronic, auctions and multi-leg.
/// Every type occurs.
constexpr std::string_view first_types = "IIIIIIIISSaafHHF";
constexpr std::string_view later_types =
    "IIIIIIIIIIIIIIIIIIIIIIIISSSSaaaaffffjjgbcdehiklmnopqrstuvBDJF";

constexpr std::string_view words[] = {
    "TEXT CFLEX QQQ LST 3.21C PM EUR 03/28/2024 1 @ 385.55 2QQQ ADJ 1.0000 390.20 389.81",
    "TEXT CFLEX SPX LST 12.50P AM EUR 06/18/2026 25 @ 6400.00 4SPX",
    "TRADING IN OPTIONS CLASS HALTED PENDING NEWS",
    "TRADING HAS RESUMED",
    "OPRA TECHNICAL SUPPORT: A/B FEEDS OPERATING NORMALLY",
    "CORPORATE ACTION: SEE INFORMATION CIRCULAR",
};

std::int32_t clamp_price(std::int64_t cents) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(cents, 1, 999'999));
}

}  // namespace

void Market::book_trade(Trading& trading, const Trading::Report& report) {
    if (trading.volume == 0) {
        trading.open_cents = trading.high_cents = trading.low_cents = report.price_cents;
    }
    trading.high_cents = std::max(trading.high_cents, report.price_cents);
    trading.low_cents = std::min(trading.low_cents, report.price_cents);
    trading.volume += report.volume;
    trading.live.push_back(report);
    if (trading.live.size() > live_reports_max) {
        trading.live.erase(trading.live.begin() + 1);  // the opening report is kept
    }
}

wire::Message Market::report(SeriesIndex index, char type, const Trading::Report& report) {
    wire::LastSale sale;
    sale.series = wire_series(universe_.series()[index], true);
    sale.volume = report.volume;
    sale.price = report.price_cents;
    if (report.price_cents % 10 == 0 && random_.chance(0.1)) {
        sale.price_code = 'A';
        sale.price /= 10;
    }
    return {header(report.participant, type), sale};
}

/// Cancels the last report (C), the only one (G), the opening one (E) or one in between (A).
std::optional<wire::Message> Market::cancel(SeriesIndex index, Trading& trading) {
    if (trading.live.empty()) {
        return std::nullopt;
    }
    const std::size_t count = trading.live.size();
    const std::size_t at = random_.below(count);
    const char type = count == 1 ? 'G' : at + 1 == count ? 'C' : at == 0 ? 'E' : 'A';
    const Trading::Report taken = trading.live[at];
    trading.live.erase(trading.live.begin() + static_cast<std::ptrdiff_t>(at));
    return report(index, type, taken);
}

wire::Message Market::trade(SeriesIndex index) {
    State& state = state_of(index);
    if (random_.chance(cancel_share)) {
        if (std::optional<wire::Message> message = cancel(index, state.trading)) {
            return *message;
        }
    }
    Trading::Report fresh;
    const std::vector<VenueQuote>& venues = state.best.venues();
    fresh.participant = venues.empty() ? participant_of(index, 0)
                                       : venues[random_.below(venues.size())].participant;
    const std::int64_t fair = fair_cents(universe_.series()[index]);
    fresh.price_cents = clamp_price(fair + random_.between(-fair / 50 - 1, fair / 50 + 1));
    fresh.volume = random_.geometric(random_.chance(0.1) ? 200 : 6);
    const std::string_view types = state.trading.live.empty() ? first_types : later_types;
    const char type = types[random_.below(types.size())];
    book_trade(state.trading, fresh);
    return report(index, type, fresh);
}

wire::Message Market::open_interest(SeriesIndex index) {
    wire::OpenInterest body;
    body.series = wire_series(universe_.series()[index], true);
    body.open_interest = random_.geometric(1'500) - 1;
    return {header(participant_of(index, 0), ' '), body};
}

wire::Message Market::end_of_day(SeriesIndex index, char participant) {
    const Series& series = universe_.series()[index];
    const Trading& trading = state_of(index).trading;
    wire::EndOfDay body;
    body.series = wire_series(series, false);
    body.volume = trading.volume;
    body.open_interest = random_.geometric(1'500) - 1;
    body.open = trading.open_cents;
    body.high = trading.high_cents;
    body.low = trading.low_cents;
    body.last = trading.live.empty() ? trading.open_cents : trading.live.back().price_cents;
    const std::int32_t fair = fair_cents(series);
    body.net_change = static_cast<std::int32_t>(random_.between(-fair / 4 - 5, fair / 4 + 5));
    const std::int64_t spot = root_cents_[series.root];
    body.underlying_code = random_.chance(0.5) ? 'B' : 'D';
    body.underlying = body.underlying_code == 'B' ? spot : spot * 100;
    body.bid = std::max(0, fair - fair / 60 - 1);
    body.offer = fair + fair / 60 + 1;
    return {header(participant, ' '), body};
}

wire::Message Market::series_map(SeriesIndex index, std::uint16_t mapped_line) {
    wire::SeriesMap body;
    body.series = wire_series(universe_.series()[index], false);
    body.mapped_line = mapped_line;
    return {header('O', 'A'), body};
}

wire::Message Market::underlying() {
    static constexpr std::uint32_t fallback[] = {0};
    const std::vector<std::uint32_t>& indices = universe_.index_roots();
    const std::uint32_t root =
        random_.one_of(indices.empty() ? std::span{fallback} : std::span{indices});
    std::int32_t& spot = root_cents_[root];
    spot = std::max(100, spot + static_cast<std::int32_t>(random_.between(-3, 3)));
    wire::Underlying body;
    body.symbol = universe_.roots()[root].symbol;
    const bool both_sides = random_.chance(0.3);
    body.first = both_sides ? spot - 5 : spot;
    body.second = both_sides ? spot + 5 : 0;
    return {header('C', both_sides ? 'I' : ' '), body};
}

wire::Message Market::text() {
    wire::Text body;
    const double dice = random_.unit();
    if (dice < 0.1) {
        body.text.assign(200, '*');
    } else if (dice > 0.05 && dice < 0.95) {
        body.text = fmt::format("{} {}", words[random_.below(std::size(words))], transaction_id_);
    }
    return {header(random_.chance(0.3) ? 'O' : 'C', ' '), body};
}

}  // namespace pinstrike::feed::opra::traffic
