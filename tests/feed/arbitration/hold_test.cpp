// path: cold
//
// Tests the parts of an arbiter, each against a simpler implementation of the same.
#include "feed/arbitration/hold.h"

#include "feed/arbitration/gap_set.h"
#include "feed/event/position.h"
#include "tests/feed/numbering.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <set>
#include <vector>

namespace pinstrike::feed::test {
namespace {

TEST(Position, NumbersGoFromOneToTheLastAndAgain) {
    EXPECT_EQ(numbering.number_after(1), 2U);
    EXPECT_EQ(numbering.number_after(4'294'967'294U), 4'294'967'295U);
    EXPECT_EQ(numbering.number_after(4'294'967'295U), 1U);
    EXPECT_EQ(numbering.number_at(numbering.last + 1), 1U);
    EXPECT_EQ(numbering.number_at(2 * numbering.last), 4'294'967'295U);
    EXPECT_EQ(numbering.number_at(2 * numbering.last + 1), 1U);
    EXPECT_EQ(numbering.turn_of(2 * numbering.last), numbering.last);
    EXPECT_EQ(numbering.turn_of(2 * numbering.last + 1), 2 * numbering.last);
}

TEST(Position, NearestIsWithinHalfATurn) {
    const Position anchor = 3 * numbering.last + 10;
    EXPECT_EQ(numbering.nearest(anchor, 10), anchor);
    EXPECT_EQ(numbering.nearest(anchor, 12), anchor + 2);
    EXPECT_EQ(numbering.nearest(anchor, 1), anchor - 9);
    EXPECT_EQ(numbering.nearest(anchor, 4'294'967'295U), anchor - 10);
    EXPECT_EQ(numbering.nearest(anchor, 10U + 0x7FFF'FFFFU), anchor + 0x7FFF'FFFF);
    EXPECT_EQ(numbering.nearest(anchor, 10 + 0x8000'0000U), anchor - 0x7FFF'FFFF);
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000; ++i) {
        const Position near = 2 * numbering.last + random() % numbering.last;
        const auto number = 1 + random() % numbering.last;
        const Position position = numbering.nearest(near, number);
        EXPECT_EQ(numbering.number_at(position), number);
        EXPECT_LE(position < near ? near - position : position - near, numbering.last / 2);
    }
}

TEST(GapSet, IsASetOfPositions) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        GapSet gaps(200);
        std::set<Position> model;
        for (int i = 0; i < 300; ++i) {
            const Position begin = 1 + random() % 200;
            const Position end = begin + 1 + random() % 5;
            bool all = true;
            bool none = true;
            for (Position p = begin; p < end; ++p) {
                (model.contains(p) ? none : all) = false;
            }
            EXPECT_EQ(gaps.touches(begin, end), !none);
            EXPECT_EQ(gaps.holds(begin, end), all);
            if (none) {
                ASSERT_TRUE(gaps.add(begin, end));
            } else if (all) {
                ASSERT_TRUE(gaps.remove(begin, end));
            }
            for (Position p = begin; p < end && (none || all); ++p) {
                none ? static_cast<void>(model.insert(p)) : static_cast<void>(model.erase(p));
            }
        }
        std::set<Position> listed;
        Position last = 0;
        for (const PositionRange& range : gaps.ranges()) {
            EXPECT_GT(range.begin, last);  // in order, and never adjacent
            EXPECT_LT(range.begin, range.end);
            last = range.end;
            for (Position p = range.begin; p < range.end; ++p) {
                listed.insert(p);
            }
        }
        EXPECT_EQ(listed, model);
    }
}

TEST(GapSet, RefusesWhatHasNoRoom) {
    GapSet gaps(2);
    EXPECT_TRUE(gaps.add(10, 20));
    EXPECT_TRUE(gaps.add(30, 40));
    EXPECT_FALSE(gaps.add(50, 60));
    EXPECT_FALSE(gaps.remove(12, 14));
    EXPECT_TRUE(gaps.add(20, 30));  // joins the two
    EXPECT_EQ(gaps.ranges().size(), 1U);
    EXPECT_TRUE(gaps.remove(12, 14));
}

TEST(HoldArena, KeepsCopiesInOrderOfArrival) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        HoldArena arena(sizeof(HeldBlock) * (10 + random() % 40));
        std::deque<std::pair<HeldBlock*, std::uint32_t>> model;
        std::uint32_t next = 0;
        std::size_t refused = 0;
        for (int i = 0; i < 2000; ++i) {
            if (random() % 2 == 0) {
                const std::vector<std::byte> bytes(random() % 500, std::byte(next & 0xFF));
                Block block;
                block.bytes = bytes;
                block.sequence = next;
                HeldBlock* held = arena.keep(block, 0, 1, Source::a, next);
                if (held != nullptr) {
                    model.emplace_back(held, next++);
                } else {
                    ++refused;
                    ASSERT_FALSE(model.empty());
                }
            } else if (!model.empty()) {
                const auto at =
                    model.begin() +
                    static_cast<std::ptrdiff_t>(random() % std::min<std::size_t>(model.size(), 3));
                arena.release(at->first);
                model.erase(at);
            }
            const HeldBlock* held = arena.oldest();
            for (const auto& [expected, number] : model) {
                ASSERT_EQ(held, expected);
                ASSERT_EQ(held->block.sequence, number);
                for (const std::byte byte : held->block.bytes) {
                    ASSERT_EQ(byte, std::byte(number & 0xFF));
                }
                held = arena.younger(held);
            }
            ASSERT_EQ(held, nullptr);
        }
        EXPECT_GT(refused, 0U);
    }
}

TEST(HoldQueue, IsSortedByPosition) {
    std::mt19937_64 random(1);
    HoldQueue queue(50);
    std::set<Position> model;  // only entries of one position each, without evidence between them
    for (int i = 0; i < 5000; ++i) {
        const Position position = static_cast<Position>(i / 2) + random() % 100;
        const HoldEntry* found = queue.find(position);
        const bool held = found != nullptr && found->begin <= position;
        EXPECT_EQ(held, model.contains(position));
        if (!held && !queue.full()) {
            queue.insert({position, position + 1, nullptr, HoldEntry::Kind::messages});
            model.insert(position);
        }
        if (random() % 2 == 0 && !queue.empty()) {
            EXPECT_EQ(queue.front().begin, *model.begin());
            EXPECT_EQ(queue.back().begin, *model.rbegin());
            queue.pop_front();
            model.erase(model.begin());
        }
    }
}

}  // namespace
}  // namespace pinstrike::feed::test
