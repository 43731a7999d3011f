// path: cold
//
// The report of a book (actors/core/actor_report.h).
#include "actors/book/book.h"

#include <fmt/format.h>

namespace pinstrike::actors {

std::vector<ActorFigures> Book::figures() const {
    ActorFigures counts{book_counters, {}};
    for (std::size_t row = 0; row < BookCount_count; ++row) {
        counts.values.push_back(counters().read(static_cast<BookCount>(row)));
    }
    return {{book_gauges, {entries_count(), announced_count()}}, std::move(counts)};
}

std::vector<AccountRow> Book::account_rows() const {
    const std::array values{std::uint64_t{series_count()},
                            counters().read(BookCount::series_refused)};
    static_assert(values.size() == book_account_rows.size());
    std::vector<AccountRow> rows;
    for (std::size_t row = 0; row < values.size(); ++row) {
        rows.emplace_back(book_account_rows[row], values[row]);
    }
    return rows;
}

std::vector<RankedSeries> Book::busiest() const {
    const auto price_of = [](std::int64_t e8) {
        return e8 != BusySeries::no_price ? std::optional{e8} : std::nullopt;
    };
    std::vector<RankedSeries> ranked;
    if (const auto ranking = board_.read()) {
        for (const BusySeries& series : *ranking) {
            if (series.quotes > 0) {
                ranked.push_back({series.key, series.quotes, price_of(series.bid_e8),
                                  price_of(series.offer_e8)});
            }
        }
    }
    return ranked;
}

/// A full book is no error, but its reader must know that it is incomplete.
std::vector<std::string> Book::remarks() const {
    std::vector<std::string> remarks;
    if (const std::uint64_t refused = counters().read(BookCount::series_refused); refused != 0) {
        remarks.push_back(fmt::format(
            "{} messages of series did not fit in the full book: raise book.series_capacity",
            refused));
    }
    return remarks;
}

}  // namespace pinstrike::actors
