// path: cold
#include "actors/publish/reader/follower.h"

#include "actors/publish/reader/side_rules.h"
#include "feed/event/best_effect.h"
#include "feed/event/position.h"

#include <bit>

namespace pinstrike::reader {
namespace {

using feed::BestEffect;

constexpr std::size_t slots_min = 64;

bool is_late(const feed::Header& header) {
    return (header.flags & (feed::flag_late | feed::flag_before_day | feed::flag_before_flush)) !=
           0;
}

bool known(const FollowedSeries& series, const pinstrike_line& line) {
    return (series.has_quotes || series.has_trades) && !stamp_after(line.day, series.stamp);
}

/// Marks that the numbers which a peer's state covers are of another line or numbering from now on.
void cover_elsewhere(FollowedSeries& series) {
    if (series.has_trades && (series.covered & PINSTRIKE_COVERED) != 0) {
        series.covered = PINSTRIKE_COVERED_ELSEWHERE;
    }
}

/// Whether state that a peer gave already includes a late message.
bool covers(const FollowedSeries& series, const feed::Header& header, bool foreign) {
    const bool behind = sequence_after(header.sequence, series.covered_sequence);
    if ((series.covered & PINSTRIKE_COVERED) != 0) {
        return foreign || !behind;
    }
    return (series.covered & PINSTRIKE_COVERED_ELSEWHERE) != 0 && foreign && !behind;
}

pinstrike_side side_of(std::int32_t price, std::uint32_t size, std::uint32_t sequence,
                       char participant, char code, std::uint32_t marks) {
    return {.value = static_cast<std::uint32_t>(price) | std::uint64_t{size} << 32,
            .sequence = sequence,
            .said = static_cast<unsigned char>(participant) |
                    std::uint32_t{static_cast<unsigned char>(code)} << 8 | marks << mark_shift};
}

/// A side as a quote states it.
pinstrike_side stated(BestEffect effect, const pinstrike_side& before, const feed::Header& header,
                      std::int32_t price, std::uint32_t size, const feed::Best* appendage) {
    constexpr std::uint32_t known_best = PINSTRIKE_KNOWN | PINSTRIKE_PRESENT;
    switch (effect) {
        case BestEffect::this_quote:
            return side_of(price, size, header.sequence, header.participant, header.code,
                           known_best);
        case BestEffect::appendage:
            return appendage == nullptr
                       ? before
                       : side_of(appendage->price, appendage->size, header.sequence,
                                 appendage->participant, appendage->code, known_best);
        case BestEffect::none:
            return side_of(0, 0, header.sequence, 0, 0, PINSTRIKE_KNOWN);
        case BestEffect::no_change:
            break;
    }
    return before;
}

struct Sides {
    pinstrike_side bid;
    pinstrike_side offer;
};

Sides stated(const FollowedSeries& series, const feed::Event& event,
             const feed::QuoteBest* appendage) {
    const feed::IndicatorEffect effect = feed::effect_of(event.header.indicator);
    const feed::Quote& quote = event.body.quote;
    return {stated(effect.bid, series.bid, event.header, quote.bid, quote.bid_size,
                   appendage == nullptr ? nullptr : &appendage->bid),
            stated(effect.offer, series.offer, event.header, quote.offer, quote.offer_size,
                   appendage == nullptr ? nullptr : &appendage->offer)};
}

/// Sets a side by a late quote, unless the side has newer state.
void yield(pinstrike_side& side, const pinstrike_side& to, BestEffect effect,
           std::uint32_t sequence, bool appended) {
    const bool changes =
        effect != BestEffect::no_change && (effect != BestEffect::appendage || appended);
    const bool older = !is(side, PINSTRIKE_KNOWN) || is(side, PINSTRIKE_ELSEWHERE) ||
                       sequence_after(sequence, side.sequence);
    if (changes && older) {
        side = to;
        raise(side, PINSTRIKE_LATE);  // stale while numbers after it are missing
    }
}

void flush(pinstrike_line& line, const feed::Header& header, std::uint64_t stamp) {
    if ((header.flags & (feed::flag_before_day | feed::flag_before_flush)) != 0) {
        return;
    }
    if ((header.flags & feed::flag_late) == 0) {
        line.flush = stamp;
        line.missing = 0;
        return;
    }
    if (!flushed_late(line) || sequence_after(header.sequence, line.late_flush_sequence)) {
        line.late_flush_sequence = header.sequence;
    }
    line.late_flush = stamp;
}

void note_gap(pinstrike_line& line, const feed::Gap& gap, std::uint64_t stamp) {
    const std::uint32_t last = feed::serial_of(gap.last);
    if (gap.cause == feed::GapCause::repaired) {
        if (line.missing != 0 && last == line.missing_last) {
            line.missing_last = feed::serial_of(gap.first) - 1;
        }
        return;
    }
    line.gap = stamp;
    if (line.missing == 0 || sequence_after(last, line.missing_last)) {
        line.missing_last = last;
    }
    line.missing = 1;
}

}  // namespace

void Follower::clear(std::size_t series_max) {
    for (auto& page : lines_) {
        page.reset();
    }
    series_.clear();
    slots_.assign(slots_min, 0);
    series_max_ = series_max;
}

pinstrike_line& Follower::line_at(std::uint16_t number) {
    std::unique_ptr<Page>& page = lines_[number / page_lines];
    if (page == nullptr) {
        page = std::make_unique<Page>();
    }
    return (*page)[number % page_lines];
}

pinstrike_line& Follower::line_of_series(const FollowedSeries& series) {
    return line_at(line_of(series.stamp));
}

FollowedSeries* Follower::find(const feed::SeriesKey& key) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = feed::hash(key) & mask;
    while (slots_[slot] != 0) {
        FollowedSeries& series = series_[slots_[slot] - 1];
        if (series.key == key) {
            return &series;
        }
        slot = (slot + 1) & mask;
    }
    return nullptr;
}

