// path: cold
//
// Readers of generated days, with losses, late messages, repairs, resets and moves: they get the
// state of the book, and each event once.
#include "actors/publish/reader/core_cursor.h"
#include "actors/publish/reader/value.h"
#include "actors/publish/stream_writer.h"
#include "config/time_units.h"
#include "tests/actors/publish/published.h"
#include "tests/actors/publish/reader/reading.h"
#include "tests/actors/publish/reader/value_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pinstrike::actors::test {
namespace {

void expect_state_of(const Book& book, pinstrike_feed* feed) {
    const std::vector<pinstrike_value> values = chain_of(feed);
    ASSERT_EQ(values.size(), book.series_count());
    for (const pinstrike_value& value : values) {
        const auto key = reader::series_key_of(value.key);
        ASSERT_TRUE(key);
        const auto state = book.find(*key);
        ASSERT_TRUE(state);
        ASSERT_EQ(text_of(value), text_of(*state));
        ASSERT_EQ(value.old, PINSTRIKE_CURRENT);
        pinstrike_value alone{};
        ASSERT_EQ(pinstrike_get(feed, &value.key, &alone), 1);
        ASSERT_EQ(text_of(alone), text_of(value));
    }
}

class Days : public testing::TestWithParam<std::uint64_t> {};

INSTANTIATE_TEST_SUITE_P(Seeds, Days, testing::Range(std::uint64_t{1}, std::uint64_t{25}));

TEST_P(Days, a_reader_that_attaches_at_any_moment_reads_the_book) {
    const PublishFolder folder;
    PublishedFeed published;
    const FeedHandle first = open_test_feed();
    Day day{GetParam()};
    for (int batch = 0; batch < 12; ++batch) {
        const auto records = day.next(day.session.below(300));
        published.books[0]->on_events(EventBatch{records});
        if (batch % 4 == 0) {
            published.show_life();
        }
        expect_state_of(*published.books[0], first.get());
        expect_state_of(*published.books[0], open_test_feed().get());
        if (HasFatalFailure()) {
            return;
        }
    }
}

/// Whether a record is the event.
bool same(const pinstrike_record& record, const feed::Event& event, std::uint64_t stamp) {
    return record.kind == static_cast<std::uint8_t>(event.header.kind) &&
           record.sequence == event.header.number() && record.line == event.header.line &&
           record.flags == event.header.flags && record.stamp == stamp &&
           record.receive_ns == event.header.ts_receive_ns;
}

TEST_P(Days, a_stream_gives_each_event_once_and_the_best_of_the_book) {
    const PublishFolder folder;
    PublishedFeed published;
    Book& book = *published.books[0];
    const FeedHandle feed = open_test_feed();
    Day day{GetParam()};
    Stamps stamps;
    const auto before = day.next(day.session.below(600));
    book.on_events(EventBatch{before});
    (void)stamps.next(before);
    const StreamHandle stream = subscribe(feed.get());
    EXPECT_EQ(snapshot_of(stream.get()).size(), book.series_count());
    std::size_t bests = 0;
    for (int i = 0; i < 1500; ++i) {
        const auto records = day.next(1);
        const auto stamp = stamps.next(records);
        book.on_events(EventBatch{records});
        const auto got = drain(stream.get());
        ASSERT_EQ(got.size(), stamp.size());
        std::size_t at = 0;
        for (const feed::Event& event : EventBatch{records}) {
            ASSERT_TRUE(same(got[at], event, stamp[at])) << i;
            ++at;
        }
        const pinstrike_record& latest = got.back();
        const auto state =
            latest.has_best != 0 ? book.find(*reader::series_key_of(latest.key)) : std::nullopt;
        if (state) {
            ++bests;
            ASSERT_EQ(text_of(latest.bid), text_of(state->bid, state->bid_state)) << i;
            ASSERT_EQ(text_of(latest.offer), text_of(state->offer, state->offer_state)) << i;
        }
    }
    EXPECT_GT(bests, 500U);
}

TEST_P(Days, a_slow_reader_knows_what_it_missed_and_goes_on) {
    const PublishFolder folder;
    PublishedFeed published{1, 256};
    Book& book = *published.books[0];
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    Day day{GetParam()};
    std::uint64_t written = 0;
    std::uint64_t accounted = 0;
    unsigned missed = 0;
    for (int batch = 0; batch < 60; ++batch) {
        const auto records = day.next(1 + day.session.below(80));
        book.on_events(EventBatch{records});
        written += records.size();
        if (day.session.below(3) != 0) {
            continue;
        }
        for (const pinstrike_record& record : drain(stream.get())) {
            if (record.kind == PINSTRIKE_MISSED) {
                ++missed;
                EXPECT_EQ(record.of.missed.first, accounted);
                EXPECT_EQ(record.of.missed.last + 1, written);
                accounted = record.of.missed.last + 1;
                EXPECT_EQ(snapshot_of(stream.get()).size(), book.series_count());
            } else {
                const bool two =
                    record.kind == PINSTRIKE_END_OF_DAY ||
                    (record.kind == PINSTRIKE_QUOTE &&
                     std::string{"CGKMNOP"}.find(record.indicator) != std::string::npos);
                accounted += two ? 2 : 1;
            }
        }
        EXPECT_EQ(accounted, written);
    }
    EXPECT_GT(missed, 0U);
}

TEST(Streams, an_event_of_a_line_comes_once_from_several_cores) {
    const PublishFolder folder;
    PublishedFeed published{3};
    const FeedHandle feed = open_test_feed();
    const StreamHandle once = subscribe(feed.get());
    pinstrike_filter every{};
    every.line_events_of_each_core = 1;
    const StreamHandle each = subscribe(feed.get(), &every);
    Events events;
    events.gap(1, 5, 6);
    events.control(1, 7, feed::Forget::quotes);
    for (const auto& book : published.books) {
        book->on_events(events.batch());
    }
    Events lost;
    lost.gap(1, 8, 9, feed::GapCause::ring_full);
    lost.play(*published.books[2]);
    const auto few = drain(once.get());
    ASSERT_EQ(few.size(), 3U);
    EXPECT_EQ(std::ranges::count(few, 0, &pinstrike_record::core), 2);
    EXPECT_EQ(std::ranges::count(few, 2, &pinstrike_record::core), 1);
    EXPECT_EQ(drain(each.get()).size(), 7U);
}

TEST(Streams, state_that_changes_without_an_event_is_read_again) {
    const PublishFolder folder;
    PublishedFeed published;
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    pinstrike_core& core = published.file->core(0).core();
    core.tail_stamp += PINSTRIKE_STAMP_PLACE;
    const auto got = drain(stream.get());
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].kind, PINSTRIKE_RENEWED);
}

