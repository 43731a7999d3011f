// path: cold
#include "feed/recovery/history.h"

#include "feed/event/position.h"
#include "tests/feed/numbering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <random>
#include <vector>

namespace pinstrike::feed {

/// Text for the messages of failed expectations.
inline void PrintTo(const KeptRange& range, std::ostream* out) {
    *out << range.first << ".." << range.last << " stamped " << range.from_ts_ns << ".."
         << range.to_ts_ns;
}

}  // namespace pinstrike::feed

namespace pinstrike::feed::test {

namespace {

constexpr std::int64_t any_before_ns = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t any_behind_ns = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t last_number = 4'294'967'295U;
constexpr std::array<std::uint16_t, 3> lines{7, 1, 203};

using Bytes = std::vector<std::byte>;

/// Bytes that identify the block.
Bytes bytes_of(std::uint64_t identity, std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>((identity * 0x9E37'79B9U + i * 131) >> 7);
    }
    return bytes;
}

struct Kept {
    KeptBlock block;
    Bytes bytes;
};

class HistoryOf {
  public:
    explicit HistoryOf(const HistoryConfig& config) : history(lines, config, {}) {}

    /// A block that is stamped and arrives at the same time.
    bool keep(std::uint16_t line, std::uint64_t first, std::uint16_t messages, std::int64_t ts_ns,
              std::size_t bytes = 100) {
        const Bytes made = bytes_of(first, bytes);
        return history.keep({line, messages, first, ts_ns, ts_ns, made});
    }

    std::vector<std::uint64_t> firsts(std::uint16_t line, std::uint64_t first,
                                      std::uint32_t messages,
                                      std::int64_t before_ns = any_before_ns,
                                      std::int64_t behind_ns = any_behind_ns) {
        std::vector<std::uint64_t> found;
        for (const KeptBlock& block :
             history.find({1, line, first, messages, before_ns, behind_ns})) {
            EXPECT_EQ(block.line, line);
            found.push_back(block.first);
        }
        return found;
    }

    History history;
};

using Numbers = std::vector<std::uint64_t>;

TEST(History, ServesWholeBlocksThatOverlap) {
    HistoryOf of({.keep_ns = 1000, .memory_bytes = 1 << 20});
    EXPECT_TRUE(of.keep(1, 1, 10, 1));
    EXPECT_TRUE(of.keep(1, 11, 10, 2));
    EXPECT_TRUE(of.keep(7, 11, 10, 2));
    EXPECT_TRUE(of.keep(1, 21, 10, 3));
    EXPECT_EQ(of.firsts(1, 10, 1), (Numbers{1}));
    EXPECT_EQ(of.firsts(1, 10, 2), (Numbers{1, 11}));
    EXPECT_EQ(of.firsts(1, 12, 3), (Numbers{11}));
    EXPECT_EQ(of.firsts(1, 20, 1000), (Numbers{11, 21}));
    EXPECT_EQ(of.firsts(1, 31, 1000), Numbers{});
    EXPECT_EQ(of.firsts(7, 1, 1000), (Numbers{11}));
    EXPECT_EQ(of.firsts(203, 1, 1000), Numbers{});
    const auto found = of.history.find({1, 7, 15, 1, any_before_ns, any_behind_ns});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].messages, 10);
    EXPECT_EQ(found[0].ts_exchange_ns, 2);
    const Bytes sent = bytes_of(11, 100);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), found[0].bytes.begin(), found[0].bytes.end()));
}

TEST(History, NumbersWrap) {
    HistoryOf of({.keep_ns = 1000, .memory_bytes = 1 << 20});
    of.keep(1, last_number - 9, 9, 1);
    of.keep(1, last_number, 3, 2);  // the last, 1, 2
    of.keep(1, 3, 250, 3);
    EXPECT_EQ(of.firsts(1, last_number - 1, 1), (Numbers{last_number - 9}));
    EXPECT_EQ(of.firsts(1, last_number, 1), (Numbers{last_number}));
    EXPECT_EQ(of.firsts(1, 2, 1), (Numbers{last_number}));
    EXPECT_EQ(of.firsts(1, 252, 1), (Numbers{3}));
    EXPECT_EQ(of.firsts(1, last_number - 1, 1000), (Numbers{last_number - 9, last_number, 3}));
    EXPECT_EQ(of.history.kept(1), (KeptRange{last_number - 9, 252, 1, 3}));
}

