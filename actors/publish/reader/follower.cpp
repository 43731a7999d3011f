// path: cold
#include "actors/publish/reader/follower.h"

#include "actors/publish/reader/event_record.h"
#include "actors/publish/reader/side_rules.h"
#include "feed/event/best_effect.h"
#include "feed/event/position.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

/// The bits of a side that a quote keeps, and those that it takes from its own two words.
struct SideMask {
    std::uint64_t keep;
    std::uint64_t value;
    std::uint64_t word;
};

/// By the effect of a quote without an appendage.
constexpr SideMask side_mask_of(BestEffect effect) {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    constexpr std::uint64_t known = std::uint64_t{PINSTRIKE_KNOWN} << (32 + mark_shift);
    switch (effect) {
        case BestEffect::this_quote:
            return {0, all, all};
        case BestEffect::none:
            return {0, 0, 0xFFFF'FFFF | known};
        default:
            return {all, 0, 0};
    }
}

constexpr std::array side_masks{
    side_mask_of(static_cast<BestEffect>(0)), side_mask_of(static_cast<BestEffect>(1)),
    side_mask_of(static_cast<BestEffect>(2)), side_mask_of(static_cast<BestEffect>(3))};

constexpr std::array<feed::IndicatorEffect, 256> effects = [] {
    std::array<feed::IndicatorEffect, 256> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = feed::effect_of(static_cast<char>(i));
    }
    return all;
}();

void state_plain(pinstrike_side& side, BestEffect effect, std::uint64_t value, std::uint64_t word) {
    const SideMask& mask = side_masks[static_cast<std::size_t>(effect)];
    std::uint64_t before = 0;
    std::memcpy(&before, &side.sequence, sizeof before);
    const std::uint64_t after = (before & mask.keep) | (word & mask.word);
    side.value = (side.value & mask.keep) | (value & mask.value);
    std::memcpy(&side.sequence, &after, sizeof after);
}

/// The sides as a quote without an appendage states them, without a branch on its indicator, which
/// a processor cannot predict.
void state_plain(FollowedSeries& series, const feed::Event& event) {
    const feed::Header& header = event.header;
    const feed::IndicatorEffect effect = effects[static_cast<unsigned char>(header.indicator)];
    const pinstrike_side own = side_of(0, 0, header.sequence, header.participant, header.code,
                                       PINSTRIKE_KNOWN | PINSTRIKE_PRESENT);
    const std::uint64_t word = own.sequence | std::uint64_t{own.said} << 32;
    std::uint64_t bid = 0;
    std::uint64_t offer = 0;
    std::memcpy(&bid, &event.body.quote.bid, sizeof bid);
    std::memcpy(&offer, &event.body.quote.offer, sizeof offer);
    state_plain(series.bid, effect.bid, bid, word);
    state_plain(series.offer, effect.offer, offer, word);
}

/// The sides as a quote states them.
void state_sides(pinstrike_side& bid, pinstrike_side& offer, const feed::Event& event,
                 const feed::QuoteBest* appendage) {
    const feed::IndicatorEffect effect = feed::effect_of(event.header.indicator);
    const feed::Quote& quote = event.body.quote;
    bid = stated(effect.bid, bid, event.header, quote.bid, quote.bid_size,
                 appendage == nullptr ? nullptr : &appendage->bid);
    offer = stated(effect.offer, offer, event.header, quote.offer, quote.offer_size,
                   appendage == nullptr ? nullptr : &appendage->offer);
}

/// Applies a quote to a series that its line has brought up to date.
[[gnu::always_inline]] inline void state_quote(FollowedSeries& series, const feed::Event& event,
                                               std::uint64_t stamp) {
    series.stamp = stamp | event.header.line;
    series.has_quotes = true;
    if (event.header.records == 1) [[likely]] {
        state_plain(series, event);
    } else {
        state_sides(series.bid, series.offer, event, appendage_of(event));
    }
}

/// Sets a side by a late quote, unless the side has newer state.
void yield(pinstrike_side& side, const pinstrike_side& to, BestEffect effect,
           std::uint32_t sequence, bool appended) {
    const bool changes =
        effect != BestEffect::no_change && (effect != BestEffect::appendage || appended);
    const bool older = !is(side, PINSTRIKE_KNOWN) || is(side, PINSTRIKE_ELSEWHERE) ||
                       late_after(sequence, side.sequence);
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
        line.late_flush = line.flush;
        line.changed = line.flush = stamp;
        line.missing = 0;
        return;
    }
    if (!flushed_late(line) || late_after(header.sequence, line.late_flush_sequence)) {
        line.late_flush_sequence = header.sequence;
    }
    line.changed = line.late_flush = stamp;
}

void note_gap(pinstrike_line& line, const feed::Event& event, std::uint64_t stamp) {
    const feed::Gap& gap = event.body.gap;
    const std::uint32_t first = feed::serial_of(gap.first);
    const std::uint32_t last = feed::serial_of(gap.last);
    if (gap.cause == feed::GapCause::bridge) {
        return;  // the state includes these messages
    }
    if (gap.cause != feed::GapCause::repaired) {
        line.changed = line.gap = stamp;
        actors::add_missing(line, first, last, gap.messages);
    } else if (actors::is_after_flush(event.header) && actors::has_missing(line, first, last)) {
        actors::remove_missing(line, first, last);
    }
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
    const ZeroArray<FollowedSeries> before =
        std::exchange(table_, ZeroArray<FollowedSeries>{slots});
    for (const FollowedSeries& series : before) {
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
    pinstrike_line& line = line_at(event.header.line);
    if (event.header.kind == feed::EventKind::gap) {
        note_gap(line, event, stamp);
    } else if (event.header.kind == feed::EventKind::control) {
        if (event.body.control.forget == feed::Forget::quotes) {
            flush(line, event.header, stamp);
        } else if (event.body.control.forget == feed::Forget::day) {
            line.changed = line.day = line.flush = line.late_flush = line.gap = stamp;
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
    const feed::QuoteBest* const appendage = appendage_of(event);
    const std::uint32_t sequence = event.header.sequence;
    if (covers(series, event.header, foreign)) {
        return;
    }
    series.has_quotes = true;
    const pinstrike_line& line = line_of_series(series);
    const bool flushed = flushed_late(line) && !late_after(sequence, line.late_flush_sequence);
    if (foreign || flushed) {
        return;  // from before a flush, or of a line that the series left
    }
    pinstrike_side bid = series.bid;
    pinstrike_side offer = series.offer;
    state_sides(bid, offer, event, appendage);
    const feed::IndicatorEffect effect = feed::effect_of(event.header.indicator);
    yield(series.bid, bid, effect.bid, sequence, appendage != nullptr);
    yield(series.offer, offer, effect.offer, sequence, appendage != nullptr);
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
