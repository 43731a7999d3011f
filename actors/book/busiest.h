// path: hot
//
// The busiest series of one book, published for other threads.
//
// In each stretch of messages the book's thread picks one series whose entry it has just touched,
// and reports the exact count of its quotes. A series that is often quoted is often picked, so the
// busiest series of the day are found at no cost per message.
//
// Publication is a seqlock. The book's thread writes about four times a second; any thread reads.
// Order: W1 makes the version odd before the words, W2 (release) stores each word, W3 (release)
// makes the version even. R1 (acquire) loads the version, R2 (acquire) each word, R3 the version
// again. If a reader sees a word of a later write, W2 and R2 make W1 of that write visible before
// R3, so R3 finds a version other than R1's and the reader tries again. The words are atomics, so
// no word is torn.
#pragma once

#include "config/hooks.h"
#include "feed/event/series_key.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace pinstrike::actors {

struct BusySeries {
    feed::SeriesKey key;
    std::uint64_t quotes = 0;  ///< since the start of day
    std::int64_t bid_e8 = no_price;
    std::int64_t offer_e8 = no_price;

    static constexpr std::int64_t no_price = std::numeric_limits<std::int64_t>::min();
};

class BusiestBoard {
  public:
    static constexpr std::size_t places = 16;
    using Ranking = std::array<BusySeries, places>;  ///< an entry with 0 quotes has no series

    /// Called on the book's thread only.
    void publish(const Ranking& ranking) {
        const std::uint64_t version = version_.load(std::memory_order_relaxed);
        version_.store(version + 1, std::memory_order_relaxed);  // W1
        for (std::size_t place = 0; place < places; ++place) {
            const auto words = std::bit_cast<Words>(ranking[place]);
            for (std::size_t word = 0; word < words_each; ++word) {
                words_[place * words_each + word].store(words[word],
                                                        std::memory_order_release);  // W2
            }
            RING_HOOK("board:place_written");
        }
        version_.store(version + 2, std::memory_order_release);  // W3
    }

    /// May be called by any thread. Tries again during a write; nullopt if a write lasts too long
    /// (a core that was preempted).
    [[nodiscard]] std::optional<Ranking> read() const {
        constexpr int tries = 1000;
        for (int attempt = 0; attempt < tries; ++attempt) {
            const std::uint64_t before = version_.load(std::memory_order_acquire);  // R1
            Ranking ranking;
            for (std::size_t place = 0; place < places; ++place) {
                Words words{};
                for (std::size_t word = 0; word < words_each; ++word) {
                    words[word] =
                        words_[place * words_each + word].load(std::memory_order_acquire);  // R2
                }
                ranking[place] = std::bit_cast<BusySeries>(words);
                RING_HOOK("board:place_read");
            }
            const std::uint64_t after = version_.load(std::memory_order_relaxed);  // R3
            if (before == after && before % 2 == 0) {
                return ranking;
            }
        }
        return std::nullopt;
    }

  private:
    static constexpr std::size_t words_each = sizeof(BusySeries) / sizeof(std::uint64_t);
    using Words = std::array<std::uint64_t, words_each>;

    std::atomic<std::uint64_t> version_{0};
    std::array<std::atomic<std::uint64_t>, places * words_each> words_{};
};

/// The candidates for the ranking, used on the book's thread only.
class BusiestCandidates {
  public:
    void consider(const feed::SeriesKey& key, std::uint64_t quotes) {
        if (quotes > least_) {
            place(key, quotes);
        }
    }

    /// Updates the counts of all candidates. `quotes_of(key)` returns the current count of a
    /// series, 0 if the series is gone.
    template <class QuotesOf>
    void refresh(QuotesOf&& quotes_of) {
        for (Candidate& candidate : candidates_) {
            candidate.quotes = candidate.quotes == 0 ? 0 : quotes_of(candidate.key);
        }
        find_least();
    }

    struct Candidate {
        feed::SeriesKey key;
        std::uint64_t quotes = 0;
    };

    [[nodiscard]] const auto& all() const { return candidates_; }

  private:
    void place(const feed::SeriesKey& key, std::uint64_t quotes) {
        Candidate* chosen = candidates_.data();
        for (Candidate& candidate : candidates_) {
            if (candidate.key == key) {
                chosen = &candidate;
                break;
            }
            if (candidate.quotes < chosen->quotes) {
                chosen = &candidate;
            }
        }
        *chosen = {key, quotes};
        find_least();
    }

    void find_least() {
        least_ = ~std::uint64_t{0};
        for (const Candidate& candidate : candidates_) {
            least_ = candidate.quotes < least_ ? candidate.quotes : least_;
        }
    }

    std::array<Candidate, BusiestBoard::places> candidates_{};
    std::uint64_t least_ = 0;
};

}  // namespace pinstrike::actors
