// path: hot
//
// The DBN records of events and of the state of a series.
#pragma once

#include "actors/market/instruments.h"
#include "actors/publish/pinstrike.h"
#include "feed/dbn/records.h"
#include "feed/dbn/values.h"

#include <array>
#include <cstdint>

namespace pinstrike::actors {

[[nodiscard]] inline std::uint64_t time_of(std::int64_t ns) {
    return ns == 0 ? feed::dbn::undefined_time : static_cast<std::uint64_t>(ns);
}

[[nodiscard]] inline feed::dbn::ConsolidatedLevel level_of(const pinstrike_best& bid,
                                                           const pinstrike_best& offer) {
    feed::dbn::ConsolidatedLevel level;
    if (bid.present != 0) {
        level.bid_price = feed::dbn::price_of(bid.price, bid.decimals);
        level.bid_size = bid.size;
        level.bid_publisher = feed::dbn::publisher_of(bid.participant);
    }
    if (offer.present != 0) {
        level.ask_price = feed::dbn::price_of(offer.price, offer.decimals);
        level.ask_size = offer.size;
        level.ask_publisher = feed::dbn::publisher_of(offer.participant);
    }
    return level;
}

/// Whether a quote stated a side, or that there is none.
[[nodiscard]] inline bool has_sides(const pinstrike_best& bid, const pinstrike_best& offer) {
    return bid.state != PINSTRIKE_SIDE_UNKNOWN || offer.state != PINSTRIKE_SIDE_UNKNOWN;
}

[[nodiscard]] inline bool is_stale(const pinstrike_best& bid, const pinstrike_best& offer) {
    return bid.state == PINSTRIKE_SIDE_STALE || offer.state == PINSTRIKE_SIDE_STALE;
}

[[nodiscard]] inline std::uint8_t flags_of(const Instrument& at, std::uint8_t more = 0) {
    return static_cast<std::uint8_t>(feed::dbn::record_flags |
                                     (at.stale ? feed::dbn::flag_maybe_bad_book : 0) | more);
}

/// A quote that states a side of the best: both sides after it.
[[nodiscard]] inline feed::dbn::ConsolidatedRecord best_quote(const pinstrike_record& record,
                                                              const Instrument& at) {
    feed::dbn::ConsolidatedRecord out;
    out.header = feed::dbn::header_of<feed::dbn::ConsolidatedRecord>(
        feed::dbn::RecordType::cmbp_1, feed::dbn::consolidated_publisher, record.key.id,
        time_of(record.exchange_ns));
    out.flags = flags_of(at);
    out.receive_ns = time_of(record.receive_ns);
    out.level = at.best;
    return out;
}

/// A trade with the best just before it, as tcbbo or cmbp-1.
[[nodiscard]] inline feed::dbn::ConsolidatedRecord trade_with_best(const pinstrike_record& record,
                                                                   std::uint16_t publisher,
                                                                   std::int64_t price,
                                                                   const Instrument& at,
                                                                   feed::dbn::RecordType type) {
    feed::dbn::ConsolidatedRecord out = best_quote(record, at);
    out.header.type = type;
    out.header.publisher = publisher;
    out.price = price;
    out.size = record.of.trade.size;
    out.action = 'T';
    return out;
}

[[nodiscard]] inline feed::dbn::TradeRecord trade_of(const pinstrike_record& record,
                                                     std::uint16_t publisher, std::int64_t price) {
    feed::dbn::TradeRecord out;
    out.header = feed::dbn::header_of<feed::dbn::TradeRecord>(
        feed::dbn::RecordType::trade, publisher, record.key.id, time_of(record.exchange_ns));
    out.price = price;
    out.size = record.of.trade.size;
    out.flags = feed::dbn::record_flags;
    out.receive_ns = time_of(record.receive_ns);
    out.sequence = static_cast<std::uint32_t>(record.sequence);
    return out;
}

/// The frame of a record of mbp-1 or tbbo.
[[nodiscard]] inline feed::dbn::VenueRecord venue_record(const pinstrike_record& record,
                                                         std::uint16_t publisher) {
    feed::dbn::VenueRecord out;
    out.header = feed::dbn::header_of<feed::dbn::VenueRecord>(
        feed::dbn::RecordType::mbp_1, publisher, record.key.id, time_of(record.exchange_ns));
    out.flags = feed::dbn::record_flags;
    out.receive_ns = time_of(record.receive_ns);
    out.sequence = static_cast<std::uint32_t>(record.sequence);
    return out;
}

[[nodiscard]] inline feed::dbn::VenueLevel without_publishers(
    const feed::dbn::ConsolidatedLevel& level) {
    return {level.bid_price, level.ask_price, level.bid_size, level.ask_size, 0, 0};
}

/// The venue's own quote. A side of size 0 is no quote.
[[nodiscard]] inline feed::dbn::VenueRecord venue_quote(const pinstrike_record& record,
                                                        std::uint16_t publisher) {
    feed::dbn::VenueRecord out = venue_record(record, publisher);
    const auto& quote = record.of.quote;
    if (quote.bid_size != 0) {
        out.level.bid_price = feed::dbn::price_of(quote.bid, record.decimals);
        out.level.bid_size = quote.bid_size;
    }
    if (quote.offer_size != 0) {
        out.level.ask_price = feed::dbn::price_of(quote.offer, record.decimals);
        out.level.ask_size = quote.offer_size;
    }
    return out;
}

/// The consolidated best beside the quote of a venue.
[[nodiscard]] inline feed::dbn::VenueRecord best_as_venue_quote(const pinstrike_record& record,
                                                                const Instrument& at) {
    feed::dbn::VenueRecord out = venue_record(record, feed::dbn::consolidated_publisher);
    out.flags = flags_of(at);
    out.level = without_publishers(at.best);
    return out;
}

/// A trade with the best just before it, as mbp-1 or tbbo.
[[nodiscard]] inline feed::dbn::VenueRecord trade_with_level(const pinstrike_record& record,
                                                             std::uint16_t publisher,
                                                             std::int64_t price,
                                                             const Instrument& at) {
    feed::dbn::VenueRecord out = best_as_venue_quote(record, at);
    out.header.publisher = publisher;
    out.price = price;
    out.size = record.of.trade.size;
    out.action = 'T';
    return out;
}

[[nodiscard]] inline feed::dbn::StatisticRecord statistic_of(const pinstrike_record& record,
                                                             std::uint16_t publisher,
                                                             feed::dbn::StatisticKind kind) {
    feed::dbn::StatisticRecord out;
    out.header = feed::dbn::header_of<feed::dbn::StatisticRecord>(
        feed::dbn::RecordType::statistics, publisher, record.key.id, time_of(record.exchange_ns));
    out.receive_ns = time_of(record.receive_ns);
    out.sequence = static_cast<std::uint32_t>(record.sequence);
    out.kind = kind;
    out.channel = record.line;
    return out;
}

[[nodiscard]] inline feed::dbn::StatisticRecord open_interest_of(const pinstrike_record& record,
                                                                 std::uint16_t publisher) {
    auto out = statistic_of(record, publisher, feed::dbn::StatisticKind::open_interest);
    out.quantity = record.of.open_interest.contracts;
    return out;
}

/// The figures of an end of day summary, each as a record.
[[nodiscard]] inline std::array<feed::dbn::StatisticRecord, 6> end_of_day_of(
    const pinstrike_record& record, std::uint16_t publisher) {
    using feed::dbn::StatisticKind;
    const auto& day = record.of.end_of_day;
    const auto price = [&](StatisticKind kind, std::int32_t value) {
        auto out = statistic_of(record, publisher, kind);
        out.price = feed::dbn::price_of(value, record.decimals);
        return out;
    };
    auto volume = statistic_of(record, publisher, StatisticKind::cleared_volume);
    volume.quantity = day.volume;
    return {price(StatisticKind::opening_price, day.open),
            price(StatisticKind::session_low, day.low),
            price(StatisticKind::session_high, day.high),
            price(StatisticKind::close_price, day.last),
            price(StatisticKind::net_change, day.net_change),
            volume};
}

/// The state of a series at the end of an interval.
[[nodiscard]] inline feed::dbn::IntervalRecord interval_best(InstrumentId id, const Instrument& at,
                                                             feed::dbn::RecordType type,
                                                             std::int64_t end_ns) {
    feed::dbn::IntervalRecord out;
    out.header = feed::dbn::header_of<feed::dbn::IntervalRecord>(
        type, feed::dbn::consolidated_publisher, id, at.last_trade_ns);
    out.price = at.last_price;
    out.size = at.last_size;
    out.flags = flags_of(at);
    out.receive_ns = time_of(end_ns);
    out.level = at.best;
    return out;
}

[[nodiscard]] inline feed::dbn::IntervalRecord interval_snapshot_of(InstrumentId id,
                                                                    const Instrument& at,
                                                                    feed::dbn::RecordType type,
                                                                    std::int64_t now_ns) {
    feed::dbn::IntervalRecord out = interval_best(id, at, type, now_ns);
    out.flags = flags_of(at, feed::dbn::flag_snapshot);
    return out;
}

/// The best as it is now.
[[nodiscard]] inline feed::dbn::ConsolidatedRecord snapshot_of(InstrumentId id,
                                                               const Instrument& at,
                                                               std::int64_t now_ns) {
    feed::dbn::ConsolidatedRecord out;
    out.header = feed::dbn::header_of<feed::dbn::ConsolidatedRecord>(
        feed::dbn::RecordType::cmbp_1, feed::dbn::consolidated_publisher, id, time_of(now_ns));
    out.flags = flags_of(at, feed::dbn::flag_snapshot);
    out.receive_ns = time_of(now_ns);
    out.level = at.best;
    return out;
}

[[nodiscard]] inline feed::dbn::VenueRecord venue_snapshot_of(InstrumentId id, const Instrument& at,
                                                              std::int64_t now_ns) {
    feed::dbn::VenueRecord out;
    out.header = feed::dbn::header_of<feed::dbn::VenueRecord>(
        feed::dbn::RecordType::mbp_1, feed::dbn::consolidated_publisher, id, time_of(now_ns));
    out.flags = flags_of(at, feed::dbn::flag_snapshot);
    out.receive_ns = time_of(now_ns);
    out.level = without_publishers(at.best);
    return out;
}

/// Open interest as the book has it, which does not say who stated it.
[[nodiscard]] inline feed::dbn::StatisticRecord open_interest_state(InstrumentId id,
                                                                    const Instrument& at,
                                                                    std::int64_t now_ns) {
    feed::dbn::StatisticRecord out;
    out.header = feed::dbn::header_of<feed::dbn::StatisticRecord>(
        feed::dbn::RecordType::statistics, feed::dbn::consolidated_publisher, id, time_of(now_ns));
    out.receive_ns = time_of(now_ns);
    out.quantity = at.open_interest;
    out.channel = at.line;
    return out;
}

/// A series, which became known at `now_ns`.
[[nodiscard]] feed::dbn::DefinitionRecord definition_of(const pinstrike_key& key,
                                                        const Instrument& at, std::int64_t now_ns);

}  // namespace pinstrike::actors
