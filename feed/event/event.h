// path: hot
//
// Events, as actors receive them. An Event is one message, or one change of a line's state, in
// records of one cache line each. The first record holds header and body. A longer message takes
// Header::records contiguous records, which are pushed together or not at all.
//
// Integers are in host order. A price is an integer and a code, as sent: value = price /
// 10^decimals(code) (OPRA Denominator Code). The second record of a quote (QuoteBest) has the
// transaction id and the participant's reference number, so a quote without appendage has neither.
// A trade has only the reference, other messages have none of the two. `decode` shows both for all
// messages.
#pragma once

#include "feed/event/series_key.h"
#include "feed/venue.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

enum class EventKind : std::uint8_t {
    none,           ///< never delivered
    quote,          ///< k, q
    trade,          ///< a, including cancels
    open_interest,  ///< d
    end_of_day,     ///< f
    series_map,     ///< R, and the series of the day's file, before the first message
    underlying,     ///< Y
    text,           ///< C
    control = 24,   ///< H: once per line, sent to every core
    gap,            ///< messages lost, or found after all; sent to every core that it concerns
    line_state,     ///< a stream or line fell silent or came back; sent to every core
    line_mark,  ///< all numbers up to this one were delivered or declared lost; sent to cores that
                ///< need it
};

/// Whether an event concerns a line and not a series. Such an event is delivered to every actor
/// that has the line, and is not counted as a message. The kinds of line events are the highest, so
/// that one comparison is enough, and new kinds of messages can be added below them.
[[nodiscard]] constexpr bool is_line_event(EventKind kind) {
    return kind >= EventKind::control;
}

/// The bit of a kind in a set of kinds.
[[nodiscard]] constexpr std::uint32_t bit_of(EventKind kind) {
    return std::uint32_t{1} << static_cast<unsigned>(kind);
}

/// The set of line events.
inline constexpr std::uint32_t line_event_bits = [] {
    std::uint32_t bits = 0;
    for (unsigned kind = 0; kind < 32; ++kind) {
        bits |= is_line_event(static_cast<EventKind>(kind)) ? std::uint32_t{1} << kind : 0;
    }
    return bits;
}();

namespace detail {

template <class... Kinds>
constexpr std::uint32_t bits_of(Kinds... kinds) {
    return (bit_of(kinds) | ...);
}

constexpr bool is_in(std::uint32_t bits, EventKind kind) {
    const auto number = static_cast<unsigned>(kind);
    return number < 32 && (bits >> number & 1) != 0;
}

}  // namespace detail

/// Whether an event has a body that begins with a series.
[[nodiscard]] constexpr bool has_series(EventKind kind) {
    using enum EventKind;
    return detail::is_in(detail::bits_of(quote, trade, open_interest, end_of_day, series_map),
                         kind);
}

/// Whether the kind is one of those above, and not `none`. Memory that another version wrote may
/// have others.
[[nodiscard]] constexpr bool is_known(EventKind kind) {
    using enum EventKind;
    return detail::is_in(detail::bits_of(quote, trade, open_interest, end_of_day, series_map,
                                         underlying, text, control, gap, line_state, line_mark),
                         kind);
}

/// Bits of Header::flags.
enum EventFlag : std::uint8_t {
    flag_late = 1,           ///< its number had been declared lost; newer messages came before it
    flag_before_day = 2,     ///< late, and from before the line's last start of day
    flag_before_flush = 4,   ///< late, and from before the line's last flush of quotes (or day)
    flag_retransmitted = 8,  ///< from a V block or another source of repair
    flag_inferred = 16,      ///< a control that was lost, inferred from its effect
    flag_from_file = 32,     ///< a series map of the day's file: without number and times
    flag_unnumbered = 64,    ///< the venue gives it no number, and each copy is delivered
};

/// The first 32 bytes of every event.
struct Header {
    EventKind kind = EventKind::none;
    Venue venue = Venue::opra;
    std::uint8_t flags = 0;
    std::uint8_t records = 1;         ///< records of 64 bytes, including this one
    std::uint16_t line = 0;           ///< the venue's number of the line
    std::uint8_t session = 0;         ///< session indicator byte as sent
    char participant = ' ';           ///< originator as sent
    std::int64_t ts_exchange_ns = 0;  ///< of the block or message, since the Unix epoch; 0: unknown
    std::int64_t ts_receive_ns = 0;   ///< arrival at this host, since the Unix epoch
    std::uint32_t sequence = 0;       ///< number(), the low 32 bits; 0: it has no number
    char type = ' ';                  ///< message type as sent
    char indicator = ' ';             ///< BBO indicator of a quote as sent (best_effect.h)
    char code = 'I';                  ///< denominator code of the body's prices
    std::uint8_t sequence_high = 0;   ///< number(), bits 32 to 39

