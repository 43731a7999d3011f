// path: cold
#include "feed/opra/traffic/best_keeper.h"

#include <string_view>

namespace pinstrike::feed::opra::traffic {

namespace {

constexpr std::uint32_t size_step_contracts = 10;

bool among(char type, std::string_view types) {
    return types.find(type) != std::string_view::npos;
}

/// True if the challenger, which was quoted later, takes the holder's place.
template <bool is_bid>
bool replaces(const QuoteSide& challenger, const QuoteSide& holder) {
    const std::int64_t better = is_bid ? std::int64_t{challenger.price_e4} - holder.price_e4
                                       : std::int64_t{holder.price_e4} - challenger.price_e4;
    if (better != 0) {
        return better >= cent_e4;
    }
    return challenger.size >= std::uint64_t{holder.size} + size_step_contracts;
}

template <bool is_bid>
bool eligible(const VenueQuote& quote) {
    return is_bid ? quote.bid_eligible : quote.offer_eligible;
}

template <bool is_bid>
const QuoteSide& side_of(const VenueQuote& quote) {
    return is_bid ? quote.bid : quote.offer;
}

/// The zero rules of OPRA BBO Overview.
bool bid_counts(QuoteSide bid, QuoteSide offer) {
    if (bid.price_e4 != 0) {
        return true;
    }
    return bid.size == 0 && offer.price_e4 != 0;
}

}  // namespace

bool bid_type_eligible(char type) {
    return among(type, " ABOCX");
}

bool offer_type_eligible(char type) {
    return among(type, " ABOCY");
}

char BestChange::indicator() const {
    const unsigned bid_row = bid == BestOutcome::unchanged    ? 0
                             : bid == BestOutcome::this_quote ? 1
                             : bid == BestOutcome::none       ? 2
                                                              : 3;
    const unsigned offer_column = offer == BestOutcome::unchanged    ? 0
                                  : offer == BestOutcome::this_quote ? 1
                                  : offer == BestOutcome::appended   ? 2
                                                                     : 3;
    return static_cast<char>('A' + bid_row * 4 + offer_column);
}

/// A quote of another participant only has to beat the holder's quote. If the holder itself quotes,
/// its quote gets the later time, and all quotes are ranked again: the earliest is the best until a
/// later one replaces it.
template <bool is_bid>
BestOutcome BestKeeper::update_best(BestSide& best, const VenueQuote& latest) const {
    const bool was_holder = best.participant == latest.participant;
    if (!was_holder) {
        if (!eligible<is_bid>(latest) ||
            (best.participant != 0 && !replaces<is_bid>(side_of<is_bid>(latest), best.side))) {
            return BestOutcome::unchanged;
        }
        best = {latest.participant, side_of<is_bid>(latest)};
        return BestOutcome::this_quote;
    }
    best = {};
    for (const VenueQuote& venue : venues_) {
        if (eligible<is_bid>(venue) &&
            (best.participant == 0 || replaces<is_bid>(side_of<is_bid>(venue), best.side))) {
            best = {venue.participant, side_of<is_bid>(venue)};
        }
    }
    return best.participant == 0                    ? BestOutcome::none
           : best.participant == latest.participant ? BestOutcome::this_quote
                                                    : BestOutcome::appended;
}

BestChange BestKeeper::quote(char participant, char type, QuoteSide bid, QuoteSide offer) {
    std::erase_if(venues_,
                  [=](const VenueQuote& venue) { return venue.participant == participant; });
    venues_.push_back({participant, type, bid_type_eligible(type) && bid_counts(bid, offer),
                       offer_type_eligible(type) && offer.price_e4 != 0, bid, offer});
    BestChange change;
    change.bid = update_best<true>(best_bid_, venues_.back());
    change.offer = update_best<false>(best_offer_, venues_.back());
    change.best_bid = best_bid_;
    change.best_offer = best_offer_;
    return change;
}

void BestKeeper::clear() {
    *this = {};
}

}  // namespace pinstrike::feed::opra::traffic