/// An event of a later millisecond states the time anew, so the stamp alone hides the change.
TEST(Streams, a_change_without_an_event_is_found_behind_later_events) {
    CoreShape shape{.series = 4, .slots = 64, .stream_records = 64};
    const CoreMemory memory{shape};
    const auto* const bytes = reinterpret_cast<const std::byte*>(&memory.core());
    const reader::CoreView view = reader::view_core({bytes, CoreMemory::bytes_for(shape)}, 0, 0);
    StreamWriter writer{memory};
    StampClock clock;
    const auto write = [&](std::int64_t ms) {
        feed::Event event{};
        event.header.kind = feed::EventKind::quote;
        event.header.records = 1;
        event.header.ts_receive_ns = Day::start_ns + ms * 1'000'000;
        clock.next(event.header.ts_receive_ns);
        writer.append(std::span{&event, 1}, clock);
    };
    write(0);
    reader::Patience patience;
    reader::Tail tail;
    ASSERT_TRUE(reader::read_tail(view, patience, tail));
    reader::CoreCursor cursor{view};
    cursor.start(tail);
    clock.skip();
    writer.append({}, clock);
    write(5);
    ASSERT_EQ(cursor.load(), reader::CoreCursor::State::event);
    std::size_t taken = 0;
    cursor.take([&](const feed::Event&, std::uint64_t) { return ++taken != 0; });
    EXPECT_EQ(taken, 1U);
    EXPECT_EQ(cursor.load(), reader::CoreCursor::State::diverged);
}

