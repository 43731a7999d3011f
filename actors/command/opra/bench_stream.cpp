// path: cold
//
// `pinstrike bench stream`: measures the stream of events that a feed publishes, and its readers.
#include "actors/bench/published_book.h"
#include "actors/bench/rows.h"
#include "actors/bench/sample_work.h"
#include "actors/command/command.h"
#include "actors/command/opra/generated_events.h"
#include "actors/publish/pinstrike.hpp"
#include "actors/publish/reader/core_cursor.h"
#include "actors/publish/reader/mapping.h"
#include "config/units.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace pinstrike::command {
namespace {

using Records = std::span<const feed::Event>;
using Batches = std::vector<actors::EventBatch>;

constexpr const char* book_feed = "bench";
constexpr const char* ring_feed = "bench-ring";
constexpr double millions = 1e6;
constexpr std::size_t rounds = 8;  ///< through the records, for each figure of the ring

struct BenchStreamArguments {
    BenchStreamArguments() {
        traffic.series_count = 100'000;
        traffic.messages_count = 500'000;
    }

    feed::opra::TrafficConfig traffic;
    std::size_t stream_records = actors::PublishConfig{}.stream_records;
    unsigned runs = 5;
    bool hugepages = false;
    std::optional<unsigned> counted_readers;

    [[nodiscard]] actors::PublishMemory memory() const {
        return hugepages ? actors::PublishMemory::hugetlbfs : actors::PublishMemory::shm;
    }
};

/// Writes records to a stream as a core does, without a book.
class Writer {
  public:
    explicit Writer(actors::PublishedBook& published) : stream_(published.file->core(0)) {}

    void write(actors::EventBatch batch) {
        actors::StampClock::Stamps stamps{clock_};
        for (const feed::Event& event : batch) {
            stamps.next(event.header.ts_receive_ns);
        }
        stamps.end();
        stream_.append(batch.records(), clock_);
    }

  private:
    actors::StampClock clock_;
    actors::StreamWriter stream_;
};

/// Reads records of the ring, without the rest of the library.
class RingReader {
  public:
    RingReader() { start(); }

    /// Continues at the latest record.
    void start() {
        reader::Tail tail;
        reader::Patience patience;
        if (read_tail(cursor_.core(), patience, tail)) {
            cursor_.start(tail);
        }
    }

    /// Reads whatever has come. False: some was overwritten.
    bool read() {
        using State = reader::CoreCursor::State;
        State state = cursor_.load();
        for (; state == State::event; state = cursor_.load()) {
            cursor_.take([this](const feed::Event& event, std::uint64_t stamp) {
                sum_ += event.header.sequence + stamp;
                return true;
            });
        }
        actors::forget_contents(sum_);
        return state != State::overrun;
    }

    [[nodiscard]] std::uint64_t position() const { return cursor_.position(); }

  private:
    std::shared_ptr<const reader::Mapping> mapping_ = reader::Mapping::open(ring_feed);
    reader::CoreCursor cursor_{mapping_->cores().front()};
    std::uint64_t sum_ = 0;
};

/// The batches of records, found before any measurement: a core gets them from its rings.
Batches batches_of(Records records) {
    Batches batches;
    actors::for_each_batch(records, [&](actors::EventBatch batch) { batches.push_back(batch); });
    return batches;
}

/// How many records all rounds have.
std::size_t records_of(const Batches& batches) {
    std::size_t records = 0;
    for (const actors::EventBatch& batch : batches) {
        records += batch.records().size();
    }
    return rounds * records;
}

double rate(const Batches& batches, double seconds) {
    return static_cast<double>(records_of(batches)) / seconds / millions;
}

/// A writer and a reader on two threads. The writer of this benchmark, unlike that of a feed, waits
/// while the reader is half a ring behind, so that each record is read.
double two_threads(Writer& to, std::size_t ring_records, const Batches& batches) {
    RingReader reader;
    const std::uint64_t first = reader.position();
    std::atomic<std::uint64_t> read = 0;  // relaxed: no data depends on it
    std::atomic<bool> done = false;       // release, acquire: with it, all records are written
    const double begin = actors::wall_seconds();
    std::thread writer{[&] {
        std::uint64_t written = 0;
        for (std::size_t round = 0; round < rounds; ++round) {
            for (const actors::EventBatch& batch : batches) {
                while (written - read.load(std::memory_order_relaxed) > ring_records / 2) {
                    __builtin_ia32_pause();
                }
                to.write(batch);
                written += batch.records().size();
            }
        }
        done.store(true, std::memory_order_release);
    }};
    for (bool last = false; !last;) {
        last = done.load(std::memory_order_acquire);
        reader.read();
        read.store(reader.position() - first, std::memory_order_relaxed);
    }
    const double seconds = actors::wall_seconds() - begin;
    writer.join();
    return rate(batches, seconds);
}

/// What a reader's process does. An error ends it here, so that it does not run the parent's code.
[[noreturn]] void read_for_ever() noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with its parent in any case
    for (RingReader reader;;) {
        if (!reader.read()) {
            reader.start();
        }
    }
}

