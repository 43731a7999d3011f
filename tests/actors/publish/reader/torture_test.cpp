// path: cold
//
// Readers in processes of their own, which are killed, stopped and started at any moment, while the
// writer dies in the middle of its writes and starts again. No reader sees a torn value, and each
// has every event between a state and the next loss or restart.
#include "actors/publish/memory_file.h"
#include "tests/actors/publish/publish_folder.h"
#include "tests/actors/publish/quote_writer.h"
#include "tests/actors/publish/reader/reading.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace pinstrike::actors::test {
namespace {

constexpr std::uint32_t series_count = 40;  // a batch of all is written by non-temporal stores
constexpr std::size_t stream_records = 4096;

std::vector<feed::SeriesKey> all_keys() {
    std::vector<feed::SeriesKey> keys;
    for (std::int64_t strike = 1; strike <= series_count; ++strike) {
        keys.push_back(test_events::series_of("SPY", strike));
    }
    return keys;
}

/// What all processes share. Relaxed: the figures are independent of each other, and the test
/// reads them after it waited for the processes.
struct Shared {
    std::atomic<bool> end = false;
    std::atomic<std::uint32_t> number = 0;  ///< of the latest quotes
    std::atomic<std::uint64_t> values = 0;
    std::atomic<std::uint64_t> unreadable = 0;
    std::atomic<std::uint64_t> events = 0;
    std::atomic<std::uint64_t> joined = 0;  ///< streams whose first event followed their state
    std::atomic<std::uint64_t> missed = 0;
    std::atomic<std::uint64_t> restarts = 0;
    std::array<char, 256> error{};
};

std::uint64_t random_below(std::mt19937_64& random, std::uint64_t end) {
    return std::uniform_int_distribution<std::uint64_t>{0, end - 1}(random);
}

std::uint64_t points_left;  ///< of the writer's process

/// Kills the writer at one of the points between its steps.
void die_at_a_point(const char*) {
    if (--points_left == 0) {
        ::kill(::getpid(), SIGKILL);
    }
}

/// The writer's process.
[[noreturn]] void write_until_death(Shared& shared, std::uint64_t points) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    MemoryPlan plan{.feed = "test", .cores = {"core0"}, .nodes = {}, .shape = {}};
    plan.shape = {.series = series_count, .slots = 128, .stream_records = stream_records};
    Problems problems;
    const auto file = MemoryFile::make(plan, problems);
    if (file == nullptr) {
        std::snprintf(shared.error.data(), shared.error.size(), "%s",
                      problems.front().text.c_str());
        ::_exit(1);
    }
    QuoteWriter writer{file->core(0)};
    const std::vector<feed::SeriesKey> keys = all_keys();
    for (const feed::SeriesKey& key : keys) {
        writer.insert(key);
    }
    std::uint32_t number = shared.number.load(std::memory_order_relaxed) + 1;
    writer.quote(keys, number);
    file->set_live();
    points_left = points;
    weave_point = die_at_a_point;
    for (;;) {
        shared.number.store(++number, std::memory_order_relaxed);
        if (number % 2 == 0) {
            writer.quote(keys, number);
        } else {
            for (const feed::SeriesKey& key : keys) {
                writer.quote(key, number);
            }
        }
        file->wake_readers();
        file->give_ids();
    }
}

/// One of the readers' processes.
class Reader {
  public:
    Reader(Shared& shared, std::uint64_t seed) : shared_(shared), random_(seed) {}

