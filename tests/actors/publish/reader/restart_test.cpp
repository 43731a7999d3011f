// path: cold
//
// Readers of a feed that ends, dies, stands still, or starts again.
#include "actors/publish/bbo_rules.h"
#include "tests/actors/publish/published.h"
#include "tests/actors/publish/reader/reading.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::actors::test {
namespace {

/// Longer than a test stands still on a busy machine.
constexpr std::int64_t hour_ns = 3600LL * 1'000'000'000;

void quote(Book& book, const feed::SeriesKey& key, std::uint32_t sequence, std::int32_t bid = 100) {
    Events events;
    events.quote(key, 1, sequence, {.bid = bid});
    events.play(book);
}

/// Publishes the feed in a process of its own, and kills it at the end of `body`.
void publish_and_die(const std::function<void(PublishedFeed&)>& body) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        auto* const published = new PublishedFeed;
        body(*published);
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(Restarts, a_feed_that_ends_and_starts_again_is_followed) {
    const PublishFolder folder;
    auto published = std::make_unique<PublishedFeed>();
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    published->file->core(0).core().alive_ns += hour_ns;
    EXPECT_EQ(pinstrike_condition_of(feed.get()), PINSTRIKE_FEED_LIVE);
    quote(*published->books[0], key_of("SPY"), 1);
    published.reset();
    EXPECT_EQ(pinstrike_condition_of(feed.get()), PINSTRIKE_FEED_ENDED);
    EXPECT_EQ(drain(stream.get()).size(), 1U);
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000), -1);
    EXPECT_EQ(pinstrike_reattach(feed.get()), 0);
    const auto old = chain_of(feed.get());
    ASSERT_EQ(old.size(), 1U);
    EXPECT_EQ(old[0].old, PINSTRIKE_OLD);

    published = std::make_unique<PublishedFeed>();
    quote(*published->books[0], key_of("SPY"), 1, 77);
    quote(*published->books[0], key_of("QQQ"), 2);
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000), 1);
    const auto got = drain(stream.get());
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].kind, PINSTRIKE_RESTARTED);
    EXPECT_EQ(snapshot_of(stream.get()).size(), 2U);
    const auto fresh = chain_of(feed.get());
    ASSERT_EQ(fresh.size(), 2U);
    EXPECT_EQ(fresh[1].old, PINSTRIKE_CURRENT);
    EXPECT_EQ(fresh[1].bid.price, 77);
    quote(*published->books[0], key_of("SPY"), 3);
    EXPECT_EQ(drain(stream.get()).size(), 1U);
}

TEST(Restarts, a_newer_start_that_cannot_be_read_is_an_error_and_old_values_stay) {
    const PublishFolder folder;
    auto published = std::make_unique<PublishedFeed>();
    quote(*published->books[0], key_of("SPY"), 1);
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    published.reset();
    EXPECT_EQ(pinstrike_reattach(feed.get()), 0);
    const std::string link = folder.path() + "/test";
    std::filesystem::remove(link);
    std::ofstream{folder.path() + "/other_layout"} << std::string(100'000, 'x');
    std::filesystem::create_symlink("other_layout", link);

    EXPECT_EQ(pinstrike_reattach(feed.get()), -1);
    EXPECT_NE(std::string{pinstrike_error()}.find("other_layout"), std::string::npos);
    const auto old = chain_of(feed.get());
    ASSERT_EQ(old.size(), 1U);
    EXPECT_EQ(old[0].old, PINSTRIKE_OLD);
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000), -2);
    pinstrike_record record;
    ::usleep(50'000);  // a stream looks for another start at most every 20 ms
    EXPECT_EQ(pinstrike_poll(stream.get(), &record, 1), -1);

    std::filesystem::remove(link);
    EXPECT_EQ(pinstrike_reattach(feed.get()), 0);
    published = std::make_unique<PublishedFeed>();
    EXPECT_EQ(pinstrike_reattach(feed.get()), 1);
}

