// path: cold
#include "feed/event/series_key.h"
#include "feed/opra/lines.h"
#include "feed/venue_codecs.h"
#include "feed/venue_services.h"
#include "tests/feed/opra/samples.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::feed {
namespace {

TEST(Venues, AreFoundByName) {
    Venue found = Venue::none;
    const auto note = [&found]<class Codec>() { found = Codec::venue; };
    EXPECT_FALSE(with_venue("none", note));
    EXPECT_EQ(found, Venue::none);
    EXPECT_TRUE(with_venue("opra", note));
    EXPECT_EQ(found, Venue::opra);
    EXPECT_EQ(static_cast<int>(Venue::opra), 1);
}

TEST(Venues, KnowTheirLinesOfASeparateSession) {
    for (const std::uint16_t line : opra::published_lines()) {
        EXPECT_EQ(opra::Codec::is_gth(line), line >= 201 && line <= 204) << line;
    }
}

Concern concern_of(const std::vector<std::byte>& block, const std::vector<std::string>& roots) {
    std::vector<std::uint64_t> symbols;
    for (const std::string& root : roots) {
        symbols.push_back(symbol_word_of(root));
    }
    return venue_services("opra").concern_of(block, symbols);
}

/// Each message of the samples alone, and all but controls together.
TEST(Concern, IsWithOneOfTheSymbolsOrTheWholeLine) {
    namespace samples = opra::samples;
    std::vector<opra::wire::Message> of_series;
    for (const opra::wire::Message& message : samples::one_of_each()) {
        const std::vector<std::byte> block = samples::block({message});
        const char category = message.category();
        if (category == 'H') {
            EXPECT_EQ(concern_of(block, {"NONE"}), Concern::wanted);
            continue;
        }
        EXPECT_EQ(concern_of(block, {"NONE"}), Concern::other) << category;
        EXPECT_EQ(concern_of(block, {}), Concern::other) << category;
        EXPECT_EQ(concern_of(block, {"NONE", "SPXW", "SPX", "AAPL"}),
                  category == 'C' ? Concern::other : Concern::wanted)
            << category;
        of_series.push_back(message);
    }
    const auto quotes = samples::block(samples::short_quotes(5));
    EXPECT_EQ(concern_of(quotes, {"AAP"}), Concern::other);
    EXPECT_EQ(concern_of(quotes, {"AAPL"}), Concern::wanted);
    ASSERT_GT(of_series.size(), 5U);
    of_series.erase(of_series.begin() + 5, of_series.end());
    EXPECT_NE(concern_of(samples::block(of_series), {"SPXW", "AAPL"}), Concern::other);
}

TEST(Concern, IsNoneOfDamagedDatagrams) {
    namespace samples = opra::samples;
    std::vector<std::byte> block = samples::block(samples::short_quotes(5));
    EXPECT_EQ(concern_of({}, {"AAPL"}), Concern::damaged);
    for (std::size_t i = 0; i < block.size(); ++i) {
        block[i] ^= std::byte{1};
        EXPECT_EQ(concern_of(block, {"AAPL"}), Concern::damaged) << i;
        block[i] ^= std::byte{1};
    }
}

}  // namespace
}  // namespace pinstrike::feed