    /// The message's own number on its line, as on the wire. Messages of one line that are less
    /// than 2^31 apart can be ordered by the low 32 bits alone.
    [[nodiscard]] constexpr std::uint64_t number() const {
        return std::uint64_t{sequence_high} << 32 | sequence;
    }

    constexpr void set_number(std::uint64_t number) {
        sequence = static_cast<std::uint32_t>(number);
        sequence_high = static_cast<std::uint8_t>(number >> 32);
    }
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

/// A series and the line that carries it on this day.
struct SeriesMap {
    static constexpr char type = 'A';  ///< Header::type

    SeriesKey series;
    std::uint16_t mapped_line;
    std::uint32_t id = 0;  ///< position in the day's list, from 1; only of events flag_from_file

    friend bool operator==(const SeriesMap&, const SeriesMap&) = default;
};

struct Underlying {
    std::uint64_t symbol;  ///< the format of SeriesKey::symbol_word()
    std::int32_t value;    ///< types other than I
    std::int32_t bid;      ///< type I
    std::int32_t offer;    ///< type I
};

/// Administrative text: the first 30 bytes; the following records hold 64 bytes each.
struct Text {
    static constexpr std::size_t first_bytes = 30;
    std::uint16_t length_bytes;
    char text[first_bytes];
};

/// The state that a control invalidates, for all series whose latest message came on its line.
enum class Forget : std::uint8_t { nothing, quotes, day };

/// Header::type is the control's type, Header::number() its block's number.
struct Control {
    Forget forget;
    bool ends_day = false;  ///< no original data follows until the next start of day
};

enum class GapCause : std::uint8_t {
    line,         ///< neither stream delivered them in time
    undecodable,  ///< received, but not decodable
    ring_full,    ///< this core's ring was full: only this core lost them
    repaired,     ///< not a loss: messages declared lost were found (late events precede this)
    bridge,       ///< a bridge did not carry them; the state of this host's book includes them
};

/// Numbers first..last of Header::line, inclusive, as on the wire (they may span the wrap). For
/// ring_full, `messages` of this range did not fit and the others arrived; messages without numbers
/// are only counted (0..0: there were no others).
struct Gap {
    std::uint64_t first;
    std::uint64_t last;
    std::uint64_t messages;
    GapCause cause;
};

enum class LineState : std::uint8_t { up, stream_silent, stream_down, line_down };

struct LineStateChange {
    LineState state;
    char stream;  ///< 'A', 'B', or ' ' for the line as a whole
};

/// Header::number() is the last number that was delivered or declared lost.
struct LineMark {
    /// The first of these since the start of the feed, unless the line was reset since; 0: unknown.
    std::uint64_t first;
};

/// Best bid or offer taken from an appendage.
struct Best {
    std::int32_t price;
    std::uint32_t size;
    char participant;  ///< 0: there is no best bid or offer
    char code;
};

/// One record of one cache line; header.kind selects the valid member of `body`.
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
        LineMark line_mark;
        SeriesKey series;  ///< first in quote, trade, open_interest, end_of_day and series_map
    } body;
};

static_assert(sizeof(Event) == 64 && sizeof(Event::Body) == 32);
static_assert(offsetof(Event, body) == 32);

/// The symbol of a message about a series or an underlying, as SeriesKey::symbol_word().
[[nodiscard]] inline std::uint64_t symbol_word_of(const Event& event) {
    return event.header.kind == EventKind::underlying ? event.body.underlying.symbol
                                                      : event.body.series.symbol_word();
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
    std::int64_t underlying;  ///< by `underlying_code`
    std::int32_t low;
    std::int32_t last;
    std::int32_t net_change;
    std::int32_t bid;
    std::int32_t offer;
    char underlying_code;
};

static_assert(sizeof(EndOfDayRest) == sizeof(Event));

/// The second record of an event of at least two.
template <class Rest>
const Rest& rest_of(const Event& event) {
    static_assert(sizeof(Rest) == sizeof(Event));
    return *reinterpret_cast<const Rest*>(&event + 1);  // tidy: records are contiguous
}

/// Decimals of a denominator code A-I (OPRA Denominator Code): A 1 ... H 8, I 0.
constexpr unsigned decimals(char code) {
    return code == 'I' ? 0U : static_cast<unsigned>(code - 'A') + 1U;
}

[[nodiscard]] constexpr bool is_code(char byte) {
    return byte >= 'A' && byte <= 'I';
}

/// The denominator code of 0 to 8 decimals.
[[nodiscard]] constexpr char code_of(unsigned decimals) {
    return static_cast<char>(decimals == 0 ? 'I' : 'A' + decimals - 1);
}

}  // namespace pinstrike::feed