/// A reader may lock the file for reading, as anybody who can open it.
TEST(Restarts, a_lock_of_a_reader_neither_keeps_a_feed_alive_nor_stops_a_start) {
    const PublishFolder folder;
    auto published = std::make_unique<PublishedFeed>(1, 4096, true);
    const FeedHandle feed = open_test_feed();
    const int file = ::open((folder.path() + "/test").c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(file, 0);
    published.reset();

    struct flock lock {};

    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    ASSERT_EQ(::fcntl(file, F_OFD_SETLK, &lock), 0);
    EXPECT_EQ(pinstrike_condition_of(feed.get()), PINSTRIKE_FEED_ENDED);
    published = std::make_unique<PublishedFeed>();  // expects that it can publish
    EXPECT_EQ(pinstrike_reattach(feed.get()), 1);
    ::close(file);
}

TEST(Restarts, a_second_start_under_a_name_is_refused_before_the_first_has_a_link) {
    const PublishFolder folder;
    const int lock_file =
        ::open((folder.path() + "/.test.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_GE(lock_file, 0);

    struct flock lock {};

    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    ASSERT_EQ(::fcntl(lock_file, F_OFD_SETLK, &lock), 0);
    MemoryPlan plan{.feed = "test", .cores = {"core0"}, .nodes = {}, .shape = {.series = 4}};
    Problems problems;
    EXPECT_EQ(MemoryFile::make(plan, problems), nullptr);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems[0].text.find("another process publishes as test"), std::string::npos);
    ::close(lock_file);
}

TEST(Restarts, names_that_readers_refuse_are_not_published) {
    const PublishFolder folder;
    for (const std::string& name :
         {std::string{}, std::string{".x"}, std::string{"a/b"}, std::string(32, 'x')}) {
        MemoryPlan plan{.feed = name, .cores = {"core0"}, .nodes = {}, .shape = {.series = 4}};
        Problems problems;
        EXPECT_EQ(MemoryFile::make(plan, problems), nullptr) << name;
        EXPECT_EQ(problems.size(), 1U);
        EXPECT_FALSE(forget_memory(name, problems));
        EXPECT_EQ(pinstrike_open(name.c_str()), nullptr);
    }
}

TEST(Restarts, a_stream_of_a_dead_feed_begins_with_old_values) {
    const PublishFolder folder;
    publish_and_die([](PublishedFeed& published) { quote(*published.books[0], key_of("SPY"), 1); });
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    const auto state = snapshot_of(stream.get());
    ASSERT_EQ(state.size(), 1U);
    EXPECT_EQ(state[0].old, PINSTRIKE_OLD);
}

TEST(Restarts, a_chain_finds_the_new_start_by_itself) {
    const PublishFolder folder;
    publish_and_die([](PublishedFeed& published) { quote(*published.books[0], key_of("SPY"), 1); });
    const FeedHandle feed = open_test_feed();
    EXPECT_EQ(chain_of(feed.get()).at(0).old, PINSTRIKE_OLD);
    PublishedFeed again;
    quote(*again.books[0], key_of("SPY"), 1, 77);
    const auto values = chain_of(feed.get());
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(values[0].old, PINSTRIKE_CURRENT);
    EXPECT_EQ(values[0].bid.price, 77);
}

TEST(Restarts, a_stream_waits_for_ever_if_the_user_wants_it) {
    const PublishFolder folder;
    PublishedFeed published;
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    std::thread writer{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        quote(*published.books[0], key_of("SPY"), 1);
    }};
    EXPECT_EQ(pinstrike_wait(stream.get(), std::numeric_limits<std::int64_t>::max()), 1);
    writer.join();
    EXPECT_EQ(drain(stream.get()).size(), 1U);
}

TEST(Restarts, a_stream_outlives_its_feed) {
    const PublishFolder folder;
    PublishedFeed published;
    FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    feed.reset();
    quote(*published.books[0], key_of("SPY"), 1);
    EXPECT_EQ(drain(stream.get()).size(), 1U);
}

TEST(Restarts, a_killed_writer_is_dead_at_once) {
    const PublishFolder folder;
    publish_and_die([](PublishedFeed& published) { quote(*published.books[0], key_of("SPY"), 1); });
    const FeedHandle feed = open_test_feed();
    EXPECT_EQ(pinstrike_condition_of(feed.get()), PINSTRIKE_FEED_DEAD);
    const auto values = chain_of(feed.get());
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(values[0].old, PINSTRIKE_OLD);
    EXPECT_EQ(values[0].bid.price, 100);
    const StreamHandle stream = subscribe(feed.get());
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000'000), -1);
    const PublishedFeed again;
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000), 1);
}