FollowedSeries* Follower::add(const feed::SeriesKey& key) {
    if (series_.size() >= series_max_) {
        return nullptr;
    }
    series_.push_back({});
    series_.back().key = key;
    const auto put = [this](std::uint32_t index) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = feed::hash(series_[index - 1].key) & mask;
        while (slots_[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        slots_[slot] = index;
    };
    const auto count = static_cast<std::uint32_t>(series_.size());
    if (count * std::size_t{2} > slots_.size()) {
        slots_.assign(slots_.size() * 2, 0);
        for (std::uint32_t index = 1; index <= count; ++index) {
            put(index);
        }
    } else {
        put(count);
    }
    return &series_.back();
}

void Follower::begin(FollowedSeries& series, const SeriesParts& parts) {
    series.bid = parts.entry.bid;
    series.offer = parts.entry.offer;
    series.stamp = parts.entry.stamp;
    series.id = parts.id;
    series.covered_sequence = parts.trades.covered_sequence;
    series.covered = static_cast<std::uint16_t>(parts.trades.flags &
                                                (PINSTRIKE_COVERED | PINSTRIKE_COVERED_ELSEWHERE));
    series.has_quotes = parts.entry.quotes != 0;
    series.has_trades = (parts.entry.record & PINSTRIKE_TRADES) != 0;
}

void Follower::apply_to_line(const feed::Event& event, std::uint64_t stamp) {
    pinstrike_line& line = line_at(event.header.line);
    if (event.header.kind == feed::EventKind::gap) {
        note_gap(line, event.body.gap, stamp);
    } else if (event.header.kind == feed::EventKind::control) {
        if (event.body.control.forget == feed::Forget::quotes) {
            flush(line, event.header, stamp);
        } else if (event.body.control.forget == feed::Forget::day) {
            line.day = line.flush = line.late_flush = line.gap = stamp;
            line.missing = 0;
        }
    }
}

/// Applies to a series what happened to its line. False: nothing is known of the series.
bool Follower::catch_up(FollowedSeries& series, std::uint64_t stamp) {
    const pinstrike_line& line = line_of_series(series);
    const bool is_known = known(series, line);
    if (is_known) {
        if (stamp_after(line.flush, series.stamp)) {
            cover_elsewhere(series);
        }
        follow_line(series.bid, series.stamp, line);
        follow_line(series.offer, series.stamp, line);
    } else {
        series.bid = series.offer = {};
        series.covered = 0;
        series.has_quotes = series.has_trades = false;
    }
    series.stamp = stamp | line_of(series.stamp);
    return is_known;
}

void Follower::leave_line(FollowedSeries& series) {
    const pinstrike_line& line = line_of_series(series);
    for (pinstrike_side* const side : {&series.bid, &series.offer}) {
        if (state_of(*side, line) == PINSTRIKE_SIDE_STALE) {
            raise(*side, PINSTRIKE_STALE);
        }
        raise(*side, PINSTRIKE_ELSEWHERE);
        lower(*side, PINSTRIKE_LATE);
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

void Follower::apply(FollowedSeries& series, const feed::Event& event,
                     const feed::QuoteBest* appendage, std::uint64_t stamp) {
    using feed::EventKind;
    const feed::Header& header = event.header;
    if ((header.flags & feed::flag_before_day) != 0) {
        return;
    }
    if (header.kind == EventKind::quote) {
        const bool foreign = arrive(series, header, stamp);
        if (is_late(header)) {
            apply_late_quote(series, event, appendage, foreign);
            return;
        }
        series.has_quotes = true;
        const Sides sides = stated(series, event, appendage);
        series.bid = sides.bid;
        series.offer = sides.offer;
    } else if (header.kind == EventKind::trade || header.kind == EventKind::open_interest) {
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

void Follower::apply_late_quote(FollowedSeries& series, const feed::Event& event,
                                const feed::QuoteBest* appendage, bool foreign) {
    const std::uint32_t sequence = event.header.sequence;
    if (covers(series, event.header, foreign)) {
        return;
    }
    series.has_quotes = true;
    const pinstrike_line& line = line_of_series(series);
    const bool flushed = flushed_late(line) && !sequence_after(sequence, line.late_flush_sequence);
    if (foreign || flushed) {
        return;  // from before a flush, or of a line that the series left
    }
    const Sides sides = stated(series, event, appendage);
    const feed::IndicatorEffect effect = feed::effect_of(event.header.indicator);
    yield(series.bid, sides.bid, effect.bid, sequence, appendage != nullptr);
    yield(series.offer, sides.offer, effect.offer, sequence, appendage != nullptr);
}

/// A side as it is now, also if the latest message of the series changed nothing.
pinstrike_best Follower::best(const FollowedSeries& series, pinstrike_side side) {
    const pinstrike_line& line = line_of_series(series);
    if (!known(series, line)) {
        side = {};
    }
    follow_line(side, series.stamp, line);
    return best_of(side, line);
}

}  // namespace pinstrike::reader
