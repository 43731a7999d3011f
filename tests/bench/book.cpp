// path: cold
//
// Measures the book alone: quotes per second over 1.5 M series, from an array of events that is
// read in batches of the size that a core passes to its actors. A model determines how often each
// series is quoted: of 1.5 M series, the first 1,000 get 9 % of the quotes, 10,000 get 23 %,
// 100,000 get 59 %, and 300,000 get 82 %. The last row shows the limit that memory sets for such a
// table.
#include "actors/book/book.h"

#include "tests/bench/measure.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace pinstrike;
using actors::Book;
using actors::BookConfig;

constexpr std::size_t series_count = 1'500'000;
constexpr std::size_t quotes_count = 1'000'000;
constexpr std::size_t batch_records = 256;

/// The quotes: `uniform` over the series, or by the model above; with `mixed` indicators, or each
/// the best of both sides.
struct Traffic {
    std::size_t series = series_count;
    std::size_t quotes = quotes_count;
    bool uniform = false;
    bool mixed = false;
};

feed::SeriesKey key_of(std::uint32_t index) {
    // About 300 series per root, with roots of letters and consecutive strikes, as in a listing.
    const std::uint32_t root = index / 300;
    const std::uint32_t within = index % 300;
    std::array<char, 8> bytes{static_cast<char>('A' + root % 26),
                              static_cast<char>('A' + root / 26 % 26),
                              static_cast<char>('A' + root / 676 % 26),
                              ' ',
                              ' ',
                              static_cast<char>('A' + within % 24),
                              static_cast<char>(1 + within % 28),
                              27};
    return {std::bit_cast<std::uint64_t>(bytes), std::int64_t{1 + within / 24} * 2'50000000};
}

/// Draws series numbers.
class Draw {
  public:
    explicit Draw(const Traffic& traffic) : uniform_(traffic.uniform), order_(traffic.series) {
        std::iota(order_.begin(), order_.end(), 0U);
        std::shuffle(order_.begin(), order_.end(), random_);
    }

    std::uint32_t operator()() { return order_[uniform_ ? between(0, order_.size()) : skewed()]; }

    double share() { return std::uniform_real_distribution<>(0, 1)(random_); }

  private:
    std::size_t skewed() {
        const double dice = share();
        return dice < 0.09   ? between(0, 1'000)
               : dice < 0.23 ? between(1'000, 10'000)
               : dice < 0.59 ? between(10'000, 100'000)
               : dice < 0.82 ? between(100'000, 300'000)
                             : between(300'000, order_.size());
    }

    std::size_t between(std::size_t first, std::size_t end) {
        return std::uniform_int_distribution<std::size_t>(first, end - 1)(random_);
    }

    bool uniform_;
    std::mt19937_64 random_{1};
    std::vector<std::uint32_t> order_;
};

/// Events in contiguous memory on huge pages, like those of a ring.
class Records {
  public:
    explicit Records(std::size_t most) : array_(most) {}

    void add(const feed::Event& event) { array_[count_++] = event; }

    [[nodiscard]] std::span<const feed::Event> all() const { return {array_.data(), count_}; }

  private:
    actors::PageArray<feed::Event> array_;
    std::size_t count_ = 0;
};

/// The indicators of a feed that maintains a BBO: most quotes do not change it, and one in eight
/// names another venue's quote as the best.
char mixed_indicator(double dice) {
    return dice < 0.45   ? 'A'
           : dice < 0.58 ? 'E'
           : dice < 0.71 ? 'B'
           : dice < 0.88 ? 'F'
           : dice < 0.93 ? 'M'
           : dice < 0.98 ? 'C'
                         : 'O';
}

Records make_quotes(const Traffic& traffic) {
    Draw draw(traffic);
    Records records(traffic.quotes + traffic.quotes / 6);
    for (std::uint32_t i = 0; i < traffic.quotes; ++i) {
        feed::Event event{};
        const std::uint32_t series = draw();
        event.header.kind = feed::EventKind::quote;
        event.header.line = static_cast<std::uint16_t>(1 + series / 300 % 96);
        event.header.sequence = i;
        event.header.participant = 'C';
        event.header.code = 'B';
        event.header.indicator = traffic.mixed ? mixed_indicator(draw.share()) : 'F';
        event.body.quote = {key_of(series), static_cast<std::int32_t>(i % 1000), 10, 1100, 20};
        const bool appendage = std::strchr("MCO", event.header.indicator) != nullptr;
        event.header.records = appendage ? 2 : 1;
        records.add(event);
        if (appendage) {
            const feed::QuoteBest best{{1, 2, 'X', 'B'}, 0, {3, 4, 'N', 'B'}, 0};
            feed::Event rest{};
            std::memcpy(static_cast<void*>(&rest), &best, sizeof(best));
            records.add(rest);
        }
    }
    return records;
}

/// Batches of whole messages, at most `records` each.
std::vector<actors::EventBatch> cut(std::span<const feed::Event> all, std::size_t records) {
    std::vector<actors::EventBatch> batches;
    for (std::size_t from = 0; from < all.size();) {
        std::size_t to = from;
        do {
            to += all[to].header.records;
        } while (to < all.size() && to - from + all[to].header.records <= records);
        batches.emplace_back(all.subspan(from, to - from), all.size() - to);
        from = to;
    }
    return batches;
}

struct alignas(64) Line {
    std::uint64_t word;
};

/// An upper limit for every book: reads the records, and for each of them prefetches, reads and
/// writes one cache line of a table of the same size, in stretches. It does not look at the quotes.
void measure_limit(std::size_t capacity) {
    constexpr double load = 0.36;
    constexpr std::size_t stretch = 128;
    const actors::PageArray<Line> table(
        static_cast<std::size_t>(static_cast<double>(capacity) / load));
    const actors::PageArray<Line> records(quotes_count / stretch * stretch);
    Draw draw(Traffic{});
    for (std::size_t i = 0; i < records.size(); ++i) {
        const std::uint64_t hash = (draw() + std::uint64_t{1}) * 0x9E37'79B9'7F4A'7C15U;
        records[i].word = (hash >> 32) * table.size() >> 32;
    }
    const auto touch = [&table, &records] {
        for (std::size_t first = 0; first < records.size(); first += stretch) {
            for (std::size_t i = first; i < first + stretch; ++i) {
                __builtin_prefetch(&table[records[i].word], 1);
            }
            for (std::size_t i = first; i < first + stretch; ++i) {
                ++table[records[i].word].word;
            }
        }
        return records.size();
    };
    bench::print_row("limit: records streamed, a line of a table each, skewed",
                     bench::rate_millions(touch), "M quotes/s");
}

void measure(const std::string& name, std::size_t capacity, const Traffic& traffic) {
    const auto book = std::make_unique<Book>(BookConfig{.series_capacity = capacity}, 1);
    book->on_start({});
    {
        std::vector<feed::Event> every(traffic.series, feed::Event{});
        for (std::uint32_t i = 0; i < traffic.series; ++i) {
            every[i].header.kind = feed::EventKind::quote;
            every[i].header.line = static_cast<std::uint16_t>(1 + i / 300 % 96);
            every[i].header.indicator = 'F';
            every[i].body.quote.series = key_of(i);
        }
        book->on_events(actors::EventBatch{every});
    }
    const Records records = make_quotes(traffic);
    const auto run = [&book, &traffic](const std::vector<actors::EventBatch>& batches) {
        for (const actors::EventBatch& batch : batches) {
            book->on_events(batch);
        }
        return traffic.quotes;
    };
    const auto batches = cut(records.all(), batch_records);
    const auto singles = cut(records.all(), 1);
    bench::print_row(name + ", prefetched", bench::rate_millions([&] { return run(batches); }),
                     "M quotes/s");
    bench::print_row(name + ", one at a time", bench::rate_millions([&] { return run(singles); }),
                     "M quotes/s");
}

}  // namespace

int main() {
    bench::print_head("book, 1.5 M series");
    measure("skewed, plain quotes", 2'200'000, {});
    measure("skewed, realistic mix", 2'200'000, {.mixed = true});
    measure("uniform, plain quotes", 2'200'000, {.uniform = true});
    measure("uniform, realistic mix", 2'200'000, {.uniform = true, .mixed = true});
    measure("skewed, plain, table as full as may be", series_count, {});
    measure("20,000 series, which caches hold", 30'000,
            {.series = 20'000, .quotes = 20'000, .uniform = true});
    measure_limit(2'200'000);
}
