// path: cold
//
// Readers while the writer writes, on threads of their own.
#include "actors/publish/reader/event_stream.h"
#include "actors/publish/reader/feed_reader.h"
#include "actors/publish/reader/series_reader.h"
#include "actors/publish/reader/value.h"
#include "tests/actors/publish/published.h"
#include "tests/actors/publish/reader/reading.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors::test {
namespace {

/// A quote whose values all follow from its number.
void redundant_quote(Events& events, const feed::SeriesKey& key, std::uint32_t number) {
    const auto price = static_cast<std::int32_t>(number);
    events.quote(key, 1, number, {'F', price, number + 1, price + 2, number + 3, 'C', 'B', {}, {}});
}

bool whole(const pinstrike_value& value) {
    const auto number = static_cast<std::uint32_t>(value.bid.price);
    return value.bid.size == number + 1 && value.bid.sequence == number &&
           value.offer.price == value.bid.price + 2 && value.offer.size == number + 3 &&
           value.offer.sequence == number;
}

/// By all readers; PINSTRIKE_READS asks for more than the quick suite has time for.
std::uint64_t reads_wanted() {
    const char* const text = std::getenv("PINSTRIKE_READS");
    return text == nullptr ? 1'000'000 : std::strtoull(text, nullptr, 10);
}

TEST(Threads, no_value_is_torn) {
    const PublishFolder folder;
    PublishedFeed published;
    constexpr unsigned series_count = 4;
    std::atomic<bool> stop = false;
    const auto key_at = [](unsigned i) { return key_of("SPY", static_cast<char>('A' + i)); };
    Events first;
    for (unsigned i = 0; i < series_count; ++i) {
        redundant_quote(first, key_at(i), 1);
    }
    first.play(*published.books[0]);
    std::thread writer{[&] {
        for (std::uint32_t number = 2; !stop.load(std::memory_order_relaxed); ++number) {
            Events events;
            for (unsigned i = 0; i < series_count; ++i) {
                redundant_quote(events, key_at(i), number);
            }
            if (number % 64 == 0) {  // trades and gaps take the other guards
                events.trade(key_at(number / 64 % series_count), 1, number, 'I', 5, 1);
                events.gap(1, number, number);
            }
            events.play(*published.books[0]);
        }
    }};
    std::vector<std::thread> readers;
    constexpr unsigned readers_count = 2;
    const std::uint64_t reads = reads_wanted();
    std::atomic<unsigned> torn = 0;
    std::atomic<std::uint64_t> done = 0;
    std::atomic<unsigned> missing = 0;
    for (unsigned thread = 0; thread < readers_count; ++thread) {
        readers.emplace_back([&] {
            const FeedHandle feed = open_test_feed();
            std::vector<pinstrike_value> values(series_count);
            std::uint64_t own = 0;
            while (own < reads / readers_count) {  // a read that met a write for too long is none
                missing += pinstrike_chain(feed.get(), nullptr, values.data(), values.size()) !=
                                   series_count
                               ? 1U
                               : 0U;
                for (const pinstrike_value& value : values) {
                    const bool read = value.old == PINSTRIKE_CURRENT;
                    torn += read && !whole(value) ? 1U : 0U;
                    own += read ? 1U : 0U;
                }
            }
            done += own;
        });
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    stop = true;
    writer.join();
    EXPECT_EQ(torn, 0U);
    EXPECT_EQ(missing, 0U);
    EXPECT_GE(done, reads / readers_count * readers_count);
}

using Place = std::pair<std::string, std::uint64_t>;  ///< of an event: its series and its stamp

std::string name_of(const pinstrike_key& key) {
    return std::string{key.root} + std::to_string(key.expiration) + key.right +
           std::to_string(key.strike_e8) + std::to_string(key.gth);
}

/// Quotes and trades that change state, by their order.
void add_places(const std::vector<feed::Event>& records, Stamps& stamps,
                std::vector<Place>& places) {
    const auto stamp = stamps.next(records);
    std::size_t at = 0;
    for (const feed::Event& event : EventBatch{records}) {
        const auto kind = event.header.kind;
        const bool before_day = (event.header.flags & feed::flag_before_day) != 0;
        if (!before_day && (kind == feed::EventKind::quote || kind == feed::EventKind::trade)) {
            places.emplace_back(name_of(reader::key_of(event.body.series, 0)), stamp[at]);
        }
        ++at;
    }
}

/// What a user of a stream has since its state was last begun to be read.
struct Joined {
    std::map<std::string, std::uint64_t> covered;  ///< by series: the stamp of its state
    std::vector<Place> got;
    std::uint64_t to = 0;
    bool unreadable = false;  ///< the writer was preempted in the middle of a write for long

    void add_state(const std::vector<pinstrike_value>& snapshot) {
        for (const pinstrike_value& value : snapshot) {
            covered[name_of(value.key)] = value.stamp;
            unreadable = unreadable || value.old == PINSTRIKE_UNREADABLE;
        }
    }

    void add(const pinstrike_record& record) {
        to = std::max(to, record.stamp);
        if ((record.flags & feed::flag_before_day) == 0 &&
            (record.kind == PINSTRIKE_QUOTE || record.kind == PINSTRIKE_TRADE)) {
            got.emplace_back(name_of(record.key), record.stamp);
        }
    }

    /// State and events have each of `places` once.
    void check(const std::vector<Place>& places) {
        // A series that the state does not list may have an entry, which a start of day made void.
        // Its events are expected from the first that came.
        for (const Place& event : got) {
            covered.try_emplace(event.first, event.second - 1);
        }
        std::vector<Place> expected;
        for (const Place& event : places) {
            const auto at = covered.find(event.first);
            const std::uint64_t before = at == covered.end() ? to : at->second;
            if (event.second > before && event.second <= to) {
                expected.push_back(event);
            }
        }
        ASSERT_EQ(got, expected);
    }
};

/// Snapshot and stream together have each quote and trade once, whenever the reader begins.
TEST(Threads, a_stream_joins_its_snapshot) {
    const PublishFolder folder;
    PublishedFeed published{1, 1 << 16};
    Book& book = *published.books[0];
    Day day{5};
    std::vector<std::vector<feed::Event>> batches;
    std::vector<Place> places;
    Stamps stamps;
    for (int i = 0; i < 400; ++i) {
        batches.push_back(day.next(40));
        add_places(batches.back(), stamps, places);
    }
    std::atomic<std::size_t> played = 0;
    std::thread writer{[&] {
        for (const auto& batch : batches) {
            book.on_events(EventBatch{batch});
            played.fetch_add(1, std::memory_order_release);
        }
    }};
    const FeedHandle feed = open_test_feed();
    unsigned joined = 0;
    while (played.load(std::memory_order_acquire) < batches.size()) {
        const StreamHandle stream = subscribe(feed.get());
        Joined user;
        user.add_state(snapshot_of(stream.get()));
        bool missed = false;
        for (const pinstrike_record& record : drain(stream.get())) {
            missed = missed || record.kind == PINSTRIKE_MISSED;
            user.add(record);
        }
        if (missed || user.unreadable || user.got.empty()) {
            continue;
        }
        ++joined;
        user.check(places);
    }
    writer.join();
    const StreamHandle last = subscribe(feed.get());
    EXPECT_EQ(snapshot_of(last.get()).size(), book.series_count());
    RecordProperty("joined", static_cast<int>(joined));
}

class Parts : public ::testing::TestWithParam<std::uint64_t> {};

/// A reader that was overrun reads the state in parts, while events come. The ring is much too
/// short for the whole state.
TEST_P(Parts, of_a_state_join_the_stream) {
    const PublishFolder folder;
    constexpr std::size_t ring_records = 64;
    PublishedFeed published{1, ring_records};
    Day day{GetParam()};
    std::vector<Place> places;
    Stamps stamps;
    const auto play = [&](unsigned steps) {
        const auto records = day.next(steps);
        add_places(records, stamps, places);
        published.books[0]->on_events(EventBatch{records});
    };
    play(40);
    reader::EventStream stream{std::make_unique<reader::FeedReader>("test"), reader::Filter{}, 1};
    unsigned parts = 0;
    constexpr unsigned rounds = 30;
    for (unsigned round = 0; round < rounds; ++round) {
        for (unsigned i = 0; i < 2 * ring_records; ++i) {
            play(1);
        }
        Joined user;
        pinstrike_record record{};
        bool more = true;
        unsigned rest = 20;  // events behind the state
        while (more || rest-- > 0) {
            if (stream.poll({&record, 1}) == 0) {
                play(1);
                continue;
            }
            if (record.kind == PINSTRIKE_MISSED || record.kind == PINSTRIKE_RENEWED) {
                user = {};
            }
            if (record.kind == PINSTRIKE_MISSED || record.kind == PINSTRIKE_RENEWED ||
                record.kind == PINSTRIKE_STATE) {
                user.add_state(stream.snapshot());
                more = record.of.missed.more != 0;
                ++parts;
            }
            user.add(record);
            if (day.session.below(2) == 0) {
                play(1);
            }
        }
        user.check(places);
    }
    EXPECT_GE(parts, 2U * rounds);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Parts, ::testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace pinstrike::actors::test