TEST(History, NumbersMayHaveMoreThan32Bits) {
    constexpr std::uint64_t base = std::uint64_t{1} << 32;
    History history(lines, {.keep_ns = 1000, .memory_bytes = 1 << 20}, {.last = number_max});
    const Bytes bytes = bytes_of(1, 40);
    for (const std::uint64_t first : {base - 2, base + 3, base + 5, std::uint64_t{1}}) {
        EXPECT_TRUE(history.keep({7, 5, first, 1, 1, bytes}));
    }
    const auto found = history.find({1, 7, base + 1, 3, any_before_ns, any_behind_ns});
    ASSERT_EQ(found.size(), 2U) << "1 does not follow 4,294,967,295 here";
    EXPECT_EQ(found[0].first, base - 2);
    EXPECT_EQ(found[1].first, base + 3);
    const auto kept = history.kept(7);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->first, base - 2);
}

TEST(History, FindsOnlyTheLatestSessionIfTheCodecRecognisesSessions) {
    for (const bool infers_resets : {false, true}) {
        History history(lines, {.keep_ns = 1000, .memory_bytes = 1 << 20},
                        {.infers_resets = infers_resets});
        const Bytes bytes = bytes_of(1, 40);
        const auto count = [&](std::uint16_t line) {
            return history.find({1, line, 1, 1, 0, 0}).size();
        };
        EXPECT_TRUE(history.keep({7, 5, 1, 0, 1, bytes, 1}));
        EXPECT_TRUE(history.keep({1, 5, 1, 0, 1, bytes, 1}));
        EXPECT_TRUE(history.keep({7, 5, 6, 0, 1, bytes, 2}));
        EXPECT_EQ(count(7), infers_resets ? 1U : 0U);
        EXPECT_EQ(count(1), 1U) << "the session of another line";
        EXPECT_TRUE(history.keep({7, 5, 1, 0, 1, bytes, 2}));
        EXPECT_EQ(count(7), infers_resets ? 2U : 1U);
    }
}

TEST(History, TimesSelectTheEpoch) {
    HistoryOf of({.keep_ns = 1000, .memory_bytes = 1 << 20});
    of.keep(1, 100, 10, 10);
    of.keep(1, 110, 10, 20);
    of.keep(1, 100, 10, 30);  // after a reset
    EXPECT_EQ(of.firsts(1, 105, 10), (Numbers{100, 110, 100}));
    EXPECT_EQ(of.firsts(1, 105, 10, any_before_ns, 20), (Numbers{100, 110}));
    EXPECT_EQ(of.firsts(1, 105, 10, 21), (Numbers{100}));
    EXPECT_EQ(of.firsts(1, 105, 10, 10, 10), (Numbers{100}));
    EXPECT_EQ(of.firsts(1, 105, 10, 31), Numbers{});
    EXPECT_EQ(of.history.kept(1), (KeptRange{100, 109, 10, 30}));
}

TEST(History, LetsGoOfWhatIsOld) {
    HistoryOf of({.keep_ns = 10, .memory_bytes = 1 << 20});
    of.keep(1, 1, 1, 100);
    of.keep(7, 1, 1, 105);
    of.keep(1, 2, 1, 110);
    EXPECT_EQ(of.firsts(1, 1, 10), (Numbers{1, 2}));
    of.history.expire(111);
    EXPECT_EQ(of.firsts(1, 1, 10), (Numbers{2}));
    EXPECT_EQ(of.history.kept(1), (KeptRange{2, 2, 110, 110}));
    EXPECT_EQ(of.history.oldest_ts_ns(), 105);
    of.history.expire(116);
    EXPECT_EQ(of.firsts(7, 1, 10), Numbers{});
    EXPECT_EQ(of.history.kept(7), std::nullopt);
    of.history.expire(1000);
    EXPECT_EQ(of.history.blocks(), 0U);
    EXPECT_EQ(of.history.used_bytes(), 0U);
    EXPECT_EQ(of.history.oldest_ts_ns(), 0);
    EXPECT_EQ(of.history.counters().read(HistoryCount::aged), 3U);
    EXPECT_EQ(of.history.counters().read(HistoryCount::crowded), 0U);
    of.keep(1, 3, 1, 50);  // the clock went back: the block counts as arrived at the latest time
    EXPECT_EQ(of.history.oldest_ts_ns(), 1000);
}

