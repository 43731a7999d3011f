// path: cold
//
// Quotes: which participant quotes, at what price, and in which form.
#include "feed/opra/traffic/decimal.h"
#include "feed/opra/traffic/market.h"

#include <algorithm>

namespace pinstrike::feed::opra::traffic {

namespace {

// The design load: a quarter of the quotes are long, one in eight has an appendage.
constexpr double long_share = 0.25;
constexpr double appended_share = 0.12;

// In units of 1e-4 this has eight digits (OPRA Denominator Code).
constexpr double value_max_cents = 900'000;

constexpr PriceE4 short_price_max_e4 = 65'535 * cent_e4;
constexpr std::uint32_t short_size_max = 65'535;
constexpr std::int32_t short_strike_max_e3 = 6'553'500;

QuoteSide at_cents(std::int32_t cents, std::uint32_t size) {
    return {cents * cent_e4, size};
}

bool whole_cents(PriceE4 price_e4) {
    return price_e4 % cent_e4 == 0;
}

/// Converts a price in units of 1e-4 to a denominator code. Nothing: the price has more decimals
/// than the code.
std::optional<std::int32_t> in_code(PriceE4 price_e4, char code) {
    std::int32_t unit_e4 = 1;
    for (unsigned decimals = places(code); decimals < 4; ++decimals) {
        unit_e4 *= 10;
    }
    return price_e4 % unit_e4 == 0 ? std::optional{price_e4 / unit_e4} : std::nullopt;
}

/// A code that can represent both prices: usually B, sometimes the coarsest or a finer one.
char code_for(PriceE4 first, PriceE4 second, Random& random) {
    static constexpr std::string_view preferred[] = {"BBCD", "BBCD",  "BBCD", "BBCD",
                                                     "BBCD", "IABCD", "ABCD", "CDDD"};
    for (const char code : random.one_of<std::string_view>(preferred)) {
        if (in_code(first, code) && in_code(second, code)) {
            return code;
        }
    }
    return 'D';
}

}  // namespace

Market::Market(const TrafficConfig& config, const Universe& universe)
    : config_(config),
      universe_(universe),
      random_(scramble(config.seed ^ 0x4D41'524B'4554ULL)),
      state_index_(universe.series().size()) {
    for (const Root& root : universe.roots()) {
        root_cents_.push_back(root.price_cents);
    }
}

Market::State& Market::state_of(SeriesIndex index) {
    if (state_index_[index] == 0) {
        states_.emplace_back();
        touched_.push_back(index);
        state_index_[index] = static_cast<std::uint32_t>(states_.size());
    }
    return states_[state_index_[index] - 1];
}

const std::vector<VenueQuote>& Market::venues(SeriesIndex index) const {
    static const std::vector<VenueQuote> none;
    return state_index_[index] == 0 ? none : states_[state_index_[index] - 1].best.venues();
}

void Market::begin_record() {
    shares_ = {};
}

void Market::forget_quotes() {
    for (State& state : states_) {
        state.best.clear();
    }
}

char Market::participant_of(SeriesIndex index, unsigned venue) {
    const auto first = scramble(index) % exchange_ids.size();
    return exchange_ids[(first + venue * 7) % exchange_ids.size()];  // 7 and 20 share no factor
}

/// The intrinsic value plus a time value that is highest at the money.
std::int32_t Market::fair_cents(const Series& series) const {
    const double spot = root_cents_[series.root];
    const double strike = series.strike_e3 / 10.0;
    const double days = series.days_left + 0.5;
    const double at_money = spot * 0.012 * (days > 30 ? 5.5 + days / 80 : 1 + days * 0.15);
    const double distance = (spot - strike) / (at_money * 1.5 + 1);
    const double intrinsic = std::max(0.0, series.call() ? spot - strike : strike - spot);
    const double time_value = at_money / (1 + distance * distance * distance * distance);
    return static_cast<std::int32_t>(std::min(intrinsic + time_value, value_max_cents));
}

std::uint32_t Market::size() {
    if (random_.chance(0.0005 * config_.mix)) {
        return static_cast<std::uint32_t>(random_.between(66'000, 250'000));
    }
    return std::min(random_.geometric(random_.chance(0.2) ? 400 : 40), short_size_max);
}

Market::Draft Market::fresh_quote(SeriesIndex index, char participant) {
    const Series& series = universe_.series()[index];
    if (random_.chance(0.02)) {
        std::int32_t& spot = root_cents_[series.root];
        const std::int32_t step = std::max(1, spot / 4'000);
        spot = std::max(50, spot + static_cast<std::int32_t>(random_.between(-step, step)));
    }
    const std::int32_t fair = fair_cents(series);
    const std::int32_t half = std::max(1, fair / 60);
    const std::int32_t lean = static_cast<std::int32_t>(random_.between(-half, half)) / 2;
    const std::int32_t bid = std::max(0, fair - half + lean);
    const std::int32_t offer = std::max(bid + 1, fair + half + lean);
    return {participant, ' ', at_cents(bid, bid == 0 ? 0 : size()), at_cents(offer, size())};
}

char Market::choose_participant(SeriesIndex index, const State& state) {
    const std::vector<VenueQuote>& venues = state.best.venues();
    const unsigned most = config_.mix > 0 ? universe_.series()[index].venues : 1;
    const double newcomer = venues.size() == 1 ? 0.6 : 0.25;
    if (venues.empty() || (venues.size() < most && random_.chance(newcomer))) {
        return participant_of(index, static_cast<unsigned>(venues.size()));
    }
    return venues[random_.below(venues.size())].participant;
}

/// The holder of the best bid or offer moves its price away by some cents or withdraws, so that
/// another participant becomes the best.
std::optional<Market::Draft> Market::backed_off(const State& state) {
    const std::vector<VenueQuote>& venues = state.best.venues();
    if (venues.size() < 2) {
        return std::nullopt;
    }
    const bool on_bid = random_.chance(0.5);
    const char holder =
        on_bid ? state.best.best_bid().participant : state.best.best_offer().participant;
    const auto own = std::ranges::find(venues, holder, &VenueQuote::participant);
    if (own == venues.end()) {
        return std::nullopt;
    }
    Draft draft{holder, ' ', own->bid, own->offer};
    const auto away = static_cast<PriceE4>(random_.between(1, 4)) * cent_e4;
    if (random_.chance(0.05)) {
        draft.bid = draft.offer = {};  // withdraws both sides
    } else if (!on_bid) {
        draft.offer = {draft.offer.price_e4 + away, size()};
    } else if (draft.bid.price_e4 > away) {
        draft.bid = {draft.bid.price_e4 - away, size()};
    }
    return draft;
}

char Market::quote_type() {
    static constexpr std::string_view types = "                    AAABOCXYFIRT";
    return random_.chance(0.15 * config_.mix) ? types[random_.below(types.size())] : ' ';
}

/// Sometimes makes a quote one of the rare forms: a withdrawal, a one-sided quote, a size without a
/// price, or a price with half a cent.
void Market::spice(Draft& draft) {
    const double dice = random_.unit();
    if (dice < 0.010) {
        draft.bid = draft.offer = {};
    } else if (dice < 0.020) {
        draft.offer = {};
        draft.bid.price_e4 = std::max(draft.bid.price_e4, cent_e4);
    } else if (dice < 0.025) {
        draft.bid = {0, draft.bid.size};  // price 0 is eligible only without a size
    } else if (dice < 0.030) {
        draft.bid = {};
    } else if (dice < 0.032) {
        draft.offer.price_e4 += 50;  // half a cent, which improves no price
    }
    if (draft.offer.price_e4 == 0 && draft.bid.price_e4 == 0) {
        draft.bid = draft.offer = {};  // two prices of 0 with a size would be invalid
    }
}

Market::Draft Market::draft(SeriesIndex index, const State& state) {
    const double wanted = appended_share * config_.mix;
    const bool lagging =
        static_cast<double>(shares_.appended) < wanted * static_cast<double>(shares_.quotes);
    if (lagging) {
        if (const std::optional<Draft> draft = backed_off(state)) {
            return *draft;
        }
    }
    // If a holder of the best quotes again, an equal rival often becomes the best, which gives an
    // appendage. When there were enough appendages, other participants quote.
    char participant = choose_participant(index, state);
    for (int attempt = 0; attempt < 3 && !lagging; ++attempt) {
        if (participant != state.best.best_bid().participant &&
            participant != state.best.best_offer().participant) {
            break;
        }
        participant = choose_participant(index, state);
    }
    Draft draft = fresh_quote(index, participant);
    draft.type = quote_type();
    if (random_.chance(config_.mix)) {
        spice(draft);
    }
    return draft;
}

wire::Message Market::quote(SeriesIndex index) {
    State& state = state_of(index);
    const Draft chosen = draft(index, state);
    const BestChange change =
        state.best.quote(chosen.participant, chosen.type, chosen.bid, chosen.offer);
    return publish(index, chosen, change);
}

wire::Message Market::zero_quote(SeriesIndex index, char participant) {
    State& state = state_of(index);
    const Draft zero{participant, ' ', {}, {}};
    return publish(index, zero, state.best.quote(participant, ' ', {}, {}));
}

bool Market::plain(SeriesIndex index) const {
    const Series& series = universe_.series()[index];
    const QuoteSide highest{static_cast<PriceE4>(fair_cents(series) * 1.05 + 100) * cent_e4, 1};
    return !must_be_long(series, {' ', ' ', {}, highest});
}

bool Market::must_be_long(const Series& series, const Draft& draft) const {
    return universe_.root_of(series).symbol[4] != ' ' || series.strike_e3 % 100 != 0 ||
           series.strike_e3 > short_strike_max_e3 || !whole_cents(draft.bid.price_e4) ||
           !whole_cents(draft.offer.price_e4) || draft.bid.price_e4 > short_price_max_e4 ||
           draft.offer.price_e4 > short_price_max_e4 || draft.bid.size > short_size_max ||
           draft.offer.size > short_size_max;
}

wire::Header Market::header(char participant, char type) {
    wire::Header header;
    header.participant = participant;
    header.type = type;
    header.transaction_id = ++transaction_id_ == 0 ? ++transaction_id_ : transaction_id_;
    header.reference = random_.chance(0.5) ? static_cast<std::uint32_t>(random_.next()) : 0;
    return header;
}

/// The strike under one of the codes that can represent it: usually A, sometimes B, C or I.
wire::Series Market::wire_series(const Series& series, bool vary) {
    wire::Series out;
    out.symbol = universe_.root_of(series).symbol;
    out.expiration = {series.letter, series.day, series.year};
    const std::uint64_t dice = vary ? random_.below(8) : 0;
    if (series.strike_e3 % 1000 == 0 && dice == 7) {
        out.strike_code = 'I';
        out.strike = series.strike_e3 / 1000;
    } else if (series.strike_e3 % 100 == 0 && dice != 6) {
        out.strike_code = 'A';
        out.strike = series.strike_e3 / 100;
    } else if (series.strike_e3 % 10 == 0 && dice != 5) {
        out.strike_code = 'B';
        out.strike = series.strike_e3 / 10;
    } else {
        out.strike_code = 'C';
        out.strike = series.strike_e3;
    }
    return out;
}

wire::Appendage Market::appendage(const BestSide& best) {
    wire::Appendage out;
    out.participant = best.participant;
    out.code = code_for(best.side.price_e4, best.side.price_e4, random_);
    out.price = *in_code(best.side.price_e4, out.code);
    out.size = best.side.size;
    return out;
}

wire::Message Market::publish(SeriesIndex index, const Draft& draft, const BestChange& change) {
    const Series& series = universe_.series()[index];
    wire::Message message{header(draft.participant, draft.type), wire::ShortQuote{}};
    message.header.indicator = change.indicator();
    const bool appends_bid = change.bid == BestOutcome::appended;
    const bool appends_offer = change.offer == BestOutcome::appended;
    const wire::Appendage bid = appends_bid ? appendage(change.best_bid) : wire::Appendage{};
    const wire::Appendage offer = appends_offer ? appendage(change.best_offer) : wire::Appendage{};
    const bool lagging = static_cast<double>(shares_.longs) <
                         long_share * config_.mix * static_cast<double>(shares_.quotes);
    const bool is_long = must_be_long(series, draft) || lagging;
    ++shares_.quotes;
    shares_.longs += is_long ? 1 : 0;
    shares_.appended += appends_bid || appends_offer ? 1 : 0;
    const auto cents = [](PriceE4 e4) { return static_cast<std::uint16_t>(e4 / cent_e4); };
    if (is_long) {
        wire::LongQuote quote;
        quote.series = wire_series(series, true);
        quote.price_code = code_for(draft.bid.price_e4, draft.offer.price_e4, random_);
        quote.bid = *in_code(draft.bid.price_e4, quote.price_code);
        quote.bid_size = draft.bid.size;
        quote.offer = *in_code(draft.offer.price_e4, quote.price_code);
        quote.offer_size = draft.offer.size;
        quote.best_bid = bid;
        quote.best_offer = offer;
        message.body = quote;
        return message;
    }
    wire::ShortQuote quote;
    const auto& symbol = universe_.root_of(series).symbol;
    std::copy_n(symbol.begin(), 4, quote.symbol.begin());
    quote.expiration = {series.letter, series.day, series.year};
    quote.strike = static_cast<std::uint16_t>(series.strike_e3 / 100);
    quote.bid = cents(draft.bid.price_e4);
    quote.bid_size = static_cast<std::uint16_t>(draft.bid.size);
    quote.offer = cents(draft.offer.price_e4);
    quote.offer_size = static_cast<std::uint16_t>(draft.offer.size);
    quote.best_bid = bid;
    quote.best_offer = offer;
    message.body = quote;
    return message;
}

}  // namespace pinstrike::feed::opra::traffic
