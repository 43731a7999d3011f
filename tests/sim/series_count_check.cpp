// path: cold
//
// Checks what a book counts of its series against the events that its core got. Not for a host that
// copies state, which enters series as well.
#include "actors/book/book.h"
#include "tests/sim/count_comparison.h"
#include "tests/sim/oracle.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <map>

namespace pinstrike::sim {

namespace {

using actors::BookCount;
using feed::EventKind;

/// The series of one core. A start of day removes what is known of the series of its line at once;
/// the book needs some time for it, in which messages may keep an entry from being removed. For an
/// announcement, starts of day that come meanwhile may count as one: they do if `merges_starts`.
class SeriesCounts {
  public:
    explicit SeriesCounts(bool merges_starts) : merges_starts_(merges_starts) {}

    void apply(const feed::Event& event) {
        const bool before_day = (event.header.flags & feed::flag_before_day) != 0;
        switch (event.header.kind) {
            case EventKind::quote:
            case EventKind::trade:
            case EventKind::open_interest:
                return before_day ? void() : arrive(enter(event.body.series), event.header);
            case EventKind::end_of_day:
                return before_day ? void() : summarise(event);
            case EventKind::series_map:
                return before_day ? void() : announce(event);
            case EventKind::control:
                return event.body.control.forget == feed::Forget::day ? start_day(event.header)
                                                                      : void();
            default:
                return;
        }
    }

    [[nodiscard]] std::size_t all() const { return series_.size(); }

    [[nodiscard]] std::uint64_t unannounced() const { return unannounced_; }

    [[nodiscard]] std::uint64_t moved() const { return moved_; }

    [[nodiscard]] std::uint64_t removed() const { return removed_; }

    [[nodiscard]] std::uint64_t entered_again() const { return entered_again_; }

    [[nodiscard]] std::uint64_t entries() const {
        return static_cast<std::uint64_t>(
            std::ranges::count_if(series_, [](const auto& each) { return each.second.present; }));
    }

    [[nodiscard]] std::uint64_t announced() const {
        return static_cast<std::uint64_t>(std::ranges::count_if(
            series_, [](const auto& each) { return each.second.announced != 0; }));
    }

  private:
    struct Series {
        bool present = false;    ///< has an entry in the table
        bool known = false;      ///< a message stated something since the last start of day
        unsigned announced = 0;  ///< starts of day until the announcement ends
        std::uint16_t line = 0;
        bool was_removed = false;
    };

    Series& enter(const feed::SeriesKey& key) {
        Series& series = series_[{key.name, key.strike_e8}];
        entered_again_ += !series.present && series.was_removed ? 1 : 0;
        series.present = true;
        return series;
    }

    void arrive(Series& series, const feed::Header& header) {
        const bool late = (header.flags & feed::flag_late) != 0;
        if (!series.known) {
            unannounced_ += series.announced == 0 ? 1 : 0;
        } else if (!late && series.line != header.line) {
            ++moved_;
        }
        if (!late || !series.known) {
            series.line = header.line;
        }
        series.known = true;
    }

    /// A summary alone makes no series known.
    void summarise(const feed::Event& event) {
        const feed::SeriesKey& key = event.body.end_of_day.series;
        const auto at = series_.find({key.name, key.strike_e8});
        if (at != series_.end() && at->second.known) {
            arrive(at->second, event.header);
        }
    }

    void announce(const feed::Event& event) {
        const feed::SeriesMap& map = event.body.series_map;
        if (map.mapped_line != event.header.line) {
            return;
        }
        Series& series = enter(map.series);
        series.line = series.known ? series.line : map.mapped_line;
        constexpr unsigned starts_of_day = 2;
        series.announced = starts_of_day;
    }

    void start_day(const feed::Header& header) {
        constexpr std::int64_t sweep_ns = 10'000'000'000;  // longer than any, shorter than a day
        const auto [last, first] = starts_.try_emplace(header.line, header.ts_receive_ns);
        const bool merged =
            merges_starts_ && !first && std::abs(header.ts_receive_ns - last->second) < sweep_ns;
        last->second = header.ts_receive_ns;
        for (auto& [key, series] : series_) {
            if (!series.present || series.line != header.line) {
                continue;
            }
            series.known = false;
            if (merged && series.announced != 0) {
                continue;
            }
            series.announced -= series.announced == 0 ? 0 : 1;
            if (series.announced == 0) {
                series.present = false;
                series.was_removed = true;
                ++removed_;
            }
        }
    }

    bool merges_starts_;
    std::map<std::pair<std::uint64_t, std::int64_t>, Series> series_;  ///< by key
    std::map<std::uint16_t, std::int64_t> starts_;                     ///< the latest, by line
    std::uint64_t unannounced_ = 0;
    std::uint64_t moved_ = 0;
    std::uint64_t removed_ = 0;
    std::uint64_t entered_again_ = 0;
};

}  // namespace

void check_series_counts(Host& host, Findings& findings, Coverage& coverage) {
    for (std::size_t core = 0; core < host.cores_count(); ++core) {
        SeriesCounts series{false};
        SeriesCounts merged{true};
        const std::vector<feed::Event>& records = host.recorder(core).records();
        for (std::size_t at = 0; at < records.size(); at += records[at].header.records) {
            series.apply(records[at]);
            merged.apply(records[at]);
        }
        if (host.transfer() != nullptr || series.all() > host.series_share()) {
            continue;  // the table may be full
        }
        const actors::Book& book = host.book(core);
        const auto found = [&](BookCount row) { return book.counters().read(row); };
        CountComparison compare{fmt::format("book of core {}", core), findings, coverage.held};
        compare.expect(BookCount::series_refused, 0, found(BookCount::series_refused));
        compare.expect_between(BookCount::series_unannounced, merged.unannounced(),
                               series.unannounced(), found(BookCount::series_unannounced));
        compare.expect(BookCount::series_moved, series.moved(), found(BookCount::series_moved));
        if (!host.had_time_to_flush()) {
            continue;  // the table may still have entries from before a start of day
        }
        const std::uint64_t removed = merged.removed();
        compare.expect_between(BookCount::series_forgotten,
                               removed - std::min(removed, series.entered_again()),
                               series.removed(), found(BookCount::series_forgotten));
        compare.expect_between(actors::BookGauge::entries, series.entries(), merged.entries(),
                               book.entries_count());
        compare.expect_between(actors::BookGauge::announced_entries, series.announced(),
                               merged.announced(), book.announced_count());
    }
}

}  // namespace pinstrike::sim