/// A series gets its id some time after its first event.
TEST(Streams, with_ids_include_a_series_that_gets_its_id_later) {
    const PublishFolder folder;
    PublishedFeed published;
    const FeedHandle feed = open_test_feed();
    const std::uint32_t ids[] = {1};
    pinstrike_filter filter{};
    filter.ids = ids;
    filter.ids_count = 1;
    const StreamHandle stream = subscribe(feed.get(), &filter);
    const auto quote = [&](std::uint32_t sequence) {
        Events events;
        events.quote(key_of("SPY", 'A'), 1, sequence);
        events.stamp(sequence * second_ns);
        events.play(*published.books[0]);
    };
    quote(10);
    EXPECT_TRUE(drain(stream.get()).empty());
    published.file->give_ids();
    quote(11);
    std::vector<pinstrike_record> one(1);
    ASSERT_EQ(pinstrike_poll(stream.get(), one.data(), 1), 1);
    EXPECT_EQ(one[0].kind, PINSTRIKE_STATE);
    const auto state = snapshot_of(stream.get());
    ASSERT_EQ(state.size(), 1U);
    EXPECT_EQ(state[0].key.id, 1U);
    EXPECT_EQ(state[0].quotes, 2U);
    quote(12);
    const auto got = drain(stream.get());
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].key.id, 1U);
}

TEST(Streams, state_the_id_of_a_series_soon_after_it_has_one) {
    const PublishFolder folder;
    PublishedFeed published;
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    const auto id_of_quote_at = [&](std::int64_t ts_ns) {
        Events events;
        events.quote(key_of("SPY", 'A'), 1, 10);
        events.stamp(ts_ns);
        events.play(*published.books[0]);
        return drain(stream.get()).at(0).key.id;
    };
    EXPECT_EQ(id_of_quote_at(second_ns), 0U);
    published.file->give_ids();
    EXPECT_EQ(id_of_quote_at(2 * second_ns), 1U);
}

TEST(Streams, text_of_several_records_comes_whole) {
    const PublishFolder folder;
    PublishedFeed published;
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    std::vector<feed::Event> records(3, feed::Event{});
    const std::string text = "a text that is longer than the thirty bytes of its first record";
    records[0].header.kind = feed::EventKind::text;
    records[0].header.records = 3;
    records[0].body.text.length_bytes = static_cast<std::uint16_t>(text.size());
    constexpr std::size_t first = feed::Text::first_bytes;
    std::copy_n(text.begin(), first, records[0].body.text.text);
    std::copy(text.begin() + first, text.end(), reinterpret_cast<char*>(&records[1]));
    published.books[0]->on_events(EventBatch{records});
    const auto got = drain(stream.get());
    ASSERT_EQ(got.size(), 1U);
    // The text is valid until the next call, and drain() called again.
    std::vector<pinstrike_record> again(1);
    published.books[0]->on_events(EventBatch{records});
    ASSERT_EQ(pinstrike_poll(stream.get(), again.data(), 1), 1);
    EXPECT_EQ((std::string{again[0].of.text.text, again[0].of.text.bytes}), text);
}

TEST(Streams, a_waiting_reader_is_woken_by_an_event_and_by_the_end) {
    const PublishFolder folder;
    PublishedFeed published;
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000), 0);
    Events events;
    events.quote(key_of("SPY"), 1, 1);
    events.play(*published.books[0]);
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000'000), 1);
    EXPECT_EQ(drain(stream.get()).size(), 1U);
    published.file.reset();
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000'000), -1);
}

