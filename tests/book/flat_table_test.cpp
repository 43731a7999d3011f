// path: cold
//
// The table against a map: entries come and go at random, few homes for many keys.
#include "actors/book/flat_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>

namespace pinstrike::actors {
namespace {

/// Its hash is what a test wants it to be.
struct Key {
    std::uint64_t number;

    friend bool operator==(const Key&, const Key&) = default;
};

[[maybe_unused]] bool is_empty(const Key& key) {
    return key.number == 0;
}

/// Few homes, the last one too: keys share them, and run on behind it.
std::uint64_t hash(const Key& key) {
    constexpr std::array<std::uint64_t, 5> hashes{0, 1, 0x7FFF'FFFF, 0xFFFF'FFFE, 0xFFFF'FFFF};
    return hashes[key.number % hashes.size()];
}

struct alignas(64) Entry {
    Key key;
    std::uint64_t value;
    std::array<std::uint64_t, 6> rest;
};

constexpr std::size_t capacity = 12;
constexpr std::uint64_t numbers = 24;
using Table = FlatTable<Entry>;

std::size_t slot_of(const Table& table, std::uint64_t number) {
    const Entry* const entry = table.find(Key{number});
    return static_cast<std::size_t>(entry - &table.at(0));
}

void expect_same(const Table& table, const std::map<std::uint64_t, std::uint64_t>& known) {
    ASSERT_EQ(table.used(), known.size());
    for (std::uint64_t number = 1; number <= numbers; ++number) {
        const Entry* const entry = table.find(Key{number});
        const auto at = known.find(number);
        ASSERT_EQ(entry != nullptr, at != known.end()) << number;
        if (entry != nullptr) {
            ASSERT_EQ(entry->value, at->second) << number;
        }
    }
}

TEST(FlatTable, KeepsWhatAMapKeeps) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random{seed};
        Table table(capacity, 0.36);
        std::map<std::uint64_t, std::uint64_t> known;
        for (std::uint64_t step = 1; step <= 400; ++step) {
            const std::uint64_t number = 1 + random() % numbers;
            if (random() % 2 == 0 && known.contains(number)) {
                table.erase(slot_of(table, number));
                known.erase(number);
            } else if (Entry* const entry =
                           table.find_or_insert(Key{number}, table.home(hash(Key{number})))) {
                entry->value = known[number] = step;
            } else {
                ASSERT_EQ(known.size(), capacity) << "refused though there is room";
                ASSERT_FALSE(known.contains(number));
            }
            ASSERT_NO_FATAL_FAILURE(expect_same(table, known));
        }
    }
}

TEST(FlatTable, ClaimsAsMuchMemoryAsItSays) {
    for (const std::size_t wanted : {1UL, 2UL, 3UL, 100UL, 5000UL}) {
        EXPECT_EQ(Table::bytes_for(wanted, 0.36), Table(wanted, 0.36).slots() * sizeof(Entry));
    }
}

}  // namespace
}  // namespace pinstrike::actors