/// The seconds of the writer. A function of its own, so that a tool can count its instructions.
[[gnu::noinline]] double measured_writes(Writer& writer, const Batches& batches) {
    const double begin = actors::thread_seconds();
    for (std::size_t round = 0; round < rounds; ++round) {
        for (const actors::EventBatch& batch : batches) {
            writer.write(batch);
        }
    }
    return actors::thread_seconds() - begin;
}

/// The rate of the writer while `count` other processes read the stream, or are stopped.
double writer_beside(Writer& writer, const Batches& batches, unsigned count, bool stopped) {
    std::vector<pid_t> readers;
    for (unsigned i = 0; i < count; ++i) {
        const pid_t child = ::fork();
        if (child < 0) {
            throw std::system_error(errno, std::generic_category(), "no process for a reader");
        }
        if (child == 0) {
            read_for_ever();
        }
        readers.push_back(child);
    }
    ::usleep(count != 0 ? 20'000 : 0);  // so that they have attached
    for (const pid_t child : readers) {
        ::kill(child, stopped ? SIGSTOP : SIGCONT);
    }
    const double seconds = measured_writes(writer, batches);
    for (const pid_t child : readers) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    return rate(batches, seconds);
}

/// The rate at which a stream takes messages, those of other series included, which a book wrote
/// before. Only the reader's time counts.
double follow(actors::PublishedBook& published, Records records, client::stream& stream) {
    const auto poll = [&] {
        while (!stream.poll().empty()) {
        }
    };
    poll();                                   // what came before
    constexpr unsigned batches_between = 32;  // so that the clock costs little
    double seconds = 0;
    std::size_t messages = 0;
    unsigned batches = 0;
    actors::for_each_batch(records, [&](actors::EventBatch batch) {
        published.book.on_events(batch);
        for (const feed::Event& event : batch) {
            messages += feed::is_line_event(event.header.kind) ? 0U : 1U;
        }
        if (++batches % batches_between != 0) {
            return;
        }
        const double begin = actors::thread_seconds();
        poll();
        seconds += actors::thread_seconds() - begin;
    });
    return static_cast<double>(messages) / seconds / millions;
}

/// The root of a quote from the middle, as text.
std::string some_root(Records records) {
    const feed::Event* at = records.data();
    const feed::Event* const middle = at + records.size() / 2;
    while (at < middle || at->header.kind != feed::EventKind::quote) {
        at += at->header.records;
    }
    const auto bytes = at->body.series.bytes();
    const std::string root{bytes.data(), feed::SeriesKey::symbol_bytes};
    return root.substr(0, root.find(' '));
}

struct Figures {
    std::vector<double> ring, all, one_root, alone, readers, stopped;
};

void print(const Figures& figures) {
    constexpr const char* records_unit = "M records/s";
    constexpr const char* messages_unit = "M messages/s";
    actors::print_row_head();
    actors::print_row("stream: a writer and a reader on two threads", figures.ring, records_unit);
    actors::print_row("stream: a reader of all series", figures.all, messages_unit);
    actors::print_row("stream: a reader of one root, with what it passes over", figures.one_root,
                      messages_unit);
    actors::print_row("stream: the writer, no reader", figures.alone, records_unit);
    actors::print_row("stream: the writer beside 8 readers, of none",
                      actors::ratios(figures.readers, figures.alone), "times");
    actors::print_row("stream: the writer beside a stopped reader, of none",
                      actors::ratios(figures.stopped, figures.alone), "times");
}

/// Empty if the text is a power of two.
std::string power_of_two_error(const std::string& text) {
    const auto value = parse_integer(text);
    return value && *value > 0 && std::has_single_bit(static_cast<std::uint64_t>(*value))
               ? std::string{}
               : "expected a power of two, found " + text;
}

Exit bench_stream(const BenchStreamArguments& given) {
    Problems problems;
    const auto published = actors::PublishedBook::make(
        book_feed, given.memory(), 2 * given.traffic.series_count, given.stream_records, problems);
    const auto ring =
        actors::PublishedBook::make(ring_feed, given.memory(), 64, given.stream_records, problems);
    end_unless(published != nullptr && ring != nullptr, problems);
    const actors::RecordedEvents events = record_events(given.traffic);
    const Records records{events.records};
    const Batches batches = batches_of(records);
    Writer writer{*ring};
    if (given.counted_readers) {
        writer_beside(writer, batches, *given.counted_readers, false);
        fmt::print("{} records written\n", records_of(batches));
        return Exit::ok;
    }
    const std::string root = some_root(records);
    published->apply(records);  // so that all series are there
    published->file->give_ids();
    client::feed feed{book_feed};
    client::filter of_root;
    of_root.roots = {root};
    client::stream all = feed.subscribe();
    client::stream one_root = feed.subscribe(of_root);
    follow(*published, records, all);       // not counted: the pages of the stream
    follow(*published, records, one_root);  // appear in this process
    Figures figures;
    for (unsigned run = 0; run < given.runs; ++run) {
        figures.ring.push_back(two_threads(writer, given.stream_records, batches));
        figures.all.push_back(follow(*published, records, all));
        figures.one_root.push_back(follow(*published, records, one_root));
        figures.alone.push_back(writer_beside(writer, batches, 0, false));
        figures.readers.push_back(writer_beside(writer, batches, 8, false));
        figures.stopped.push_back(writer_beside(writer, batches, 1, true));
    }
    print(figures);
    return Exit::ok;
}

}  // namespace

