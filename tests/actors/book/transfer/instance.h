// path: cold
//
// A book that exchanges state, and the thread that talks to peers.
#pragma once

#include "actors/book/book.h"
#include "actors/book/book_json.h"
#include "tests/actors/book/events.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::test {

using Kind = StateRecord::Kind;

/// A book, and the other end of its rings.
class Instance {
  public:
    explicit Instance(bool takes, std::size_t journal_messages = 4096,
                      std::size_t series_capacity = 64)
        : Instance(StateRings::make(), takes, journal_messages, series_capacity) {}

    /// The answers to a round: refused series by verdict.
    struct Round {
        std::map<StateVerdict, unsigned> verdicts;
        std::map<std::uint16_t, StateVerdict> apart;  ///< lines whose place did not join
        bool answered = false;
    };

    /// `meanwhile()` is called between the steps of the walk.
    template <class Meanwhile>
    std::vector<StateRecord> give(Meanwhile&& meanwhile) {
        process(Kind::give);
        std::vector<StateRecord> given;
        for (int timer = 0; timer < 1000; ++timer) {
            pass();
            meanwhile();
            for (const StateRecord& record : read()) {
                if (record.kind == Kind::end) {
                    return given;
                }
                given.push_back(record);
            }
        }
        ADD_FAILURE() << "the walk does not end";
        return given;
    }

    std::vector<StateRecord> give() {
        return give([] {});
    }

    Round take(const std::vector<StateRecord>& records, bool forced = false) {
        Round round;
        for (StateRecord record : records) {
            record.forced = forced;
            EXPECT_TRUE(rings_.out.try_push({&record, 1}));
        }
        process(Kind::round);
        for (int timer = 0; timer < 1000 && !round.answered; ++timer) {
            pass();
            for (const StateRecord& record : read()) {
                round.answered = round.answered || record.kind == Kind::round;
                if (record.kind == Kind::refused) {
                    ++round.verdicts[record.verdict];
                } else if (record.kind == Kind::apart) {
                    round.apart.emplace(record.line, record.verdict);
                }
            }
        }
        EXPECT_TRUE(round.answered);
        return round;
    }

    void process(Kind kind, std::uint16_t line = 0) {
        StateRecord order;
        order.kind = kind;
        order.line = line;
        EXPECT_TRUE(rings_.out.try_push({&order, 1}));
    }

    void pass() { book.on_timer(now_ns_ += 1'000'000); }

    Book book;

  private:
    Instance(std::pair<StateRings, StateRings> ends, bool takes, std::size_t journal_messages,
             std::size_t series_capacity)
        : book(BookConfig{.series_capacity = series_capacity}, 1), rings_(std::move(ends.first)) {
        book.join_transfer({takes, journal_messages}, std::move(ends.second));
        book.on_start({});
    }

    std::vector<StateRecord> read() {
        const auto records = rings_.in.peek(StateRings::slots_wanted);
        std::vector<StateRecord> copies(records.begin(), records.end());
        rings_.in.release(records.size());
        return copies;
    }

    StateRings rings_;
    std::int64_t now_ns_ = 0;
};

inline std::string said_of(const Book& book, const feed::SeriesKey& key) {
    const auto state = book.find(key);
    return state ? series_json(*state) : "unknown";
}

inline const feed::SeriesKey spy = key_of("SPY");
inline const feed::SeriesKey qqq = key_of("QQQ");

}  // namespace pinstrike::actors::test
