// path: cold
//
// The option series that are listed on the generated day: roots of very different activity, their
// expirations and strikes, and the line of each series.
#pragma once

#include "feed/lines/line_config.h"
#include "feed/opra/traffic/random.h"
#include "feed/opra/traffic/traffic_config.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::feed::opra::traffic {

using SeriesIndex = std::uint32_t;
using LineIndex = std::uint16_t;  ///< index of a generated line, not its number

enum class LineUse : std::uint8_t { regular, gth, maps };

/// Lines 201-204 carry the GTH session, line 220 carries only series maps (network specification).
LineUse use_of_line(std::uint16_t number);

struct Root {
    std::array<char, 5> symbol{' ', ' ', ' ', ' ', ' '};
    bool index = false;     ///< has an underlying value of its own (Y)
    bool adjusted = false;  ///< its strikes are off the usual grid
    bool test = false;
    std::int32_t price_cents = 0;  ///< of the underlying at the start
    std::int32_t step_e3 = 1000;   ///< between strikes
    std::string_view text() const;
};

struct Series {
    std::uint32_t root = 0;
    std::int32_t strike_e3 = 0;
    std::uint16_t days_left = 0;
    LineIndex line = 0;
    char letter = 'A';  ///< expiration month and right (OPRA Expiration Block)
    std::uint8_t day = 1;
    std::uint8_t year = 26;
    std::uint8_t venues = 1;  ///< participants that quote it

    [[nodiscard]] bool call() const { return letter <= 'L'; }
};

/// Selects which of n series sends the next message. Rank 0 is the most active. The distribution is
/// meant to resemble measured ones: of 1.5 M series the first 1,000 send 9 % of the messages,
/// 10,000 23 %, 100,000 59 %, 300,000 82 %.
class ActivityCurve {
  public:
    explicit ActivityCurve(std::size_t series_count);
    [[nodiscard]] SeriesIndex pick(Random& random) const;

  private:
    std::size_t count_;
};

/// All series. [0, tests_begin()) are regular, the most active first. [tests_begin(), gth_begin())
/// have reserved test symbols. The rest trade in the GTH session and have lines of their own.
class Universe {
  public:
    Universe(const TrafficConfig& config, std::span<const LineConfig> lines);

    [[nodiscard]] const std::vector<Series>& series() const { return series_; }

    [[nodiscard]] const std::vector<Root>& roots() const { return roots_; }

    [[nodiscard]] const Root& root_of(const Series& series) const { return roots_[series.root]; }

    [[nodiscard]] std::size_t tests_begin() const { return tests_begin_; }

    [[nodiscard]] std::size_t gth_begin() const { return gth_begin_; }

    /// Indices into roots() that have an underlying value.
    [[nodiscard]] const std::vector<std::uint32_t>& index_roots() const { return index_roots_; }

  private:
    struct Expiration {
        unsigned month;
        std::uint8_t day;
        std::uint8_t year;
        std::uint16_t days_left;
    };

    void make_roots(std::size_t count);
    void make_expirations(std::int64_t start_ns);
    void list_series(std::uint32_t root, std::size_t count, std::size_t expirations_count);
    void list_regular(std::size_t count);
    void list_others();
    void assign_lines(std::span<const LineConfig> lines);
    [[nodiscard]] LineIndex line_of(std::size_t index, std::span<const LineIndex> lines) const;
    [[nodiscard]] LineIndex gth_line(const Series& series, std::span<const LineConfig> lines) const;

    Random random_;
    std::vector<Root> roots_;
    std::vector<std::uint32_t> index_roots_;
    std::vector<std::uint32_t> gth_roots_;
    std::vector<std::uint32_t> test_roots_;
    std::vector<Expiration> expirations_;
    std::vector<Series> series_;
    std::size_t tests_begin_ = 0;
    std::size_t gth_begin_ = 0;
};

}  // namespace pinstrike::feed::opra::traffic
