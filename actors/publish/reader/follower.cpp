// path: cold
#include "actors/publish/reader/follower.h"

#include "actors/publish/bbo_rules.h"
#include "actors/publish/reader/side_rules.h"

#include <algorithm>
#include <span>
#include <utility>

namespace pinstrike::reader {
namespace {

constexpr std::size_t slots_min = 64;

bool known(const FollowedSeries& series, const pinstrike_line& line) {
    return (series.has_quotes || series.has_trades) && !stamp_after(line.day, series.stamp);
}

/// Whether nothing happened to the line of a series with quotes since it was brought up to date.
bool stands(const FollowedSeries& series, const pinstrike_line& line) {
    return series.has_quotes && !stamp_after(line.changed, series.stamp);
}

/// Marks that the numbers which a peer's state covers are of another line or numbering from now on.
void cover_elsewhere(FollowedSeries& series) {
    if (series.has_trades && series.covered) {
        series.covered = false;
        series.covered_elsewhere = true;
    }
}

/// Applies a quote to a series that its line has brought up to date.
[[gnu::always_inline]] inline void state_quote(FollowedSeries& series, const feed::Event& event,
                                               std::uint64_t stamp) {
    series.stamp = stamp | event.header.line;
    series.has_quotes = true;
    actors::state_quote(series, event);
}

}  // namespace

void Follower::begin_round(std::size_t series_expected, std::size_t series_max) {
    for (auto& page : lines_) {
        page.reset();
    }
    covered_sequences_.clear();
    series_max_ = series_max;
    ++round_;
    if (round_ == 0 || count_ >= series_max) {  // slots of series that are gone fill the table
        table_ = {};
        count_ = 0;
        round_ = 1;
    }
    const std::size_t slots = std::max(slots_min, 2 * std::min(series_expected, series_max));
    if (table_.size() < slots) {
        grow(slots);
    }
}

/// Whether state that a peer gave already includes a late message.
bool Follower::covers(const FollowedSeries& series, const feed::Header& header,
                      bool foreign) const {
    if (!series.covered && !series.covered_elsewhere) {
        return false;
    }
    const auto found = covered_sequences_.find(series.key);
    const std::uint32_t last = found == covered_sequences_.end() ? 0 : found->second;
    const bool behind = late_after(header.sequence, last);
    return series.covered ? foreign || !behind : foreign && !behind;
}

void Follower::make_page(std::uint16_t number) {
    lines_[number / page_lines] = std::make_unique<Page>();
}

FollowedSeries* Follower::add(const feed::SeriesKey& key, std::uint64_t hash) {
    FollowedSeries* series = &slot_for(key, hash);
    if (series->key.name == 0) {
        if (count_ >= series_max_ || key.name == 0) {
            return nullptr;
        }
        if (2 * (count_ + 1) > table_.size()) {
            grow(2 * table_.size());
            series = &slot_for(key, hash);
        }
        ++count_;
    }
    *series = {};
    series->key = key;
    series->round = round_;
    return series;
}

void Follower::grow(std::size_t slots) {
    const auto before = std::exchange(table_, actors::PageArray<FollowedSeries>{slots});
    for (const FollowedSeries& series : std::span{before.data(), before.size()}) {
        if (series.key.name != 0) {
            slot_for(series.key, feed::hash(series.key)) = series;
        }
    }
}

void Follower::begin(FollowedSeries& series, const SeriesParts& parts) {
    series.bid = parts.entry.bid;
    series.offer = parts.entry.offer;
    series.stamp = parts.entry.stamp;
    series.id = parts.id;
    series.has_quotes = parts.entry.quotes != 0;
    series.has_trades = (parts.entry.record & PINSTRIKE_TRADES) != 0;
    series.covered = (parts.trades.flags & PINSTRIKE_COVERED) != 0;
    series.covered_elsewhere = (parts.trades.flags & PINSTRIKE_COVERED_ELSEWHERE) != 0;
    if (series.covered || series.covered_elsewhere) {
        covered_sequences_[series.key] = parts.trades.covered_sequence;
    }
}

void Follower::apply_to_line(const feed::Event& event, std::uint64_t stamp) {
    line_at(event.header.line).apply(event, stamp);
}

/// Applies to a series what happened to its line. False: nothing is known of the series.
bool Follower::catch_up(FollowedSeries& series, std::uint64_t stamp) {
    const pinstrike_line& line = line_of_series(series);
    const bool is_known = known(series, line);
    if (is_known) {
        if (stamp_after(line.flush, series.stamp)) {
            // A late message can be of the numbering before the last flush, but of no older one,
            // so what is covered of older ones says nothing about it.
            series.covered_elsewhere = false;
            cover_elsewhere(series);
            if (flushed_twice(line, series.stamp)) {
                series.covered_elsewhere = false;
            }
        }
        follow_line(series.bid, series.stamp, line);
        follow_line(series.offer, series.stamp, line);
    } else {
        series.bid = series.offer = {};
        series.covered = series.covered_elsewhere = false;
        series.has_quotes = series.has_trades = false;
    }
    series.stamp = stamp | line_of(series.stamp);
    return is_known;
}

void Follower::leave_line(FollowedSeries& series) {
    const pinstrike_line& line = line_of_series(series);
    for (pinstrike_side* const side : {&series.bid, &series.offer}) {
        reader::leave_line(*side, line);
    }
    cover_elsewhere(series);
}

/// Brings a series up to date, and puts it on the line of a message unless that is late. Returns
/// whether the message's number has no meaning for the series.
bool Follower::arrive(FollowedSeries& series, const feed::Header& header, std::uint64_t stamp) {
    const bool is_known = catch_up(series, stamp);
    const bool late = is_late(header);
    if (is_known && !late && line_of(series.stamp) != header.line) {
        leave_line(series);
    }
    if (!is_known || !late) {
        series.stamp = stamp | header.line;
    }
    return (header.flags & feed::flag_before_flush) != 0 || line_of(series.stamp) != header.line;
}

void Follower::apply_quote(FollowedSeries& series, const feed::Event& event, std::uint64_t stamp,
                           pinstrike_best& bid, pinstrike_best& offer) {
    const feed::Header& header = event.header;
    const pinstrike_line& line = line_at(header.line);
    const bool usual =
        line_of(series.stamp) == header.line && stands(series, line) && !is_late(header);
    if (!usual) [[unlikely]] {
        apply_unusual_quote(series, event, stamp);
        write_best(series, bid, offer);
        return;
    }
    state_quote(series, event, stamp);
    write_side(bid, series.bid, line);
    write_side(offer, series.offer, line);
}

void Follower::apply_unusual_quote(FollowedSeries& series, const feed::Event& event,
                                   std::uint64_t stamp) {
    const feed::Header& header = event.header;
    if ((header.flags & feed::flag_before_day) != 0) {
        return;
    }
    const bool foreign = arrive(series, header, stamp);
    if (is_late(header)) {
        apply_late_quote(series, event, foreign);
    } else {
        state_quote(series, event, stamp);
    }
}

void Follower::apply(FollowedSeries& series, const feed::Event& event, std::uint64_t stamp) {
    using feed::EventKind;
    const feed::Header& header = event.header;
    if ((header.flags & feed::flag_before_day) != 0) {
        return;
    }
    if (header.kind == EventKind::trade || header.kind == EventKind::open_interest) {
        const bool foreign = arrive(series, header, stamp);
        series.has_trades =
            series.has_trades || !is_late(header) || !covers(series, header, foreign);
    } else if (header.kind == EventKind::end_of_day) {
        if (known(series, line_of_series(series))) {
            arrive(series, header, stamp);
        }
    } else if (header.kind == EventKind::series_map &&
               event.body.series_map.mapped_line == header.line &&
               !known(series, line_of_series(series))) {
        catch_up(series, stamp);
        series.stamp = stamp | header.line;
    }
}

void Follower::apply_late_quote(FollowedSeries& series, const feed::Event& event, bool foreign) {
    if (covers(series, event.header, foreign)) {
        return;
    }
    series.has_quotes = true;
    // A quote from before a flush, or of a line that the series left, changes no side.
    if (!foreign && !flushed_after(line_of_series(series), event.header.sequence)) {
        actors::state_late_quote(series, event);
    }
}

void Follower::write_best(const FollowedSeries& series, pinstrike_best& bid,
                          pinstrike_best& offer) {
    const pinstrike_line& line = line_of_series(series);
    const bool is_known = known(series, line);
    pinstrike_side of_bid = is_known ? series.bid : pinstrike_side{};
    pinstrike_side of_offer = is_known ? series.offer : pinstrike_side{};
    follow_line(of_bid, series.stamp, line);
    follow_line(of_offer, series.stamp, line);
    write_side(bid, of_bid, line);
    write_side(offer, of_offer, line);
}

}  // namespace pinstrike::reader