TEST(Restarts, a_value_that_a_dead_writer_left_half_written_is_not_read) {
    const PublishFolder folder;
    publish_and_die([](PublishedFeed& published) {
        quote(*published.books[0], key_of("SPY"), 1);
        quote(*published.books[0], key_of("QQQ"), 2);
        const CoreMemory memory = published.file->core(0);
        for (BookEntry& entry : memory.span<BookEntry>(memory.core().entries)) {
            if (entry.key() == key_of("SPY")) {
                begin_quote(entry, entry.stamp);
                entry.bid.value = 666;
            }
        }
    });
    const FeedHandle feed = open_test_feed();
    const auto values = chain_of(feed.get());
    ASSERT_EQ(values.size(), 2U);
    EXPECT_STREQ(values[1].key.root, "SPY");
    EXPECT_EQ(values[1].old, PINSTRIKE_UNREADABLE);
    EXPECT_EQ(values[1].bid.price, 0);
    EXPECT_EQ(values[1].bid.present, 0);
    // Both may be in one group, but only the entry of one is marked.
    EXPECT_EQ(values[0].old, PINSTRIKE_OLD);
}

TEST(Restarts, a_stream_that_a_dead_writer_left_half_written_is_no_stream) {
    const PublishFolder folder;
    publish_and_die(
        [](PublishedFeed& published) { ++published.file->core(0).core().tail_version; });
    const FeedHandle feed = open_test_feed();
    EXPECT_EQ(pinstrike_subscribe(feed.get(), nullptr), nullptr);
    EXPECT_NE(std::string{pinstrike_error()}.find("middle of a write"), std::string::npos);
}

TEST(Restarts, each_series_of_a_feed_that_ended_has_an_id) {
    const PublishFolder folder;
    auto published = std::make_unique<PublishedFeed>(2, 4096, true);
    quote(*published->books[0], key_of("SPY"), 1);
    quote(*published->books[1], key_of("QQQ"), 1);
    const FeedHandle feed = open_test_feed();
    EXPECT_EQ(chain_of(feed.get()).at(0).key.id, 0U) << "nobody has called give_ids()";
    published.reset();
    const auto values = chain_of(feed.get());
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].key.id + values[1].key.id, 1U + 2U);
}

/// A writer that is preempted there leaves it for a while, a dead one for ever.
TEST(Restarts, a_stream_waits_while_a_write_is_unfinished) {
    const PublishFolder folder;
    auto published = std::make_unique<PublishedFeed>(1, 64);
    const FeedHandle feed = open_test_feed();
    const StreamHandle stream = subscribe(feed.get());
    for (std::uint32_t number = 1; number <= 100; ++number) {
        quote(*published->books[0], key_of("SPY"), number);
    }
    std::uint64_t* version = &published->file->core(0).core().tail_version;
    ++*version;
    EXPECT_EQ(drain(stream.get()).size(), 0U) << "its state cannot be read again yet";
    ++*version;
    auto got = drain(stream.get());
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].kind, PINSTRIKE_MISSED);
    EXPECT_EQ(got[0].of.missed.last, 99U);
    EXPECT_EQ(snapshot_of(stream.get()).size(), 1U);

    published.reset();
    published = std::make_unique<PublishedFeed>();
    version = &published->file->core(0).core().tail_version;
    ++*version;
    EXPECT_EQ(pinstrike_wait(stream.get(), 0), 0) << "it is not over: a new start is there";
    EXPECT_EQ(drain(stream.get()).size(), 0U);
    ++*version;
    EXPECT_EQ(pinstrike_wait(stream.get(), 1'000'000'000), 1);
    got = drain(stream.get());
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].kind, PINSTRIKE_RESTARTED);
}

TEST(Restarts, a_core_that_stands_still_is_stuck) {
    const PublishFolder folder;
    const PublishedFeed published;
    auto& header = reinterpret_cast<pinstrike_header*>(&published.file->core(0).core())[-1];
    published.file->core(0).core().alive_ns -= 2'000'000'000;
    header.start_ns += hour_ns;
    EXPECT_EQ(pinstrike_condition_of(open_test_feed().get()), PINSTRIKE_FEED_LIVE)
        << "it started just now";
    const FeedHandle later = open_test_feed();
    header.start_ns -= hour_ns + 2'000'000'000;
    EXPECT_EQ(pinstrike_condition_of(open_test_feed().get()), PINSTRIKE_FEED_STUCK);
    header.state = PINSTRIKE_STARTING;
    EXPECT_EQ(pinstrike_condition_of(later.get()), PINSTRIKE_FEED_STARTING);
}

}  // namespace
}  // namespace pinstrike::actors::test
