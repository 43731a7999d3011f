// path: cold
//
// `pinstrike bench state`: measures what it costs a book to be published, and how fast readers get
// the state of series.
#include "actors/bench/published_book.h"
#include "actors/bench/rows.h"
#include "actors/command/command.h"
#include "actors/publish/pinstrike.h"

#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::command {
namespace {

using Records = std::span<const feed::Event>;

constexpr const char* feed_name = "bench";
constexpr std::uint32_t chain_series = 5'000;
constexpr std::size_t quotes_count = 1 << 18;

struct BenchStateArguments {
    std::uint32_t series = 200'000;
    std::size_t reads = 2'000'000;
    unsigned runs = 5;
    bool hugepages = false;
};

/// The first 5,000 series are of the root CHAIN, each 300 of the others of one root.
feed::SeriesKey key_of(std::uint32_t index) {
    std::array<char, 8> bytes{'C', 'H', 'A', 'I', 'N', 0, 0, 27};
    if (index >= chain_series) {
        std::uint32_t root = index / 300;
        for (std::size_t at = 0; at < 4; ++at, root /= 26) {
            bytes[at] = static_cast<char>('A' + root % 26);
        }
        bytes[4] = ' ';
    }
    bytes[5] = static_cast<char>('A' + index % 24);
    bytes[6] = static_cast<char>(1 + index / 24 % 28);
    return {std::bit_cast<std::uint64_t>(bytes), std::int64_t{1 + index} * 50'000'000};
}

/// A quote whose values all follow from its number.
feed::Event quote_of(std::uint32_t series, std::uint32_t number) {
    feed::Event event{};
    event.header.kind = feed::EventKind::quote;
    event.header.line = static_cast<std::uint16_t>(1 + series / 300 % 96);
    event.header.sequence = number;
    event.header.participant = 'C';
    event.header.code = 'B';
    event.header.indicator = 'F';
    event.header.ts_receive_ns = 1'795'000'000'000'000'000;
    const auto price = static_cast<std::int32_t>(number);
    event.body.quote = {key_of(series), price, number + 1, price + 2, number + 3};
    return event;
}

bool is_torn(const pinstrike_value& value) {
    const auto number = static_cast<std::uint32_t>(value.bid.price);
    const bool whole = value.bid.size == number + 1 && value.bid.sequence == number &&
                       value.offer.price == value.bid.price + 2 && value.offer.size == number + 3 &&
                       value.offer.sequence == number;
    return value.old == PINSTRIKE_CURRENT && !whole;
}

/// Quotes of the first `series` series: each once, or in a random order.
std::vector<feed::Event> quotes_of(std::uint32_t series, bool once) {
    std::mt19937 random{1};
    std::vector<feed::Event> quotes;
    for (std::uint32_t i = 0; i < (once ? series : quotes_count); ++i) {
        quotes.push_back(quote_of(once ? i : static_cast<std::uint32_t>(random() % series), i));
    }
    return quotes;
}

/// Millions of quotes per second.
double book_rate(actors::Book& book, Records quotes) {
    const double begin = actors::thread_seconds();
    actors::for_each_batch(quotes, [&](actors::EventBatch batch) { book.on_events(batch); });
    return static_cast<double>(quotes.size()) / (actors::thread_seconds() - begin) / 1e6;
}

/// The book's rate with private memory, and of this with its table published, and with table and
/// stream. The three take turns.
void bench_book(const BenchStateArguments& given, actors::PublishedBook& with_stream,
                actors::PublishedBook& table_only, Records every, Records quotes) {
    const auto own = std::make_unique<actors::Book>(
        actors::BookConfig{.series_capacity = 3 * std::size_t{given.series} / 2}, 1);
    own->on_start({});
    constexpr unsigned turns = 6;  ///< in each run, so that many are compared
    std::array<actors::Book*, 3> books{own.get(), &table_only.book, &with_stream.book};
    std::array<std::vector<double>, 3> rates;
    for (actors::Book* const book : books) {
        book_rate(*book, every);
    }
    for (unsigned turn = 0; turn < given.runs * turns; ++turn) {
        for (std::size_t i = 0; i < books.size(); ++i) {
            rates[i].push_back(book_rate(*books[i], quotes));
        }
    }
    actors::print_row("state: book in private memory", rates[0], "M quotes/s");
    actors::print_row("state: book, table published, of private memory",
                      actors::ratios(rates[1], rates[0]), "times");
    actors::print_row("state: book, table and stream published, of private",
                      actors::ratios(rates[2], rates[0]), "times");
}

/// Of the series of the root CHAIN.
pinstrike_filter chain_filter() {
    static constexpr const char* root = "CHAIN";
    pinstrike_filter filter{};
    filter.roots = &root;
    filter.roots_count = 1;
    return filter;
}

struct CloseFeed {
    void operator()(pinstrike_feed* feed) const { pinstrike_close(feed); }
};

/// Reads the chain again and again, until `reads` series were read, while the book applies quotes.
/// Returns how many values were torn.
std::size_t bench_chain(const std::string& what, std::size_t reads,
                        actors::PublishedBook& published, Records quotes) {
    std::atomic<bool> stop = false;  // both relaxed: no data depends on them
    std::atomic<std::uint64_t> applied = 0;
    std::thread writer{[&] {
        while (!stop.load(std::memory_order_relaxed) && !quotes.empty()) {
            published.apply(quotes);
            applied.fetch_add(quotes.size(), std::memory_order_relaxed);
        }
    }};
    const std::unique_ptr<pinstrike_feed, CloseFeed> feed{pinstrike_open(feed_name)};
    const pinstrike_filter filter = chain_filter();
    std::vector<pinstrike_value> values(chain_series);
    std::vector<double> times;
    std::size_t torn = 0;
    const double first = actors::wall_seconds();
    for (std::size_t read = 0; read < reads; read += values.size()) {
        const double begin = actors::thread_seconds();
        pinstrike_chain(feed.get(), &filter, values.data(), values.size());
        times.push_back((actors::thread_seconds() - begin) * 1e3);
        torn += static_cast<std::size_t>(std::ranges::count_if(values, is_torn));
    }
    const double seconds = actors::wall_seconds() - first;
    stop.store(true, std::memory_order_relaxed);
    writer.join();
    actors::print_row(what, times, "ms");
    if (!quotes.empty()) {
        actors::print_row("  meanwhile the book applied",
                          {static_cast<double>(applied.load()) / seconds / 1e6}, "M quotes/s");
        actors::print_row("  series read", {static_cast<double>(times.size() * chain_series) / 1e6},
                          "M");
        actors::print_row("  torn", {static_cast<double>(torn)}, "values");
    }
    return torn;
}

/// From the call that attaches to the first chain.
void bench_attach(const BenchStateArguments& given) {
    const pinstrike_filter filter = chain_filter();
    std::vector<pinstrike_value> values(chain_series);
    std::vector<double> times;
    for (unsigned run = 0; run < given.runs; ++run) {
        const double begin = actors::wall_seconds();
        const std::unique_ptr<pinstrike_feed, CloseFeed> feed{pinstrike_open(feed_name)};
        pinstrike_chain(feed.get(), &filter, values.data(), values.size());
        times.push_back((actors::wall_seconds() - begin) * 1e3);
    }
    actors::print_row(
        fmt::format("state: attach to {} series, up to the first chain", given.series), times,
        "ms");
}

Exit bench_state(const BenchStateArguments& given) {
    Problems problems;
    const auto make = [&](const char* name, std::size_t stream_records) {
        return actors::PublishedBook::make(
            name, given.hugepages ? actors::PublishMemory::hugetlbfs : actors::PublishMemory::shm,
            3 * std::size_t{given.series} / 2, stream_records, problems);
    };
    const auto published = make(feed_name, actors::PublishConfig{}.stream_records);
    const auto table_only = make("bench-table", 0);
    end_unless(published != nullptr && table_only != nullptr, problems);
    actors::print_row_head();
    const std::vector<feed::Event> quotes = quotes_of(given.series, false);
    bench_book(given, *published, *table_only, quotes_of(given.series, true), quotes);
    bench_attach(given);
    std::size_t torn =
        bench_chain("state: chain of 5,000 series, no updates", 500'000, *published, Records{});
    torn += bench_chain("state: chain of 5,000 series, updates of all series", given.reads,
                        *published, quotes);
    torn += bench_chain("state: chain of 5,000 series, updates of these series", given.reads,
                        *published, quotes_of(chain_series, false));
    return torn == 0 ? Exit::ok : Exit::failed;
}

}  // namespace

void add_bench_state(CLI::App& bench, Outcome& outcome) {
    const auto [command, given] = add_command(
        bench, outcome, "state",
        "The published state of series: its cost for a book, chains, attaching", bench_state);
    command->footer(
        "Publishes books as `bench` and `bench-table`. Readers check that no value is torn.\n"
        "Ratios are of turns that alternate. Needs two processors without other work.\n"
        "Exit status: 0 success, 1 it failed or a value was torn, 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike bench state\n"
        "  pinstrike bench state --series 1500000 --reads 1000000000 --hugepages");
    add_number(*command, "--series", given->series, 10'000, 10'000'000, "Series of the book");
    add_number(*command, "--reads", given->reads, std::size_t{chain_series},
               std::size_t{100'000'000'000}, "Series that are read under each kind of updates");
    add_number(*command, "--runs", given->runs, 1, 1000,
               "Number of runs; the figures are medians over them");
    command->add_flag("--hugepages", given->hugepages, "Memory of a mounted hugetlbfs");
}

}  // namespace pinstrike::command
