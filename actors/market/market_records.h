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

/// Sets the best of a series.
inline void set_best(Instrument& at, const pinstrike_best& bid, const pinstrike_best& offer) {
    at.best = level_of(bid, offer);
    at.has_sides = bid.state != PINSTRIKE_SIDE_UNKNOWN || offer.state != PINSTRIKE_SIDE_UNKNOWN;
    at.stale = bid.state == PINSTRIKE_SIDE_STALE || offer.state == PINSTRIKE_SIDE_STALE;
    at.bid_sequence = bid.sequence;
    at.offer_sequence = offer.sequence;
}

[[nodiscard]] inline std::uint8_t flags_of(const Instrument& at, std::uint8_t more = 0) {
    return static_cast<std::uint8_t>(feed::dbn::record_flags |
                                     (at.stale ? feed::dbn::flag_maybe_bad_book : 0) | more);
}

/// What all records of a series have: of an event, or of the state at a moment.
struct RecordFrame {
    InstrumentId id = 0;
    std::uint16_t line = 0;
    std::uint64_t event_ns = 0;
    std::uint64_t receive_ns = 0;
    std::uint32_t sequence = 0;
    std::uint8_t flags = 0;  ///< beside record_flags

    [[nodiscard]] static RecordFrame of(const pinstrike_record& record) {
        return {record.key.id, record.line, time_of(record.exchange_ns), time_of(record.receive_ns),
                static_cast<std::uint32_t>(record.sequence)};
    }

    [[nodiscard]] static RecordFrame of_state(InstrumentId id, const Instrument& at,
                                              std::int64_t now_ns) {
        return {id, at.line, time_of(now_ns), time_of(now_ns), 0, feed::dbn::flag_snapshot};
    }

    template <class Record>
    [[nodiscard]] Record begin(feed::dbn::RecordType type, std::uint16_t publisher) const {
        Record out;
        out.header = feed::dbn::header_of<Record>(type, publisher, id, event_ns);
        out.receive_ns = receive_ns;
        return out;
    }
};

/// The best of a series, after a quote that states a side of it or as it is now.
[[nodiscard]] inline feed::dbn::ConsolidatedRecord best_of(const RecordFrame& frame,
                                                           const Instrument& at) {
    auto out = frame.begin<feed::dbn::ConsolidatedRecord>(feed::dbn::RecordType::cmbp_1,
                                                          feed::dbn::consolidated_publisher);
    out.flags = flags_of(at, frame.flags);
    out.level = at.best;
    return out;
}

/// A trade with the best just before it, as tcbbo or cmbp-1.
[[nodiscard]] inline feed::dbn::ConsolidatedRecord trade_with_best(const pinstrike_record& record,
                                                                   std::uint16_t publisher,
                                                                   std::int64_t price,
                                                                   const Instrument& at,
                                                                   feed::dbn::RecordType type) {
    feed::dbn::ConsolidatedRecord out = best_of(RecordFrame::of(record), at);
    out.header.type = type;
    out.header.publisher = publisher;
    out.price = price;
    out.size = record.of.trade.size;
    out.action = 'T';
    return out;
}

[[nodiscard]] inline feed::dbn::TradeRecord trade_of(const pinstrike_record& record,
                                                     std::uint16_t publisher, std::int64_t price) {
    const RecordFrame frame = RecordFrame::of(record);
    auto out = frame.begin<feed::dbn::TradeRecord>(feed::dbn::RecordType::trade, publisher);
    out.price = price;
    out.size = record.of.trade.size;
    out.flags = feed::dbn::record_flags;
    out.sequence = frame.sequence;
    return out;
}

/// The frame of a record of mbp-1 or tbbo.
[[nodiscard]] inline feed::dbn::VenueRecord venue_record(const RecordFrame& frame,
                                                         std::uint16_t publisher) {
    auto out = frame.begin<feed::dbn::VenueRecord>(feed::dbn::RecordType::mbp_1, publisher);
    out.flags = feed::dbn::record_flags;
    out.sequence = frame.sequence;
    return out;
}