/// Roots, strikes and expirations of a chain, as text.
std::string keys_of(const std::vector<pinstrike_value>& values) {
    std::string text;
    for (const pinstrike_value& value : values) {
        text += std::string{value.key.root} + ' ' + std::to_string(value.key.expiration) + ' ' +
                std::to_string(value.key.strike_e8 / 100'000'000) + value.key.right +
                (value.key.gth != 0 ? "G" : "") + '\n';
    }
    return text;
}

class Chains : public testing::Test {
  protected:
    Chains() {
        Events events;
        std::uint32_t sequence = 0;
        for (const char* root : {"SPXW", "SPX", "AAPL"}) {
            for (const unsigned day : {18U, 16U}) {
                for (const char letter : {'M', 'A'}) {
                    for (const std::int64_t strike : {110, 100}) {
                        events.quote(key_of(root, letter, day, 27, strike * 100'000'000), 1,
                                     ++sequence);
                    }
                }
            }
        }
        events.quote(key_of("SPX", 'A', 16, 27, 100'00000000, true), 1, ++sequence);
        events.play(*published_.books[0]);
    }

    const PublishFolder folder_;
    PublishedFeed published_;
    FeedHandle feed_ = open_test_feed();
};

TEST_F(Chains, are_sorted_by_root_expiration_strike_right_and_session) {
    const char* const roots[] = {"SPXW", "SPX"};
    pinstrike_filter filter{};
    filter.roots = roots;
    filter.roots_count = 2;
    filter.expiration_to = 20270117;
    EXPECT_EQ(keys_of(chain_of(feed_.get(), &filter)),
              "SPX 20270116 100C\nSPX 20270116 100CG\nSPX 20270116 100P\n"
              "SPX 20270116 110C\nSPX 20270116 110P\n"
              "SPXW 20270116 100C\nSPXW 20270116 100P\nSPXW 20270116 110C\nSPXW 20270116 110P\n");
    EXPECT_EQ(chain_of(feed_.get()).size(), 25U);
}

TEST_F(Chains, are_filtered) {
    pinstrike_filter filter{};
    filter.strike_from_e8 = filter.strike_to_e8 = 110'00000000;
    filter.right = 'P';
    filter.expiration_from = 20270117;
    EXPECT_EQ(keys_of(chain_of(feed_.get(), &filter)),
              "AAPL 20270118 110P\nSPX 20270118 110P\nSPXW 20270118 110P\n");
    filter = {};
    filter.session = 'G';
    EXPECT_EQ(chain_of(feed_.get(), &filter).size(), 1U);
    filter.right = 'X';
    EXPECT_EQ(pinstrike_chain(feed_.get(), &filter, nullptr, 0), -1);
    const std::uint32_t ids[] = {7};
    filter = {};
    filter.ids = ids;
    filter.ids_count = 1;
    EXPECT_TRUE(chain_of(feed_.get(), &filter).empty());
    const CoreMemory memory = published_.file->core(0);
    memory.span<pinstrike_series>(memory.core().series)[3].id = 7;
    const auto found = chain_of(feed_.get(), &filter);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].key.id, 7U);
}

TEST_F(Chains, follow_series_that_come_and_go) {
    const char* const roots[] = {"SPX"};
    pinstrike_filter filter{};
    filter.roots = roots;
    filter.roots_count = 1;
    EXPECT_EQ(chain_of(feed_.get(), &filter).size(), 9U);
    Events events;
    events.quote(key_of("SPX", 'B'), 2, 1);
    events.play(*published_.books[0]);
    EXPECT_EQ(chain_of(feed_.get(), &filter).size(), 10U);
    events.control(1, 0, feed::Forget::day);
    events.play(*published_.books[0]);
    EXPECT_EQ(chain_of(feed_.get(), &filter).size(), 1U);
    published_.show_life();  // removes the entries
    EXPECT_EQ(chain_of(feed_.get(), &filter).size(), 1U);
    events.quote(key_of("SPX", 'C'), 1, 1);
    events.play(*published_.books[0]);
    EXPECT_EQ(chain_of(feed_.get(), &filter).size(), 2U);
}

