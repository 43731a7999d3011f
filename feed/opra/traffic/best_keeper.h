// path: cold
//
// The best bid and offer of one series as OPRA publishes it (OPRA BBO Overview, BBO Indicator). It
// is recomputed on each eligible quote by price (at least one cent better), then size (at an equal
// price, at least ten contracts larger), then time. It is not the textbook best, because a holder
// keeps its place against smaller improvements.
#pragma once

#include <cstdint>
#include <vector>

namespace pinstrike::feed::opra::traffic {

/// Prices in units of 1e-4, the finest step that is quoted here.
using PriceE4 = std::int32_t;
inline constexpr PriceE4 cent_e4 = 100;

struct QuoteSide {
    PriceE4 price_e4 = 0;
    std::uint32_t size = 0;
    friend bool operator==(const QuoteSide&, const QuoteSide&) = default;
};

/// The last quote of one participant in the series.
struct VenueQuote {
    char participant = ' ';
    char type = ' ';
    bool bid_eligible = false;
    bool offer_eligible = false;
    QuoteSide bid;
    QuoteSide offer;
};

/// The effect of a quote on the best bid or the best offer.
enum class BestOutcome : std::uint8_t { unchanged, this_quote, appended, none };

/// The best bid or the best offer; participant 0: there is none.
struct BestSide {
    char participant = 0;
    QuoteSide side;
    friend bool operator==(const BestSide&, const BestSide&) = default;
};

/// The effect of a quote on each side and, if it is `appended`, the new best.
struct BestChange {
    BestOutcome bid = BestOutcome::unchanged;
    BestOutcome offer = BestOutcome::unchanged;
    BestSide best_bid;
    BestSide best_offer;

    /// The letter of the 4x4 grid of OPRA BBO Indicator.
    [[nodiscard]] char indicator() const;
};

/// True if a quote of this type may be the best on the side (OPRA Long Quote).
bool bid_type_eligible(char type);
bool offer_type_eligible(char type);

class BestKeeper {
  public:
    /// Applies a participant's new quote, which replaces its earlier one. Returns the effect.
    BestChange quote(char participant, char type, QuoteSide bid, QuoteSide offer);

    [[nodiscard]] const BestSide& best_bid() const { return best_bid_; }

    [[nodiscard]] const BestSide& best_offer() const { return best_offer_; }

    /// The last quote of every participant, the earliest first.
    [[nodiscard]] const std::vector<VenueQuote>& venues() const { return venues_; }

    /// Removes all quotes, as a cold restart does.
    void clear();

  private:
    template <bool is_bid>
    BestOutcome update_best(BestSide& best, const VenueQuote& latest) const;

    std::vector<VenueQuote> venues_;
    BestSide best_bid_;
    BestSide best_offer_;
};

}  // namespace pinstrike::feed::opra::traffic