    [[noreturn]] void read_until_end() {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (!shared_.end.load(std::memory_order_relaxed)) {
            const FeedHandle feed{pinstrike_open("test")};
            if (feed == nullptr || pinstrike_condition_of(feed.get()) == PINSTRIKE_FEED_STARTING) {
                ::usleep(1'000);
                continue;
            }
            for (unsigned i = 0; i < 20 && !has_ended(); ++i) {
                random_below(random_, 2) == 0 ? read_chains(feed.get()) : follow(feed.get());
            }
        }
        ::_exit(0);
    }

  private:
    [[nodiscard]] bool has_ended() const { return shared_.end.load(std::memory_order_relaxed); }

    void expect(bool good, const char* what, std::uint64_t found, std::uint64_t wanted) {
        if (!good) {
            std::snprintf(
                shared_.error.data(), shared_.error.size(), "%s: found %llu, expected %llu", what,
                static_cast<unsigned long long>(found), static_cast<unsigned long long>(wanted));
            ::_exit(1);
        }
    }

    /// The number of a value, unless the writer was in a write.
    std::optional<std::uint32_t> number_of(const pinstrike_value& value) {
        if (value.old == PINSTRIKE_UNREADABLE) {
            shared_.unreadable.fetch_add(1, std::memory_order_relaxed);
            return {};
        }
        const std::uint32_t number = value.bid.sequence;
        for (const pinstrike_best& side : {value.bid, value.offer}) {
            expect(side.sequence == number, "sequence of a value", side.sequence, number);
            expect(side.size == number, "size of a value", side.size, number);
            expect(side.price == static_cast<std::int64_t>(number), "price of a value",
                   static_cast<std::uint64_t>(side.price), number);
        }
        shared_.values.fetch_add(1, std::memory_order_relaxed);
        return number;
    }

    /// Values are those of a moment, and none is older than one that was read before.
    void read_chains(pinstrike_feed* feed) {
        std::vector<pinstrike_value> values(series_count);
        std::array<std::uint32_t, series_count + 1> newest{};
        for (unsigned i = 0; i < 200 && !has_ended(); ++i) {
            const ptrdiff_t count = pinstrike_chain(feed, nullptr, values.data(), values.size());
            expect(count == series_count, "series of a chain", static_cast<std::uint64_t>(count),
                   series_count);
            for (const pinstrike_value& value : values) {
                if (const auto number = number_of(value)) {
                    std::uint32_t& before =
                        newest.at(static_cast<std::size_t>(value.key.strike_e8));
                    expect(*number >= before, "a later value", *number, before);
                    before = *number;
                }
            }
        }
    }

    /// The state with which a stream began or goes on; a value of 0 is not known.
    void take_state(pinstrike_stream* stream) {
        for (const pinstrike_value& value : snapshot_of(stream)) {
            latest_.at(static_cast<std::size_t>(value.key.strike_e8)) =
                number_of(value).value_or(0);
        }
    }

    void follow(pinstrike_feed* feed) {
        const StreamHandle stream{pinstrike_subscribe(feed, nullptr)};
        if (stream == nullptr) {  // a dead writer left the stream half written
            ::usleep(1'000);
            return;
        }
        latest_ = {};
        joins_ = true;
        take_state(stream.get());
        std::vector<pinstrike_record> records(100);
        for (unsigned i = 0; i < 2'000 && !has_ended(); ++i) {
            const ptrdiff_t count =
                pinstrike_poll(stream.get(), records.data(), 1 + random_below(random_, 100));
            expect(count >= 0, pinstrike_error(), 0, 0);
            for (ptrdiff_t at = 0; at < count; ++at) {
                take(stream.get(), records[static_cast<std::size_t>(at)]);
            }
            if (count == 0) {
                pinstrike_wait(stream.get(), 1'000'000);
            }
        }
    }

    void take(pinstrike_stream* stream, const pinstrike_record& record) {
        if (record.kind == PINSTRIKE_QUOTE) {
            return take_quote(record);
        }
        const bool restarted = record.kind == PINSTRIKE_RESTARTED;
        const bool missed = record.kind == PINSTRIKE_MISSED;
        expect(restarted || missed || record.kind == PINSTRIKE_STATE, "kind of a record",
               record.kind, PINSTRIKE_QUOTE);
        shared_.restarts.fetch_add(restarted ? 1 : 0, std::memory_order_relaxed);
        shared_.missed.fetch_add(missed ? 1 : 0, std::memory_order_relaxed);
        if (restarted || missed) {
            latest_ = {};
        }
        take_state(stream);
    }

    void take_quote(const pinstrike_record& record) {
        std::uint32_t& latest = latest_.at(static_cast<std::size_t>(record.key.strike_e8));
        const auto number = static_cast<std::uint32_t>(record.sequence);
        expect(latest == 0 || number == latest + 1, "number of an event", number, latest + 1);
        for (const std::uint64_t part : {static_cast<std::uint64_t>(record.of.quote.bid),
                                         std::uint64_t{record.of.quote.bid_size},
                                         static_cast<std::uint64_t>(record.of.quote.offer),
                                         std::uint64_t{record.of.quote.offer_size},
                                         static_cast<std::uint64_t>(record.bid.price)}) {
            expect(part == number, "a part of an event", part, number);
        }
        shared_.joined.fetch_add(joins_ && latest != 0 ? 1 : 0, std::memory_order_relaxed);
        joins_ = false;
        latest = number;
        shared_.events.fetch_add(1, std::memory_order_relaxed);
    }

    Shared& shared_;
    std::mt19937_64 random_;
    std::array<std::uint32_t, series_count + 1> latest_{};
    bool joins_ = false;
};

/// The processes, and what happens to them.
class Torture {
  public:
    explicit Torture(std::uint64_t seed) : random_(seed), shared_(map_shared()) {}

    ~Torture() {
        for (const pid_t process : {writer_, readers_[0], readers_[1], readers_[2]}) {
            if (process > 0) {
                ::kill(process, SIGKILL);
                ::waitpid(process, nullptr, 0);
            }
        }
        ::munmap(shared_, sizeof(Shared));
    }

    Torture(const Torture&) = delete;
    Torture& operator=(const Torture&) = delete;

    void step() {
        ::usleep(static_cast<useconds_t>(random_below(random_, 10'000)));
        if (writer_ == 0 || ::waitpid(writer_, nullptr, WNOHANG) == writer_) {
            const std::uint64_t points = 1 + random_below(random_, 200'000);
            writer_ = fork([&] { write_until_death(*shared_, points); });
            ++starts;
        }
        pid_t& reader = readers_.at(random_below(random_, readers_.size()));
        const std::uint64_t what = random_below(random_, 8);
        if (reader != 0 && what == 0) {
            ::kill(reader, SIGKILL);
            ::waitpid(reader, nullptr, 0);
            reader = 0;
            ++kills;
        }
        if (reader == 0) {
            const std::uint64_t seed = random_();
            reader = fork([&] { Reader{*shared_, seed}.read_until_end(); });
        }
        ::kill(reader, what == 1 ? SIGSTOP : SIGCONT);
        ASSERT_NE(::waitpid(reader, nullptr, WNOHANG), reader) << error();
    }

    /// All readers end by themselves.
    void end() {
        shared_->end.store(true, std::memory_order_relaxed);
        for (pid_t& reader : readers_) {
            if (reader == 0) {
                continue;
            }
            int status = -1;
            ::kill(reader, SIGCONT);
            ASSERT_EQ(::waitpid(reader, &status, 0), reader);
            reader = 0;
            ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << error();
        }
    }

    [[nodiscard]] const Shared& shared() const { return *shared_; }

    /// Whether each kind of check was made at least once.
    [[nodiscard]] bool has_seen_all() const {
        return starts > 1 && shared_->values != 0 && shared_->events != 0 && shared_->joined != 0;
    }

    [[nodiscard]] std::string error() const { return shared_->error.data(); }

    unsigned starts = 0;
    unsigned kills = 0;

  private:
    static Shared* map_shared() {
        void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(memory, MAP_FAILED);
        return new (memory) Shared;
    }

    template <class Body>
    static pid_t fork(Body&& body) {
        const pid_t child = ::fork();
        EXPECT_GE(child, 0);
        if (child == 0) {
            body();
        }
        return child;
    }

    std::mt19937_64 random_;
    Shared* shared_;
    pid_t writer_ = 0;
    std::array<pid_t, 3> readers_{};
};

/// PINSTRIKE_TORTURE_SECONDS asks for more than the quick suite has time for.
std::chrono::seconds torture_time() {
    const char* const text = std::getenv("PINSTRIKE_TORTURE_SECONDS");
    return std::chrono::seconds{text == nullptr ? 3 : std::atoi(text)};
}

TEST(Torture, readers_and_writers_that_die_leave_no_wrong_value) {
    const PublishFolder folder;
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Torture torture{seed};
    const auto end = std::chrono::steady_clock::now() + torture_time();
    const auto latest_end = end + std::chrono::minutes{1};  // on a slow machine
    const auto is_before = [](auto moment) { return std::chrono::steady_clock::now() < moment; };
    while (is_before(end) || (!torture.has_seen_all() && is_before(latest_end))) {
        ASSERT_NO_FATAL_FAILURE(torture.step());
    }
    torture.end();
    const Shared& shared = torture.shared();
    std::printf(
        "%u starts of the writer, %u readers killed, %llu values read, %llu unreadable, "
        "%llu events, %llu streams joined, %llu times missed, %llu restarts noticed\n",
        torture.starts, torture.kills, static_cast<unsigned long long>(shared.values),
        static_cast<unsigned long long>(shared.unreadable),
        static_cast<unsigned long long>(shared.events),
        static_cast<unsigned long long>(shared.joined),
        static_cast<unsigned long long>(shared.missed),
        static_cast<unsigned long long>(shared.restarts));
    EXPECT_EQ(torture.error(), "");
    EXPECT_TRUE(torture.has_seen_all());
}

}  // namespace
}  // namespace pinstrike::actors::test