TEST_F(Chains, have_announced_series_if_asked) {
    const char* const roots[] = {"QQQ"};
    pinstrike_filter filter{};
    filter.roots = roots;
    filter.roots_count = 1;
    Events events;
    events.series_map(key_of("QQQ", 'A'), 3, 1);
    events.play(*published_.books[0]);
    EXPECT_TRUE(chain_of(feed_.get(), &filter).empty());
    EXPECT_TRUE(snapshot_of(subscribe(feed_.get(), &filter).get()).empty());
    filter.announced = 1;
    const auto chain = chain_of(feed_.get(), &filter);
    for (const auto& found : {chain, snapshot_of(subscribe(feed_.get(), &filter).get())}) {
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found[0].line, 3);
        EXPECT_EQ(found[0].old, PINSTRIKE_CURRENT);
        EXPECT_EQ(found[0].quotes, 0U);
        EXPECT_EQ(found[0].bid.state, PINSTRIKE_SIDE_UNKNOWN);
    }
    events.quote(key_of("QQQ", 'A'), 3, 2);
    events.play(*published_.books[0]);
    EXPECT_EQ(chain_of(feed_.get(), &filter).at(0).quotes, 1U);
    events.control(3, 0, feed::Forget::day);
    events.play(*published_.books[0]);
    EXPECT_EQ(chain_of(feed_.get(), &filter).at(0).quotes, 0U) << "of the day before";
}

// No message has a symbol of zeros, which marks an empty slot in the table of roots.
TEST_F(Chains, a_root_of_zeros_takes_no_list_of_another_root) {
    feed::SeriesKey key = key_of("SPX", 'C');
    key.name &= ~feed::SeriesKey::symbol_mask;
    Events events;
    events.quote(key, 1, 100);
    for (const char* root : {"SPX", "QQQ", "IBM", "T", "F"}) {
        events.quote(key_of(root, 'D'), 1, 101);
    }
    events.play(*published_.books[0]);
    EXPECT_EQ(chain_of(feed_.get()).size(), 30U);
    for (const pinstrike_value& value : chain_of(feed_.get())) {
        EXPECT_NE(value.key.root[0], 0);
    }
}

TEST_F(Chains, state_when_a_series_changed) {
    Events events;
    events.quote(key_of("QQQ"), 1, 100);
    events.stamp(Day::start_ns + 123'456'789);
    events.play(*published_.books[0]);
    events.quote(key_of("IWM"), 1, 101);
    events.stamp(Day::start_ns + 3'000'000'000);
    events.play(*published_.books[0]);
    const char* const roots[] = {"QQQ"};
    pinstrike_filter filter{};
    filter.roots = roots;
    filter.roots_count = 1;
    const auto found = chain_of(feed_.get(), &filter);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].changed_ns, Day::start_ns + 123'000'000);
}

TEST_F(Chains, say_what_is_published) {
    char names[16];
    EXPECT_EQ(pinstrike_feeds(names, sizeof names), 4U);
    EXPECT_STREQ(names, "test");
    EXPECT_STREQ(pinstrike_name(feed_.get()), "test");
    EXPECT_EQ(pinstrike_trade_date(feed_.get()), 20261127U);
    EXPECT_EQ(pinstrike_start_ns(feed_.get()), published_.file->start_ns());
    EXPECT_EQ(pinstrike_open("other"), nullptr);
    EXPECT_STREQ(pinstrike_error(), "no feed \"other\" is published on this host");
    EXPECT_EQ(pinstrike_open("../test"), nullptr);
}

}  // namespace
}  // namespace pinstrike::actors::test
