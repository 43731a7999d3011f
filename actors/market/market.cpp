// path: cold
#include "actors/market/market.h"

#include "actors/market/market_records.h"
#include "feed/event/best_effect.h"
#include "feed/event/trade_effect.h"

#include <algorithm>
#include <limits>

namespace pinstrike::actors {
namespace {

using feed::dbn::bytes_of;
using feed::dbn::Schema;

/// Whether a message stated something of the series.
bool is_heard(const pinstrike_value& value) {
    return value.quotes != 0 || value.trades != 0 || value.has_open_interest != 0 ||
           value.open.present != 0 || value.high.present != 0;
}

constexpr std::uint8_t late_flags =
    PINSTRIKE_IS_LATE | PINSTRIKE_BEFORE_DAY | PINSTRIKE_BEFORE_FLUSH;

/// Whether the state of a series is newer than an event of it.
bool is_before(const pinstrike_record& record, const Instrument& at) {
    return at.core == record.core && at.stamp != 0 &&
           pinstrike_stamp_after(at.stamp, record.stamp) != 0;
}

/// Whether a quote that waited for the id of its series is older than what is known now. `at`: null
/// if the series is new.
bool is_outdated(const pinstrike_record& record, const Instrument* at, const LineChanges& changes) {
    return (at != nullptr && is_before(record, *at)) || changes.flushed_after(record);
}

/// Each line counts its own sequence numbers, so those of the sides mean nothing on another line.
void move_to(Instrument& at, std::uint16_t line) {
    if (at.line != line) {
        at.line = line;
        at.bid_sequence = at.offer_sequence = 0;
    }
}

/// Whether a trade is late and older than the last one.
bool is_older(const pinstrike_record& record, const Instrument& at) {
    const bool is_late = (record.flags & PINSTRIKE_IS_LATE) != 0;
    return (record.flags & PINSTRIKE_BEFORE_DAY) != 0 ||
           (is_late && at.last_trade_ns != feed::dbn::undefined_time &&
            static_cast<std::uint64_t>(record.exchange_ns) < at.last_trade_ns);
}

}  // namespace

bool Market::take_state(std::span<const pinstrike_value> values, bool complete) {
    for (const pinstrike_value& value : values) {
        const InstrumentId id = value.key.id;
        if (id == 0 || id > instruments_max) {
            continue;  // its next event brings it
        }
        if (instruments_.contradicts(value.key)) {
            return false;
        }
        if (value.old == PINSTRIKE_UNREADABLE) {
            if (Instrument* const known = instruments_.find(id)) {
                known->round = rounds_[value.core];
            }
            continue;
        }
        const bool is_new = instruments_.find(id) == nullptr;
        Instrument& at = instruments_.add(value.key);
        const feed::dbn::ConsolidatedLevel best = at.best;
        const std::int64_t last_price = at.last_price;
        set_best(at, value.bid, value.offer);
        at.stamp = value.stamp;
        at.core = value.core;
        at.heard = at.heard || is_heard(value);
        at.round = rounds_[value.core];
        at.line = value.line;
        at.open_interest = value.open_interest;
        at.has_open_interest = value.has_open_interest != 0;
        if (value.last.present != 0) {
            const std::int64_t price = feed::dbn::price_of(value.last.value, value.last.decimals);
            if (price != at.last_price || value.last_size != at.last_size) {  // another trade
                at.last_trade_ns = feed::dbn::undefined_time;
            }
            at.last_price = price;
            at.last_size = value.last_size;
        } else {
            at.forget_last();
        }
        if (is_new) {
            interests_.on_new(id);
            deliver_definition(id, value.changed_ns);
        } else if (!forgotten_ && (!(best == at.best) || last_price != at.last_price)) {
            mark_changed(at, id);
        }
    }
    forgotten_ = forgotten_ && !complete;
    has_state_ = has_state_ || complete;
    return true;
}

bool Market::apply(const pinstrike_record& record) {
    counters_.bump(MarketCount::read);
    if (record.receive_ns >= next_end_ns_) {
        advance(record.receive_ns);
    }
    if (record.has_key == 0) {
        counters_.bump(MarketCount::of_lines);
        line_changes_.add(record);
        return true;
    }
    if (record.key.id == 0 || record.key.id > instruments_max) {
        counters_.bump(MarketCount::without_id);
        return true;
    }
    if (instruments_.contradicts(record.key)) {
        counters_.bump(MarketCount::filtered);
        return false;
    }
    apply_to_series(record);
    return true;
}

void Market::apply_to_series(const pinstrike_record& record) {
    if (record.kind == PINSTRIKE_QUOTE &&
        is_outdated(record, instruments_.find(record.key.id), line_changes_)) {
        counters_.bump(MarketCount::filtered);
        return;
    }
    Instrument& at = instrument_of(record);
    counters_.bump(interests_.follows(at) ? MarketCount::served : MarketCount::filtered);
    at.heard = at.heard || record.kind != PINSTRIKE_SERIES_MAP;
    switch (record.kind) {
        case PINSTRIKE_QUOTE:
            apply_quote(record, at);
            break;
        case PINSTRIKE_TRADE:
            apply_trade(record, at);
            break;
        case PINSTRIKE_OPEN_INTEREST:
            apply_open_interest(record, at);
            break;
        case PINSTRIKE_END_OF_DAY:
            apply_end_of_day(record, at);
            break;
        default:
            break;
    }
}

/// The series of an event, up to date with its line.
Instrument& Market::instrument_of(const pinstrike_record& record) {
    const InstrumentId id = record.key.id;
    Instrument* at = instruments_.find(id);
    const bool is_new = at == nullptr;
    if (is_new) {
        at = &instruments_.add(record.key);
    } else {
        apply_line_changes(*at, id, record.receive_ns);
    }
    if (is_new) {
        at->line = record.kind == PINSTRIKE_SERIES_MAP ? record.of.series_map.line : record.line;
    } else if (record.kind != PINSTRIKE_SERIES_MAP && (record.flags & late_flags) == 0) {
        move_to(*at, record.line);  // a late message may be of a line that the series has left
    }
    if (!is_before(record, *at)) {
        at->stamp = record.stamp;
    }
    at->core = record.core;
    at->round = rounds_[record.core];
    if (is_new) {
        interests_.on_new(id);
        deliver_definition(id, record.receive_ns);
    }
    return *at;
}

void Market::apply_quote(const pinstrike_record& record, Instrument& at) {
    const InstrumentId id = record.key.id;
    const feed::IndicatorEffect effect = feed::effect_of(record.indicator);
    const bool states_best =
        effect.bid != feed::BestEffect::no_change || effect.offer != feed::BestEffect::no_change;
    counters_.bump(MarketCount::quotes);
    if (record.has_best != 0) {
        const feed::dbn::ConsolidatedLevel before = at.best;
        set_best(at, record.bid, record.offer);
        if (!(before == at.best)) {
            mark_changed(at, id);
        }
    }
    if (interests_.wants(Schema::mbp_1, at)) {
        interests_.deliver(Schema::mbp_1, id, at,
                           bytes_of(venue_quote(record, publisher_of(record.participant))));
        if (states_best) {
            interests_.deliver(Schema::mbp_1, id, at,
                               bytes_of(best_as_venue_quote(RecordFrame::of(record), at)));
        }
    }
    if (states_best && interests_.wants(Schema::cmbp_1, at)) {
        interests_.deliver(Schema::cmbp_1, id, at, bytes_of(best_of(RecordFrame::of(record), at)));
    }
}

void Market::apply_trade(const pinstrike_record& record, Instrument& at) {
    const InstrumentId id = record.key.id;
    counters_.bump(MarketCount::trades);
    if ((feed::trade_effects_of(record.type) & feed::effect_cancel) != 0) {
        counters_.bump(MarketCount::cancels);
        return;
    }
    const std::uint16_t publisher = publisher_of(record.participant);
    const std::int64_t price = feed::dbn::price_of(record.of.trade.price, record.decimals);
    if (interests_.wants(Schema::trades, at)) {
        interests_.deliver(Schema::trades, id, at, bytes_of(trade_of(record, publisher, price)));
    }
    if (interests_.wants(Schema::tcbbo, at)) {
        interests_.deliver(
            Schema::tcbbo, id, at,
            bytes_of(trade_with_best(record, publisher, price, at, feed::dbn::RecordType::tcbbo)));
    }
    if (interests_.wants(Schema::cmbp_1, at)) {
        interests_.deliver(
            Schema::cmbp_1, id, at,
            bytes_of(trade_with_best(record, publisher, price, at, feed::dbn::RecordType::cmbp_1)));
    }
    for (const Schema schema : {Schema::mbp_1, Schema::tbbo}) {
        if (interests_.wants(schema, at)) {
            interests_.deliver(schema, id, at,
                               bytes_of(trade_with_level(record, publisher, price, at)));
        }
    }
    constexpr unsigned regular = feed::effect_range | feed::effect_last;
    if ((feed::trade_effects_of(record.type) & regular) == regular) {
        if (!is_older(record, at) && !is_before(record, at)) {
            at.last_price = price;
            at.last_size = record.of.trade.size;
            at.last_trade_ns = static_cast<std::uint64_t>(record.exchange_ns);
            mark_changed(at, id);
        }
        add_to_bars(record, price);
    }
}

void Market::add_to_bars(const pinstrike_record& record, std::int64_t price) {
    const std::uint16_t publisher = feed::dbn::publisher_of(record.participant);
    bool in_time = true;
    for (Bars& bars : bars_) {
        in_time &=
            bars.add(record.key.id, publisher, record.exchange_ns, price, record.of.trade.size);
    }
    counters_.bump(MarketCount::late_trades, in_time ? 0 : 1);
    find_next_end();
}

void Market::apply_open_interest(const pinstrike_record& record, Instrument& at) {
    if (!is_before(record, at)) {
        at.open_interest = record.of.open_interest.contracts;
        at.has_open_interest = true;
    }
    if (interests_.wants(Schema::statistics, at)) {
        interests_.deliver(
            Schema::statistics, record.key.id, at,
            bytes_of(open_interest_of(RecordFrame::of(record), publisher_of(record.participant),
                                      record.of.open_interest.contracts)));
    }
}

void Market::apply_end_of_day(const pinstrike_record& record, const Instrument& at) {
    if (!interests_.wants(Schema::statistics, at)) {
        return;
    }
    for (const auto& statistic : end_of_day_of(record, publisher_of(record.participant))) {
        interests_.deliver(Schema::statistics, record.key.id, at, bytes_of(statistic));
    }
}

/// Brings a series up to date with its line, and gives clients a best without sides after a flush.
void Market::apply_line_changes(Instrument& at, InstrumentId id, std::int64_t now_ns) {
    if (!line_changes_.are_after(at)) {
        return;
    }
    const feed::dbn::ConsolidatedLevel best = at.best;
    const std::int64_t last_price = at.last_price;
    line_changes_.apply_to(at);
    const bool best_changed = !(best == at.best);
    const RecordFrame frame = RecordFrame::of_state(id, at, now_ns);
    if (best_changed || last_price != at.last_price) {
        mark_changed(at, id);
    }
    if (best_changed && interests_.wants(Schema::cmbp_1, at)) {
        interests_.deliver(Schema::cmbp_1, id, at, bytes_of(best_of(frame, at)));
    }
    if (best_changed && interests_.wants(Schema::mbp_1, at)) {
        interests_.deliver(Schema::mbp_1, id, at, bytes_of(best_as_venue_quote(frame, at)));
    }
}

/// One pass over all series for all flushes of an interval: a start of day flushes every line.
void Market::apply_flushes_to_all(std::int64_t now_ns) {
    if (!line_changes_.take_new_flush()) {
        return;
    }
    for (InstrumentId id = 0; id < instruments_.end(); ++id) {
        if (Instrument* const at = instruments_.find(id)) {
            apply_line_changes(*at, id, now_ns);
        }
    }
}

void Market::mark_changed(Instrument& at, InstrumentId id) {
    for (Interval& interval : intervals_) {
        if ((at.changed & interval.bit) == 0) {
            at.changed = static_cast<std::uint8_t>(at.changed | interval.bit);
            interval.changed.push_back(id);
        }
    }
}

void Market::advance(std::int64_t now_ns) {
    if (now_ns < next_end_ns_ || now_ns <= 0) {  // series maps of a file have no time
        return;
    }
    for (Interval& interval : intervals_) {
        if (interval.end_ns == 0) {
            interval.open(now_ns);
        }
        if (now_ns >= interval.end_ns) {
            close_interval(interval);
            interval.open(now_ns);
        }
    }
    for (Bars& bars : bars_) {
        close_bars(bars, now_ns);
    }
    find_next_end();
}

void Market::restart_time() {
    for (Interval& interval : intervals_) {
        if (!interval.changed.empty()) {
            close_interval(interval);
        }
        interval.end_ns = 0;
    }
    for (Bars& bars : bars_) {
        close_bars(bars, std::numeric_limits<std::int64_t>::max());
        bars.restart();
    }
    next_end_ns_ = 0;
}

void Market::find_next_end() {
    next_end_ns_ = std::min(intervals_[0].end_ns, intervals_[1].end_ns);
    for (const Bars& bars : bars_) {
        const std::int64_t end_ns = bars.next_end_ns();
        next_end_ns_ =
            std::min(next_end_ns_, std::min(end_ns, INT64_MAX - bar_grace_ns) + bar_grace_ns);
    }
}

void Market::close_interval(Interval& interval) {
    apply_flushes_to_all(interval.end_ns);
    for (const InstrumentId id : interval.changed) {
        Instrument& at = *instruments_.find(id);
        at.changed = static_cast<std::uint8_t>(at.changed & ~interval.bit);
        if (interests_.wants(interval.schema, at)) {
            line_changes_.apply_to(at);  // a loss since its latest event
            interests_.deliver(
                interval.schema, id, at,
                bytes_of(interval_best(id, at, feed::dbn::record_type_of(interval.schema),
                                       interval.end_ns)));
        }
    }
    interval.changed.clear();
    if (interests_.wants_any(interval.schema)) {
        interests_.end_interval(interval.schema, interval.end_ns);
    }
}

void Market::close_bars(Bars& bars, std::int64_t now_ns) {
    const Schema schema = bars.schema();
    while (bars.next_end_ns() <= now_ns - bar_grace_ns) {
        const Bars::Closed closed = bars.close_next();
        for (const feed::dbn::BarRecord& bar : closed.bars) {
            const InstrumentId id = bar.header.instrument;
            const Instrument* const at = instruments_.find(id);
            if (at != nullptr && interests_.wants(schema, *at)) {
                interests_.deliver(schema, id, *at, bytes_of(bar));
            }
        }
        if (interests_.wants_any(schema)) {
            interests_.end_interval(schema, closed.end_ns);
        }
    }
}

void Market::deliver_definition(InstrumentId id, std::int64_t now_ns) {
    const Instrument& at = *instruments_.find(id);
    if (interests_.wants(Schema::definition, at)) {
        interests_.deliver(Schema::definition, id, at,
                           bytes_of(definition_of(instruments_.key_of(id), at, now_ns)));
    }
}

void Market::forget_values() {
    forgotten_ = true;
    line_changes_.clear();
    for (InstrumentId id = 0; id < instruments_.end(); ++id) {
        if (Instrument* const at = instruments_.find(id)) {
            at->forget_values();
        }
    }
}

CoreSeries Market::end_state(std::uint16_t core) {
    CoreSeries series{core, {}};
    for (InstrumentId id = 0; id < instruments_.end(); ++id) {
        Instrument* const at = instruments_.find(id);
        if (at == nullptr || at->core != core) {
            continue;
        }
        series.ids.push_back(id);
        if (at->round != rounds_[core]) {
            if (!(at->best == feed::dbn::ConsolidatedLevel{}) ||
                at->last_price != feed::dbn::undefined_price) {
                mark_changed(*at, id);
            }
            at->forget_values();
        }
    }
    return series;
}

void Market::clear() {
    instruments_.clear();
    interests_.clear_series();
    line_changes_.clear();
    for (Interval& interval : intervals_) {
        interval.changed.clear();
    }
    for (Bars& bars : bars_) {
        bars.clear();
    }
}

void Market::give_state(Schema schema, InstrumentId id, std::int64_t now_ns, const Give& give) {
    const Instrument* const found = instruments_.find(id);
    if (found == nullptr || (!found->heard && schema != Schema::definition)) {
        return;
    }
    Instrument at = *found;  // the series itself changes where all its clients get a record of it
    line_changes_.apply_to(at);
    const RecordFrame frame = RecordFrame::of_state(id, at, now_ns);
    switch (schema) {
        case Schema::cmbp_1:
            return give(bytes_of(best_of(frame, at)));
        case Schema::mbp_1:
            return give(bytes_of(best_as_venue_quote(frame, at)));
        case Schema::cbbo_1s:
        case Schema::cbbo_1m:
            return give(bytes_of(interval_best(id, at, feed::dbn::record_type_of(schema), now_ns,
                                               feed::dbn::flag_snapshot)));
        case Schema::definition:
            return give(bytes_of(definition_of(instruments_.key_of(id), at, now_ns)));
        case Schema::statistics:
            if (at.has_open_interest) {
                give(bytes_of(
                    open_interest_of(frame, feed::dbn::consolidated_publisher, at.open_interest)));
            }
            return;
        default:
            return;
    }
}

std::uint16_t Market::publisher_of(char participant) {
    const std::uint16_t publisher = feed::dbn::publisher_of(participant);
    counters_.bump(MarketCount::unknown_participants, publisher == 0 ? 1 : 0);
    return publisher;
}

}  // namespace pinstrike::actors
