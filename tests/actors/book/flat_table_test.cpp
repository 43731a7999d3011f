// path: cold
//
// Compares the table with a map, while random entries are inserted and removed. Some keys share
// their slots.
#include "actors/book/flat_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

/// Keys below `crowd_end` share a few hashes; each other key has a hash of its own.
struct Key {
    std::uint64_t number;

    friend bool operator==(const Key&, const Key&) = default;
};

constexpr std::uint64_t crowd_end = 40;

[[maybe_unused]] bool is_empty(const Key& key) {
    return key.number == 0;
}

/// The shared hashes select the first slot, the last slot, and similar ones.
std::uint64_t hash(const Key& key) {
    constexpr std::array<std::uint64_t, 5> hashes{0, 1, 0x7FFF'FFFF, 0xFFFF'FFFE, 0xFFFF'FFFF};
    if (key.number < crowd_end) {
        return hashes[key.number % hashes.size()];
    }
    std::uint64_t mixed = key.number * 0x9E37'79B9'7F4A'7C15ULL;
    mixed ^= mixed >> 32;
    return mixed * 0xD6E8'FEB8'6659'FD93ULL;
}

struct alignas(64) Entry {
    Key own_key;
    std::uint64_t value;
    std::array<std::uint64_t, 6> rest;

    [[nodiscard]] Key key() const { return own_key; }

    void set_key(const Key& key) { own_key = key; }
};

constexpr double load = 0.45;

/// A table with its memory.
class Table : public FlatTable<Entry> {
  public:
    explicit Table(std::size_t capacity)
        : Table(capacity, std::vector<Entry>(slots_for(capacity, load)),
                std::vector<pinstrike_group>(slots_for(capacity, load) / group_slots)) {}

  private:
    Table(std::size_t capacity, std::vector<Entry> entries, std::vector<pinstrike_group> groups)
        : FlatTable(capacity, entries, groups),
          entries_(std::move(entries)),
          groups_(std::move(groups)) {}

    std::vector<Entry> entries_;
    std::vector<pinstrike_group> groups_;
};

constexpr std::size_t group_slots = Table::group_slots;
using Known = std::map<std::uint64_t, std::uint64_t>;

// Empty slots have this key, so a search for it would find one.
TEST(FlatTable, the_key_of_empty_slots_is_in_no_table) {
    Table table{100};
    EXPECT_EQ(table.find(Key{0}), nullptr);
    EXPECT_EQ(table.insert(Key{0}), nullptr);
}

std::size_t slot_of(const Table& table, std::uint64_t number) {
    return table.slot_of(*table.find(Key{number}));
}

void expect_same(const Table& table, const Known& known, std::uint64_t numbers) {
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

std::map<std::uint64_t, std::size_t> slots_of(const Table& table, const Known& known) {
    std::map<std::uint64_t, std::size_t> slots;
    for (const auto& [number, value] : known) {
        slots[number] = slot_of(table, number);
    }
    return slots;
}

/// An insertion moves entries only within their groups.
void expect_groups_kept(const Table& table, const std::map<std::uint64_t, std::size_t>& before) {
    for (const auto& [number, slot] : before) {
        ASSERT_EQ(slot_of(table, number) / group_slots, slot / group_slots) << number;
    }
}

/// Inserts or removes a random key of 1 to `numbers`, `steps` times.
void come_and_go(std::size_t capacity, std::uint64_t numbers, std::uint64_t steps,
                 std::uint64_t seed) {
    std::mt19937_64 random{seed};
    Table table(capacity);
    Known known;
    for (std::uint64_t step = 1; step <= steps; ++step) {
        const std::uint64_t number = 1 + random() % numbers;
        const auto before = slots_of(table, known);
        if (random() % 3 == 0 && known.contains(number)) {
            table.erase(slot_of(table, number));
            known.erase(number);
            for (const auto& [other, slot] : before) {
                ASSERT_TRUE(other == number || slot_of(table, other) == slot) << "moved by another";
            }
            continue;
        }
        Entry* entry = table.find(Key{number});
        ASSERT_EQ(entry != nullptr, known.contains(number));
        if (entry == nullptr) {
            entry = table.insert(Key{number});
        }
        if (entry == nullptr) {
            ASSERT_EQ(known.size(), capacity) << "refused though there is room";
        } else {
            entry->value = known[number] = step;
        }
        ASSERT_NO_FATAL_FAILURE(expect_groups_kept(table, before));
        ASSERT_NO_FATAL_FAILURE(expect_same(table, known, numbers));
    }
}

TEST(FlatTable, KeepsWhatAMapKeepsWhereKeysShareSlots) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_NO_FATAL_FAILURE(come_and_go(12, 24, 400, seed));
    }
}

