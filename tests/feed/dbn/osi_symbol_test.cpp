// path: cold
//
// Symbols of series, written and parsed.
#include "feed/dbn/osi_symbol.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pinstrike::feed::dbn {
namespace {

TEST(OsiSymbols, are_written_and_parsed) {
    const std::vector<std::pair<SeriesName, std::string>> symbols{
        {{"AAPL", 20250221, 'C', 250'00'000'000}, "AAPL  250221C00250000"},
        {{"AAPL", 20250221, 'P', 165'25'000'000}, "AAPL  250221P00165250"},
        {{"A", 20991231, 'C', 1'00'000'000}, "A     991231C00001000"},
        {{"SPXW", 20261218, 'P', 100'000}, "SPXW  261218P00000001"},
        {{"ABCDEF", 20261218, 'C', 99'999'99'900'000}, "ABCDEF261218C99999999"},
        {{"2SPY", 20261218, 'C', 0}, "2SPY  261218C00000000"},
        // No OSI symbol has these strikes.
        {{"XYZ", 20250221, 'C', 50'000}, "XYZ   250221C0.0005"},
        {{"XYZ", 20250221, 'P', 1}, "XYZ   250221P0.00000001"},
        {{"XYZ", 20250221, 'C', 12'34'567'800}, "XYZ   250221C12.345678"},
        {{"XYZ", 20250221, 'C', 100'000'00'000'000}, "XYZ   250221C100000.0"},
        {{"XYZ", 20250221, 'C', 100'000'50'000'000}, "XYZ   250221C100000.5"},
    };
    for (const auto& [name, symbol] : symbols) {
        EXPECT_EQ(osi_symbol(name), symbol);
        const auto parsed = parse_osi_symbol(symbol);
        ASSERT_TRUE(parsed) << symbol;
        EXPECT_EQ(*parsed, name) << symbol;
    }
}

TEST(OsiSymbols, that_are_malformed_are_refused) {
    for (const std::string symbol : {
             "",
             "AAPL",
             "AAPL.OPT",
             "AAPL  250221C",           // no strike
             "AAPL  250221C0025000",    // 7 digits
             "AAPL  250221C002500000",  // 9 digits
             "AAPL  250221X00250000",   // no right
             "AAPL  250221c00250000",
             "      250221C00250000",  // no root
             "AAPL  25022 C00250000",
             "AAPL  2502-1C00250000",
             "AAPL  -50221C00250000",
             "AAPL  250221C-0250000",
             "AAPL  250221C+0250000",
             "AAPL  250221C0025000O",
             "AAPL  250221C 0250000",
             "AAPL  250221C250.0",    // has an OSI symbol
             "XYZ   250221C0.00050",  // a digit too many
             "XYZ   250221C00.0005",
             "XYZ   250221C0.000000001",  // too small
             "XYZ   250221C.0005",
             "XYZ   250221C100000.",
             "XYZ   250221C0.0005x",
             "XYZ   250221C-0.0005",
             "XYZ   250221C0.-005",
             "XYZ   250221C0..005",
             "XYZ   250221C99999999999999999999.5",
         }) {
        EXPECT_FALSE(parse_osi_symbol(symbol)) << symbol;
    }
}

TEST(OsiSymbols, of_every_strike_are_parsed_to_the_same_strike) {
    std::uint64_t random = 88172645463325252U;
    for (int i = 0; i < 20'000; ++i) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Strikes of all magnitudes up to 2^62.
        const auto strike = static_cast<std::int64_t>((random >> 2) >> (random % 62));
        const SeriesName name{"SPY", 20261218, 'P', strike};
        const auto parsed = parse_osi_symbol(osi_symbol(name));
        ASSERT_TRUE(parsed) << osi_symbol(name);
        ASSERT_EQ(parsed->strike_e8, strike);
    }
}

}  // namespace
}  // namespace pinstrike::feed::dbn