/// The venue's own quote. A side of size 0 is no quote.
[[nodiscard]] inline feed::dbn::VenueRecord venue_quote(const pinstrike_record& record,
                                                        std::uint16_t publisher) {
    feed::dbn::VenueRecord out = venue_record(RecordFrame::of(record), publisher);
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

/// The consolidated best beside the quote of a venue, or as it is now.
[[nodiscard]] inline feed::dbn::VenueRecord best_as_venue_quote(const RecordFrame& frame,
                                                                const Instrument& at) {
    feed::dbn::VenueRecord out = venue_record(frame, feed::dbn::consolidated_publisher);
    out.flags = flags_of(at, frame.flags);
    out.level = {at.best.bid_price, at.best.ask_price, at.best.bid_size, at.best.ask_size, 0, 0};
    return out;
}

/// A trade with the best just before it, as mbp-1 or tbbo.
[[nodiscard]] inline feed::dbn::VenueRecord trade_with_level(const pinstrike_record& record,
                                                             std::uint16_t publisher,
                                                             std::int64_t price,
                                                             const Instrument& at) {
    feed::dbn::VenueRecord out = best_as_venue_quote(RecordFrame::of(record), at);
    out.header.publisher = publisher;
    out.price = price;
    out.size = record.of.trade.size;
    out.action = 'T';
    return out;
}

[[nodiscard]] inline feed::dbn::StatisticRecord statistic_of(const RecordFrame& frame,
                                                             std::uint16_t publisher,
                                                             feed::dbn::StatisticKind kind) {
    auto out =
        frame.begin<feed::dbn::StatisticRecord>(feed::dbn::RecordType::statistics, publisher);
    out.sequence = frame.sequence;
    out.kind = kind;
    out.channel = frame.line;
    return out;
}

/// Open interest as a venue states it, or as the book has it, which does not say who stated it.
[[nodiscard]] inline feed::dbn::StatisticRecord open_interest_of(const RecordFrame& frame,
                                                                 std::uint16_t publisher,
                                                                 std::uint32_t contracts) {
    auto out = statistic_of(frame, publisher, feed::dbn::StatisticKind::open_interest);
    out.quantity = contracts;
    return out;
}

/// The figures of an end of day summary, each as a record.
[[nodiscard]] inline std::array<feed::dbn::StatisticRecord, 6> end_of_day_of(
    const pinstrike_record& record, std::uint16_t publisher) {
    using feed::dbn::StatisticKind;
    const auto& day = record.of.end_of_day;
    const RecordFrame frame = RecordFrame::of(record);
    const auto price = [&](StatisticKind kind, std::int32_t value) {
        auto out = statistic_of(frame, publisher, kind);
        out.price = feed::dbn::price_of(value, record.decimals);
        return out;
    };
    auto volume = statistic_of(frame, publisher, StatisticKind::cleared_volume);
    volume.quantity = day.volume;
    return {price(StatisticKind::opening_price, day.open),
            price(StatisticKind::session_low, day.low),
            price(StatisticKind::session_high, day.high),
            price(StatisticKind::close_price, day.last),
            price(StatisticKind::net_change, day.net_change),
            volume};
}

/// The state of a series at the end of an interval, or with flag_snapshot as it is now.
[[nodiscard]] inline feed::dbn::IntervalRecord interval_best(InstrumentId id, const Instrument& at,
                                                             feed::dbn::RecordType type,
                                                             std::int64_t end_ns,
                                                             std::uint8_t more_flags = 0) {
    const RecordFrame frame{id, at.line, at.last_trade_ns, time_of(end_ns)};
    auto out = frame.begin<feed::dbn::IntervalRecord>(type, feed::dbn::consolidated_publisher);
    out.price = at.last_price;
    out.size = at.last_size;
    out.flags = flags_of(at, more_flags);
    out.level = at.best;
    return out;
}

/// A series, which became known at `now_ns`.
[[nodiscard]] feed::dbn::DefinitionRecord definition_of(const pinstrike_key& key,
                                                        const Instrument& at, std::int64_t now_ns);

}  // namespace pinstrike::actors