TEST(History, TheOldestMakeRoom) {
    HistoryOf of({.keep_ns = 1'000'000, .memory_bytes = 4800});
    for (std::uint64_t i = 1; i <= 1000; ++i) {
        ASSERT_TRUE(of.keep(1, i, 1, static_cast<std::int64_t>(i), 1 + i % 200));
        ASSERT_LE(of.history.used_bytes(), 4800U);
        ASSERT_EQ(of.firsts(1, i, 1), (Numbers{i}));
    }
    EXPECT_GE(of.history.blocks(), 15U);  // of 48 + at most 240 bytes
    EXPECT_EQ(of.history.counters().read(HistoryCount::kept), 1000U);
    EXPECT_EQ(of.history.counters().read(HistoryCount::crowded), 1000 - of.history.blocks());
    EXPECT_EQ(of.history.kept(1)->first, 1001 - of.history.blocks());
}

TEST(History, RefusesWhatDoesNotFit) {
    HistoryOf of({.keep_ns = 1000, .memory_bytes = 4800});
    EXPECT_FALSE(of.keep(2, 1, 1, 1));  // no such line
    EXPECT_FALSE(of.keep(1, 0, 1, 1));  // 0 is not a valid number
    EXPECT_FALSE(of.keep(1, 1, 0, 1));
    EXPECT_FALSE(of.keep(1, 1, 257, 1));
    EXPECT_FALSE(of.keep(1, 1, 1, 1, 0));
    EXPECT_FALSE(of.keep(1, 1, 1, 1, 4753));  // with its header, larger than all memory
    EXPECT_TRUE(of.keep(1, 1, 256, 1, 4752));
    EXPECT_TRUE(of.keep(1, 257, 256, 1, 4752));
    EXPECT_EQ(of.firsts(1, 1, 257), (Numbers{257}));
    EXPECT_EQ(of.history.counters().read(HistoryCount::unfit), 6U);
    EXPECT_FALSE(of.history.knows(2));
    EXPECT_TRUE(of.history.knows(203));
    EXPECT_EQ(of.firsts(2, 1, 1), Numbers{});
    EXPECT_EQ(of.firsts(1, 0, 1), Numbers{});
    EXPECT_EQ(of.firsts(1, 257, 0), Numbers{});
    EXPECT_EQ(of.firsts(1, 257, repair_messages_max + 1), Numbers{});
}

TEST(History, AnAnswerIsBounded) {
    HistoryOf of({.keep_ns = 1000, .memory_bytes = 1 << 20});
    for (int i = 0; i < 3000; ++i) {
        of.keep(1, 5, 1, 1);  // a capture in a loop: number and time repeat
    }
    EXPECT_EQ(of.firsts(1, 5, 1).size(), repair_messages_max);
}

/// A model that keeps every block that arrived and searches all of them.
class Model {
  public:
    void keep(const KeptBlock& block) {
        arrived_.push_back({block, Bytes(block.bytes.begin(), block.bytes.end())});
    }

    /// The matching blocks among the last `count` ones.
    [[nodiscard]] std::vector<Bytes> find(const RepairRequest& request, std::size_t count) const {
        std::vector<Bytes> found;
        for (auto it = arrived_.end() - static_cast<std::ptrdiff_t>(count); it != arrived_.end();
             ++it) {
            if (it->block.line == request.line && overlaps(it->block, request) &&
                it->block.ts_exchange_ns >= request.ts_before_ns &&
                it->block.ts_exchange_ns <= request.ts_behind_ns) {
                found.push_back(it->bytes);
            }
        }
        return found;
    }

    /// The number of blocks that arrived at this time or later.
    [[nodiscard]] std::size_t since(std::int64_t ts_ns) const {
        return static_cast<std::size_t>(
            std::count_if(arrived_.begin(), arrived_.end(),
                          [=](const Kept& kept) { return kept.block.ts_arrival_ns >= ts_ns; }));
    }

    /// Memory of the last `count` blocks and one more: each has a header of 48 bytes and is padded
    /// to a multiple of 48.
    [[nodiscard]] std::size_t bytes_of_more_than(std::size_t count) const {
        std::size_t bytes = 0;
        const std::size_t all = std::min(count + 1, arrived_.size());
        for (auto it = arrived_.end() - static_cast<std::ptrdiff_t>(all); it != arrived_.end();
             ++it) {
            bytes += 48 + (it->bytes.size() + 47) / 48 * 48;
        }
        return bytes;
    }

