// path: cold
//
// The memory of books.
#include "actors/book/book_store.h"

#include "actors/poller/sharding.h"
#include "tests/actors/book/events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors::test {
namespace {

TEST(BookCapacity, FullSizeFitsInAGibibyte) {
    for (unsigned cores = 1; cores <= 32; ++cores) {
        const CoreShape shape = book_shape(BookConfig{.series_capacity = 2'200'000}, cores);
        EXPECT_LE(cores * CoreMemory::bytes_for(shape), 1ULL << 30) << cores << " cores";
    }
}

/// Calls and puts of 250 roots, as an exchange lists them: by week and by equal steps of the
/// strike.
TEST(BookCapacity, NoCoreGetsMoreSeriesThanItsShare) {
    std::vector<feed::SeriesKey> keys;
    for (unsigned root = 0; root < 250; ++root) {
        const std::string symbol{static_cast<char>('A' + root / 26),
                                 static_cast<char>('A' + root % 26)};
        for (unsigned expiration = 0; expiration < 20; ++expiration) {
            for (std::int64_t strike = 1; strike <= 50; ++strike) {
                const char month = static_cast<char>('A' + expiration / 4);
                for (const char letter : {month, static_cast<char>(month + 12)}) {
                    keys.push_back(key_of(symbol, letter, 5 + 7 * (expiration % 4), 27,
                                          strike * (root % 2 + 1) * 250'000'000));
                }
            }
        }
    }
    for (unsigned cores = 2; cores <= 32; ++cores) {
        std::vector<std::size_t> counts(cores);
        for (const feed::SeriesKey& key : keys) {
            ++counts[core_of(key, Sharding::series, cores)];
        }
        const BookConfig config{.series_capacity = keys.size()};
        EXPECT_LE(*std::max_element(counts.begin(), counts.end()), series_share(config, cores))
            << cores << " cores";
        EXPECT_LT(series_share(config, cores), keys.size() / cores * 115 / 100)
            << cores << " cores";
        EXPECT_GT(series_share(config, cores, true), series_share(config, cores))
            << cores << " cores";
    }
}

}  // namespace
}  // namespace pinstrike::actors::test
