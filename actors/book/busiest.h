// path: hot
//
// The busiest series of one book, published for whoever shows them.
//
// The book's thread looks at one series in each run of messages, whose entry it has just touched,
// and offers its exact count of quotes; what is quoted often is looked at often, so the top of the
// day gathers here at no cost to the messages.
//
// Publication is a seqlock. Roles: the book's thread writes, about four times a second; any thread
// reads.
// Order: W1 makes the version odd before the words, W2 (release) each word, W3 (release) makes the
// version even. R1 (acquire) reads the version, R2 (acquire) each word, R3 the version again. A
// reader that saw one word of a later writing has, by W2/R2, also W1 of that writing before R3, and
// so finds another version than R1's and reads again. Words are atomics: no read is torn.
#pragma once

#include "actors/book/series_state.h"
#include "feed/event/series_key.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pinstrike::actors {

struct BusySeries {
    feed::SeriesKey key;
    std::uint64_t quotes = 0;  ///< since the start of day
    Price bid;
    Price offer;
    bool has_bid = false;
    bool has_offer = false;
};

class BusiestBoard {
  public:
    static constexpr std::size_t places = 16;
    using Ranking = std::array<BusySeries, places>;  ///< quotes 0: no series

    /// Book's thread only.
    void publish(const Ranking& ranking) {
        const std::uint64_t version = version_.load(std::memory_order_relaxed);
        version_.store(version + 1, std::memory_order_relaxed);  // W1
        for (std::size_t place = 0; place < places; ++place) {
            const std::array<std::uint64_t, words_each> words = pack(ranking[place]);
            for (std::size_t word = 0; word < words_each; ++word) {
                words_[place * words_each + word].store(words[word],
                                                        std::memory_order_release);  // W2
            }
        }
        version_.store(version + 2, std::memory_order_release);  // W3
    }

    /// Any thread. Tries again while it is being written; nullopt if that lasts (a stopped core).
    [[nodiscard]] std::optional<Ranking> read() const {
        constexpr int tries = 1000;
        for (int attempt = 0; attempt < tries; ++attempt) {
            const std::uint64_t before = version_.load(std::memory_order_acquire);  // R1
            Ranking ranking;
            for (std::size_t place = 0; place < places; ++place) {
                std::array<std::uint64_t, words_each> words{};
                for (std::size_t word = 0; word < words_each; ++word) {
                    words[word] =
                        words_[place * words_each + word].load(std::memory_order_acquire);  // R2
                }
                ranking[place] = unpack(words);
            }
            const std::uint64_t after = version_.load(std::memory_order_relaxed);  // R3
            if (before == after && before % 2 == 0) {
                return ranking;
            }
        }
        return std::nullopt;
    }

  private:
    static constexpr std::size_t words_each = 5;

    static std::uint64_t pack_price(const Price& price, bool present) {
        return static_cast<std::uint32_t>(price.value) |
               std::uint64_t{static_cast<unsigned char>(price.code)} << 32 |
               std::uint64_t{present} << 40;
    }

    static Price unpack_price(std::uint64_t word) {
        return {static_cast<std::int32_t>(word), static_cast<char>(word >> 32)};
    }

    static std::array<std::uint64_t, words_each> pack(const BusySeries& series) {
        return {series.key.name, static_cast<std::uint64_t>(series.key.strike_e8), series.quotes,
                pack_price(series.bid, series.has_bid), pack_price(series.offer, series.has_offer)};
    }

    static BusySeries unpack(const std::array<std::uint64_t, words_each>& words) {
        BusySeries series;
        series.key = {words[0], static_cast<std::int64_t>(words[1])};
        series.quotes = words[2];
        series.bid = unpack_price(words[3]);
        series.offer = unpack_price(words[4]);
        series.has_bid = (words[3] >> 40 & 1) != 0;
        series.has_offer = (words[4] >> 40 & 1) != 0;
        return series;
    }

    std::atomic<std::uint64_t> version_{0};
    std::array<std::atomic<std::uint64_t>, places * words_each> words_{};
};

/// The candidates, on the book's thread.
class BusiestCandidates {
  public:
    void offer(const feed::SeriesKey& key, std::uint64_t quotes) {
        if (quotes > least_) {
            place(key, quotes);
        }
    }

    /// Looks every candidate up again: `quotes_of(key)` gives its count now, 0 where it is gone.
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
        Candidate* chosen = &candidates_[0];
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