void add_bench_stream(CLI::App& bench, Outcome& outcome) {
    const auto [command, given] =
        add_command(bench, outcome, "stream",
                    "The stream of events that a feed publishes, and readers", bench_stream);
    command->footer(
        "Publishes generated traffic as `bench` and `bench-ring`, and reads it by libpinstrike.\n"
        "The rates of readers count their own time alone, except that of two threads. Needs\n"
        "two processors without other work.\n"
        "Exit status: 0 success, 1 it failed, 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike bench stream\n"
        "  pinstrike bench stream --series 1500000 --messages 5000000 --hugepages");
    add_number(*command, "--series", given->traffic.series_count, std::size_t{1'000},
               std::size_t{10'000'000}, "Series of the traffic");
    add_number(*command, "--messages", given->traffic.messages_count, std::size_t{10'000},
               std::size_t{1'000'000'000}, "Messages of each run");
    add_number(*command, "--runs", given->runs, 1, 1000,
               "Number of runs; the figures are medians over them");
    command->add_flag("--hugepages", given->hugepages, "Memory of a mounted hugetlbfs");
    command
        ->add_option("--counting", given->counted_readers,
                     "Only the writer once, beside so many readers: to count its instructions")
        ->check(CLI::Range(0, 64));
    command
        ->add_option("--ring", given->stream_records,
                     "Records of the stream's ring, a power of two")
        ->check(CLI::Range(1 << 10, 1 << 24))
        ->check(power_of_two_error);
}

}  // namespace pinstrike::command