    [[nodiscard]] std::size_t size() const { return arrived_.size(); }

  private:
    static bool overlaps(const KeptBlock& block, const RepairRequest& request) {
        std::uint64_t number = block.first;
        for (unsigned i = 0; i < block.messages; ++i, number = numbering.number_after(number)) {
            std::uint64_t asked = request.first;
            if (const auto ahead = (numbering.last + number - asked) % numbering.last;
                ahead < request.messages) {
                return true;
            }
        }
        return false;
    }

    std::deque<Kept> arrived_;
};

struct Script {
    explicit Script(std::uint64_t seed) : random(seed) {}

    std::uint64_t below(std::uint64_t end) { return random() % end; }

    KeptBlock next_block() {
        const auto which = below(lines.size());
        std::uint64_t& number = next_number[which];
        if (below(40) == 0) {
            number = below(2) == 0 ? 1 : last_number - below(600);
        } else if (below(10) == 0) {
            number = numbering.number_at(numbering.last + number + 1 + below(300));
        }
        const auto messages = static_cast<std::uint16_t>(1 + below(below(4) == 0 ? 256 : 12));
        now_ns += static_cast<std::int64_t>(below(5));
        const KeptBlock block{lines[which], messages, number, now_ns - 3, now_ns, {}};
        for (unsigned i = 0; i < messages; ++i) {
            number = numbering.number_after(number);
        }
        return block;
    }

    RepairRequest next_request() {
        const auto which = below(lines.size());
        RepairRequest request;
        request.line = lines[which];
        const std::uint64_t back = below(3000);
        request.first = numbering.number_at(2 * numbering.last + next_number[which] - back);
        request.messages = static_cast<std::uint32_t>(1 + below(below(2) == 0 ? 1000 : 20));
        request.ts_before_ns =
            below(2) == 0 ? any_before_ns : now_ns - static_cast<std::int64_t>(below(400));
        request.ts_behind_ns =
            below(2) == 0 ? any_behind_ns : now_ns - static_cast<std::int64_t>(below(400));
        return request;
    }

    std::mt19937_64 random;
    std::array<std::uint64_t, lines.size()> next_number{1, 500, last_number - 50};
    std::int64_t now_ns = 1'000'000;
};

/// The history holds the blocks that arrived last, and finds the same blocks as the model.
void run_against_model(std::uint64_t seed) {
    Script script(seed);
    const HistoryConfig config{.keep_ns = 200 + static_cast<std::int64_t>(script.below(2000)),
                               .memory_bytes = 3000 + script.below(60'000)};
    History history(lines, config, {});
    Model model;
    for (int step = 0; step < 600; ++step) {
        KeptBlock block = script.next_block();
        const Bytes bytes = bytes_of(seed * 1000 + static_cast<std::uint64_t>(step),
                                     1 + script.below(script.below(3) == 0 ? 1000 : 120));
        block.bytes = bytes;
        ASSERT_TRUE(history.keep(block));
        model.keep(block);
        const std::size_t count = history.blocks();
        ASSERT_LE(history.used_bytes(), config.memory_bytes);
        const std::size_t young = model.since(script.now_ns - config.keep_ns);
        ASSERT_LE(count, young);
        if (count < young) {  // only if memory is short; the end of the ring may be unused
            ASSERT_GT(model.bytes_of_more_than(count) + 1100, config.memory_bytes);
        }
        const RepairRequest request = script.next_request();
        std::vector<Bytes> found;
        for (const KeptBlock& kept : history.find(request)) {
            found.emplace_back(kept.bytes.begin(), kept.bytes.end());
        }
        ASSERT_EQ(found, model.find(request, count));
    }
    ASSERT_EQ(history.counters().read(HistoryCount::kept),
              history.blocks() + history.counters().read(HistoryCount::aged) +
                  history.counters().read(HistoryCount::crowded));
}

TEST(History, IsTheEndOfWhatArrived) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        run_against_model(seed);
        if (HasFatalFailure()) {
            return;
        }
    }
}

}  // namespace
}  // namespace pinstrike::feed::test
