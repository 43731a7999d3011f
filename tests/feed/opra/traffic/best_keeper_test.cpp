// path: cold
//
// Tests the published rule of the best bid and offer (OPRA BBO Overview), case by case.
#include "feed/opra/traffic/best_keeper.h"

#include "feed/opra/layout.h"

#include <gtest/gtest.h>

#include <string>

namespace pinstrike::feed::opra::traffic {
namespace {

QuoteSide cents(std::int32_t price, std::uint32_t size) {
    return {price * cent_e4, size};
}

BestSide best(char participant, QuoteSide side) {
    return {participant, side};
}

/// Quotes with an offer too high to be the best, so that only the bids matter.
char bid(BestKeeper& keeper, char participant, QuoteSide side) {
    return keeper.quote(participant, ' ', side, cents(10'000, 1)).indicator();
}

char offer(BestKeeper& keeper, char participant, QuoteSide side) {
    return keeper.quote(participant, ' ', cents(1, 1), side).indicator();
}

TEST(BestKeeper, TheOnlyVenueIsBestOnBothSides) {
    BestKeeper keeper;
    EXPECT_EQ(keeper.quote('A', ' ', cents(61, 10), cents(63, 10)).indicator(), 'F');
    EXPECT_EQ(keeper.quote('A', ' ', cents(50, 10), cents(70, 10)).indicator(), 'F');
    EXPECT_EQ(keeper.best_bid(), best('A', cents(50, 10)));
}

TEST(BestKeeper, ARivalNeedsACentToImproveThePrice) {
    BestKeeper keeper;
    bid(keeper, 'A', cents(100, 10));
    EXPECT_EQ(bid(keeper, 'B', {100 * cent_e4 + 99, 500}), 'A');
    EXPECT_EQ(keeper.best_bid().participant, 'A');
    EXPECT_EQ(bid(keeper, 'C', cents(101, 1)), 'E');
    EXPECT_EQ(keeper.best_bid(), best('C', cents(101, 1)));
    offer(keeper, 'C', cents(9'000, 10));
    EXPECT_EQ(offer(keeper, 'D', {9'000 * cent_e4 - 99, 500}) - 'A', 0);
    EXPECT_EQ((offer(keeper, 'D', cents(8'999, 1)) - 'A') % 4, 1);
}

TEST(BestKeeper, AtAnEqualPriceTenContractsMoreReplaceTheHolder) {
    BestKeeper keeper;
    bid(keeper, 'A', cents(100, 50));
    EXPECT_EQ(bid(keeper, 'B', cents(100, 59)), 'A');
    EXPECT_EQ(bid(keeper, 'B', cents(100, 60)), 'E');
    EXPECT_EQ(keeper.best_bid(), best('B', cents(100, 60)));
}

TEST(BestKeeper, AHolderThatRepeatsItsQuoteGoesBehindAnEqualRival) {
    BestKeeper keeper;
    bid(keeper, 'A', cents(100, 50));
    bid(keeper, 'B', cents(100, 50));
    const BestChange change = keeper.quote('A', ' ', cents(100, 50), cents(10'000, 1));
    EXPECT_EQ(change.bid, BestOutcome::appended);
    EXPECT_EQ(change.best_bid, best('B', cents(100, 50)));
    BestKeeper alone;
    bid(alone, 'A', cents(100, 50));
    bid(alone, 'B', cents(99, 50));
    EXPECT_EQ((bid(alone, 'A', cents(100, 50)) - 'A') / 4, 1);
}

TEST(BestKeeper, TheRealLongQuote) {
    // MIAX Emerald quotes the AMZN 165.25 call, 0.61 x 239 at 0.63 x 495, with indicator M and the
    // appendage Pearl 0.61 x 243. Pearl is larger by only 4. It is shown because Emerald was the
    // best and has quoted anew.
    BestKeeper keeper;
    keeper.quote('D', ' ', cents(61, 250), cents(64, 400));
    keeper.quote('P', ' ', cents(61, 243), cents(64, 100));
    keeper.quote('Z', ' ', cents(60, 900), cents(62, 20));
    EXPECT_EQ(keeper.best_bid(), best('D', cents(61, 250)));
    const BestChange change = keeper.quote('D', ' ', cents(61, 239), cents(63, 495));
    EXPECT_EQ(change.indicator(), 'M');
    EXPECT_EQ(change.best_bid, best('P', cents(61, 243)));
    EXPECT_EQ(keeper.best_offer(), best('Z', cents(62, 20)));
}

TEST(BestKeeper, AHolderThatBacksOffMakesWay) {
    BestKeeper keeper;
    keeper.quote('A', ' ', cents(100, 10), cents(110, 10));
    keeper.quote('B', ' ', cents(98, 5), cents(112, 5));
    keeper.quote('C', ' ', cents(98, 14), cents(112, 15));
    const BestChange change = keeper.quote('A', ' ', cents(90, 10), cents(120, 10));
    EXPECT_EQ(change.indicator(), 'O');
    // B quoted earlier, and C is larger by 9 only.
    EXPECT_EQ(change.best_bid, best('B', cents(98, 5)));
    EXPECT_EQ(change.best_offer, best('C', cents(112, 15)));
}

TEST(BestKeeper, ZeroRules) {
    BestKeeper keeper;
    EXPECT_EQ(keeper.quote('A', ' ', cents(0, 0), cents(5, 10)).indicator(), 'F');
    EXPECT_EQ(keeper.best_bid(), best('A', cents(0, 0)));  // a bid of 0 is a best bid
    EXPECT_EQ(keeper.quote('B', ' ', cents(0, 7), cents(6, 10)).indicator(), 'A');
    EXPECT_EQ(keeper.quote('A', ' ', cents(0, 7), cents(5, 10)).indicator(), 'J');
    EXPECT_EQ(keeper.quote('A', ' ', cents(3, 7), cents(0, 0)).indicator(), 'G');
    EXPECT_EQ(keeper.best_offer(), best('B', cents(6, 10)));
    EXPECT_EQ(keeper.quote('B', ' ', {}, {}).indicator(), 'D');
    EXPECT_EQ(keeper.quote('A', ' ', {}, {}).indicator(), 'I');
    EXPECT_EQ(keeper.quote('A', ' ', {}, {}).indicator(), 'A');
}

TEST(BestKeeper, TypesThatAreNotFirmAreNotBest) {
    for (const char type : std::string{" ABOCFIRTXY"}) {
        BestKeeper keeper;
        const BestChange change = keeper.quote('A', type, cents(61, 10), cents(63, 10));
        const bool neither = std::string{"FIRT"}.find(type) != std::string::npos;
        EXPECT_EQ(change.bid == BestOutcome::this_quote, !neither && type != 'Y') << type;
        EXPECT_EQ(change.offer == BestOutcome::this_quote, !neither && type != 'X') << type;
    }
    BestKeeper keeper;
    keeper.quote('A', ' ', cents(61, 10), cents(63, 10));
    keeper.quote('B', ' ', cents(60, 10), cents(64, 10));
    EXPECT_EQ(keeper.quote('A', 'F', cents(61, 10), cents(63, 10)).indicator(), 'O');
}

TEST(BestKeeper, LockedAndCrossedStandAsTheyAre) {
    BestKeeper keeper;
    keeper.quote('A', ' ', cents(61, 10), cents(63, 10));
    EXPECT_EQ(keeper.quote('B', ' ', cents(65, 10), cents(66, 10)).indicator(), 'E');
    EXPECT_EQ(keeper.best_offer(), best('A', cents(63, 10)));
}

TEST(BestKeeper, TheLettersMeanWhatTheCodecReads) {
    constexpr BestOutcome outcomes[] = {BestOutcome::unchanged, BestOutcome::this_quote,
                                        BestOutcome::appended, BestOutcome::none};
    const auto expected = [](BestOutcome outcome) {
        return outcome == BestOutcome::unchanged    ? BestEffect::no_change
               : outcome == BestOutcome::this_quote ? BestEffect::this_quote
               : outcome == BestOutcome::appended   ? BestEffect::appendage
                                                    : BestEffect::none;
    };
    for (const BestOutcome of_bid : outcomes) {
        for (const BestOutcome of_offer : outcomes) {
            BestChange change;
            change.bid = of_bid;
            change.offer = of_offer;
            const IndicatorEffect effect = effect_of(change.indicator());
            EXPECT_EQ(effect.bid, expected(of_bid));
            EXPECT_EQ(effect.offer, expected(of_offer));
        }
    }
}

}  // namespace
}  // namespace pinstrike::feed::opra::traffic
