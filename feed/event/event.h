// path: hot
//
// What an actor receives. An Event is one message (or one thing that happened to a line) in records
// of one cache line: the first holds header and body, a message with more to say takes up to
// `records` of them, contiguous, pushed all or none.
//
// Integers are in host order. A price is an integer and a code, as sent: value = price /
// 10^decimals(code) (OPRA 7.13 Denominator Code). Of a quote, transaction id and the participant's
// reference number stand in its second record (QuoteBest), so a quote without appendage has
// neither; a trade has the reference alone, other messages none. `decode` shows both for all.
#pragma once

#include "feed/event/series_key.h"
#include "feed/venue.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

enum class EventKind : std::uint8_t {
    none,           ///< never delivered
    quote,          ///< k, q
    trade,          ///< a, cancels included
    open_interest,  ///< d
    end_of_day,     ///< f
    series_map,     ///< R, and what the day's file announces before the first message
    underlying,     ///< Y
    text,           ///< C
    control,        ///< H: once per line, told to every core
    gap,            ///< messages lost, or found after all; told to every core it concerns
    line_state,     ///< a stream or line fell silent, came back; told to every core
    line_mark,      ///< all up to this number, stamped so, was delivered; told where it is of use
};

/// Bits of Header::flags.
enum EventFlag : std::uint8_t {
    flag_late = 1,           ///< its number had been declared lost: newer messages went before it
    flag_before_day = 2,     ///< late, and from before the line's last start of day
    flag_before_flush = 4,   ///< late, and from before the line's last flush of quotes (or day)
    flag_retransmitted = 8,  ///< from a V block or another source of repair
    flag_inferred = 16,      ///< a control that nobody saw: its effect shows that it was missed
    flag_from_file = 32,     ///< a series map of the day's file: has no number and no times
};

/// The first 32 bytes of every event.
struct Header {
    EventKind kind = EventKind::none;
    Venue venue = Venue::opra;
    std::uint8_t flags = 0;
    std::uint8_t records = 1;         ///< of 64 bytes, this one included
    std::uint16_t line = 0;           ///< as the venue numbers its lines
    std::uint8_t session = 0;         ///< session indicator byte as sent
    char participant = ' ';           ///< originator as sent
    std::int64_t ts_exchange_ns = 0;  ///< block timestamp, since the Unix epoch
    std::int64_t ts_receive_ns = 0;   ///< arrival at this host, since the Unix epoch
    std::uint32_t sequence = 0;       ///< the message's own number on its line, as on the wire
    char type = ' ';                  ///< message type as sent
    char indicator = ' ';             ///< BBO indicator of a quote as sent
    char code = 'I';                  ///< denominator code of the body's prices
    char code2 = 'I';                 ///< of the underlying price (end_of_day); else unused
};

static_assert(sizeof(Header) == 32);

struct Quote {
    SeriesKey series;
    std::int32_t bid;
    std::uint32_t bid_size;
    std::int32_t offer;
    std::uint32_t offer_size;
};

struct Trade {
    SeriesKey series;
    std::int32_t price;
    std::uint32_t volume;
    std::uint32_t trade_id;   ///< always 0 today
    std::uint32_t reference;  ///< the participant's
};

struct OpenInterest {
    SeriesKey series;
    std::uint32_t open_interest;
};

struct EndOfDay {
    SeriesKey series;
    std::uint32_t volume;
    std::uint32_t open_interest;
    std::int32_t open;
    std::int32_t high;
};

/// A series and the line that it comes on for the day.
struct SeriesMap {
    SeriesKey series;
    std::uint16_t mapped_line;

    friend bool operator==(const SeriesMap&, const SeriesMap&) = default;
};

struct Underlying {
    std::uint64_t symbol;  ///< as SeriesKey::symbol_word()
    std::int32_t value;    ///< types other than I
    std::int32_t bid;      ///< type I
    std::int32_t offer;    ///< type I
};

/// Administrative text: the first 30 bytes here, the rest in the records that follow, 64 each.
struct Text {
    static constexpr std::size_t first_bytes = 30;
    std::uint16_t length_bytes;
    char text[first_bytes];
};

/// What a control makes consumers forget of the series whose latest message came on its line.
enum class Forget : std::uint8_t { nothing, quotes, day };

/// Header::type is the control's type; sequence its block's number.
struct Control {
    Forget forget;
    bool ends_day = false;  ///< no original data follows until the next start of day
};

enum class GapCause : std::uint8_t {
    line,         ///< neither stream brought them in time
    undecodable,  ///< received, but not decodable
    ring_full,    ///< refused by this core's ring: lost to this core alone
    repaired,     ///< not a loss: what was declared lost has been found (late events precede this)
};

/// Numbers first..last of Header::line, inclusive, as on the wire (they may span the wrap). For
/// ring_full: within this range `messages` were refused, the others arrived.
struct Gap {
    std::uint32_t first;
    std::uint32_t last;
    std::uint64_t messages;
    GapCause cause;
};

enum class LineState : std::uint8_t { up, stream_silent, stream_down, line_down };

struct LineStateChange {
    LineState state;
    char stream;  ///< 'A', 'B', or ' ' for the line as a whole
};

/// Best bid or offer taken from an appendage.
struct Best {
    std::int32_t price;
    std::uint32_t size;
    char participant;  ///< 0 where there is none
    char code;
};

/// One cache line. Which member of `body` holds is said by header.kind.
struct alignas(64) Event {
    Header header;

    union Body {
        Quote quote;
        Trade trade;
        OpenInterest open_interest;
        EndOfDay end_of_day;
        SeriesMap series_map;
        Underlying underlying;
        Text text;
        Control control;
        Gap gap;
        LineStateChange line_state;
        SeriesKey series;  ///< of quote, trade, open_interest, end_of_day, series_map alike
    } body;
};

static_assert(sizeof(Event) == 64 && sizeof(Event::Body) == 32);
static_assert(offsetof(Event, body) == 32);

/// Asks for the slot that is written some time after `slot`, whoever fills slots in a row: it was
/// last in another core's cache. All at once, when the row is full, they would have to queue.
inline void ask_ahead(const Event* slot) {
    constexpr std::size_t ahead = 64;
    __builtin_prefetch(slot + ahead, 1);
}

/// Second record of a quote with an appendage.
struct alignas(64) QuoteBest {
    Best bid;
    std::uint32_t transaction_id;
    Best offer;
    std::uint32_t reference;
};

static_assert(sizeof(QuoteBest) == sizeof(Event));

/// Second record of an end of day summary.
struct alignas(64) EndOfDayRest {
    std::int64_t underlying;  ///< by header.code2
    std::int32_t low;
    std::int32_t last;
    std::int32_t net_change;
    std::int32_t bid;
    std::int32_t offer;
};

static_assert(sizeof(EndOfDayRest) == sizeof(Event));

/// The second record of an event of at least two.
template <class Rest>
const Rest& rest_of(const Event& event) {
    static_assert(sizeof(Rest) == sizeof(Event));
    return *reinterpret_cast<const Rest*>(&event + 1);  // tidy: records lie side by side
}

/// Decimals of a denominator code A-I (OPRA 7.13 Denominator Code): A 1 ... H 8, I 0.
inline unsigned decimals(char code) {
    return code == 'I' ? 0U : static_cast<unsigned>(code - 'A') + 1U;
}

}  // namespace pinstrike::feed