TEST(FlatTable, KeepsWhatAMapKeepsInManyGroups) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(seed);
        ASSERT_NO_FATAL_FAILURE(come_and_go(300, 400, 1500, seed));
    }
}

/// In a full table, nearly all keys that share no hash are in one of their two slots.
TEST(FlatTable, FewAreDisplaced) {
    constexpr std::uint64_t count = 100'000;
    Table table(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_NE(table.insert(Key{crowd_end + i}), nullptr) << i;
    }
    EXPECT_EQ(table.insert(Key{crowd_end + count}), nullptr) << "more than it has room for";
    std::uint64_t displaced = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Key key{crowd_end + i};
        const Entry* const entry = table.find(key);
        ASSERT_NE(entry, nullptr) << i;
        const Table::Places both = table.places(hash(key));
        displaced += both.first == entry || both.second == entry ? 0 : 1;
    }
    EXPECT_LT(displaced, count / 100);
}

TEST(FlatTable, ASweepRemovesWhatItIsGiven) {
    Table table(200);
    for (std::uint64_t number = 1; number <= 150; ++number) {
        table.insert(Key{number})->value = number;
    }
    Sweeper sweeper;
    sweeper.start(table.slots());
    std::multiset<std::uint64_t> seen;
    while (sweeper.busy()) {
        sweeper.advance(table, 7, [&seen](const Entry& entry) {
            seen.insert(entry.own_key.number);
            return entry.value % 2 == 0;
        });
    }
    EXPECT_EQ(seen.size(), 150U);
    for (std::uint64_t number = 1; number <= 150; ++number) {
        EXPECT_EQ(seen.count(number), 1U);
        EXPECT_EQ(table.find(Key{number}) == nullptr, number % 2 == 0) << number;
    }
    EXPECT_EQ(table.used(), 75U);
}

/// New keys move entries while the table is swept. Returns how many entries the sweep missed.
std::size_t left_of_a_sweep(std::uint64_t first_number) {
    constexpr std::uint64_t old = 600;
    constexpr std::uint64_t all = 2000;
    Table table(all);
    for (std::uint64_t i = 0; i < old; ++i) {
        table.insert(Key{first_number + i})->value = 1;
    }
    Sweeper sweeper;
    sweeper.start(table.slots());
    for (std::uint64_t i = old; sweeper.busy(); ++i) {
        sweeper.advance(table, 3, [](const Entry& entry) { return entry.value == 1; });
        if (i < all) {
            sweeper.inserted(table, *table.insert(Key{first_number + i}));
        }
    }
    std::size_t left = 0;
    for (std::size_t slot = 0; slot < table.slots(); ++slot) {
        left += table.at(slot).value == 1 ? 1 : 0;
    }
    return left;
}

TEST(FlatTable, ASweepMissesNothingThatIsMovedMeanwhile) {
    for (std::uint64_t round = 1; round <= 200; ++round) {
        ASSERT_EQ(left_of_a_sweep(crowd_end + round * 10'000), 0U) << round;
    }
}

TEST(FlatTable, AChangeOfAGroupRaisesItsVersionByTwo) {
    Table table(200);
    const Entry& entry = *table.insert(Key{100});
    const pinstrike_group& group = table.group_of(entry);
    EXPECT_EQ(group.version, 2);
    {
        const Table::Writing outer{table.group_of(entry)};
        EXPECT_EQ(group.version, 3);
        const Table::Writing inner{table.group_of(entry)};
        EXPECT_EQ(group.version, 3);
    }
    EXPECT_EQ(group.version, 4);
    table.erase(table.slot_of(entry));
    EXPECT_EQ(group.version, 6);
}

}  // namespace
}  // namespace pinstrike::actors
