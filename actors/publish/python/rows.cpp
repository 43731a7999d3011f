// path: cold
//
// The columns of each kind of row.
#include "actors/publish/python/rows.h"

#include <chrono>
#include <limits>
#include <string_view>

namespace pinstrike::python {
namespace {

using Record = pinstrike_record;
using Value = pinstrike_value;

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
constexpr unsigned exact_decimals = 8;

// ---- values

constexpr auto powers_of_ten = [] {
    std::array<std::int64_t, 19> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) {
        powers[i] = powers[i - 1] * 10;
    }
    return powers;
}();

/// 10^decimals for each value of a byte, so that a price needs no comparison; at most 10^18.
constexpr auto divisors = [] {
    std::array<double, 256> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<double>(powers_of_ten[std::min(i, powers_of_ten.size() - 1)]);
    }
    return all;
}();

template <Prices prices>
using Price = std::conditional_t<prices == Prices::exact, std::int64_t, double>;

template <Prices prices>
constexpr Price<prices> no_price =
    prices == Prices::exact ? static_cast<Price<prices>>(none)
                            : std::numeric_limits<Price<prices>>::quiet_NaN();

/// A price that has no room in units of 1e-8 is none.
template <Prices prices>
Price<prices> price(std::int64_t value, std::uint8_t decimals) {
    if constexpr (prices == Prices::numbers) {
        return static_cast<double>(value) / divisors[decimals];
    } else {
        std::int64_t exact = 0;
        const bool fits =
            decimals <= exact_decimals &&
            !__builtin_mul_overflow(value, powers_of_ten[exact_decimals - decimals], &exact);
        return fits ? exact : none;
    }
}

template <Prices prices>
Price<prices> price(const pinstrike_price& of) {
    return of.present != 0 ? price<prices>(of.value, of.decimals) : no_price<prices>;
}

template <Prices prices>
Price<prices> price(const pinstrike_best& of) {
    return of.present != 0 ? price<prices>(of.price, of.decimals) : no_price<prices>;
}

/// OPRA's text is ASCII. Damaged bytes lose their highest bit.
char32_t ascii(char character) {
    return static_cast<unsigned char>(character) & 0x7FU;
}

template <std::size_t characters>
Text<characters> text(std::string_view from) {
    Text<characters> to{};
    const std::size_t count = std::min(from.size(), characters);
    std::transform(from.begin(), from.begin() + count, to.ucs4.begin(), ascii);
    return to;
}

/// Of five characters, padded by zeros.
Text<5> symbol(const char (&from)[6]) {
    return text<5>({from, 5});
}

Text<1> letter(char character) {
    return {{ascii(character)}};
}

/// A space means none.
Text<1> letter_or_none(char character) {
    return letter(character == ' ' ? '\0' : character);
}

/// Of a name in a list; a number that has none (a newer version's) is empty.
template <std::size_t characters, std::size_t count>
Text<characters> name(const char* const (&names)[count], std::uint8_t number) {
    return text<characters>(number < count ? names[number] : "");
}

std::int64_t days_of(std::uint32_t yyyymmdd) {
    using namespace std::chrono;
    const year_month_day date{year{static_cast<int>(yyyymmdd / 10'000)},
                              month{yyyymmdd / 100 % 100}, day{yyyymmdd % 100}};
    return date.ok() ? sys_days{date}.time_since_epoch().count() : none;
}

/// Of a date like 20261218. The days before the months of 2000 to 2063 are in a table, because each
/// row has a date.
Date date(std::uint32_t yyyymmdd) {
    constexpr std::uint32_t first = 200'000;
    static const auto before_month = [] {
        std::array<std::int16_t, 6400> days{};
        for (std::uint32_t i = 0; i < days.size(); ++i) {
            if (i % 100 >= 1 && i % 100 <= 12) {
                days[i] = static_cast<std::int16_t>(days_of((first + i) * 100 + 1) - 1);
            }
        }
        return days;
    }();
    const std::uint32_t month = yyyymmdd / 100 - first;
    if (month < before_month.size() && before_month[month] != 0) {
        return {before_month[month] + yyyymmdd % 100};
    }
    return {days_of(yyyymmdd)};
}

// ---- columns

/// A column whose value is an expression of a record, `of`.
#define COLUMN(name, doc, ...)                                \
    Column {                                                  \
        name, doc, [](const auto& of) { return __VA_ARGS__; } \
    }

template <Prices prices>
constexpr auto series_columns() {
    return std::tuple{
        COLUMN("id", "place in the day's list of series, from 1; 0: none yet", of.key.id),
        COLUMN("root", "root symbol; SPX and SPXW are two", symbol(of.key.root)),
        COLUMN("expiration", "date of expiration", date(of.key.expiration)),
        COLUMN("strike", "strike price in dollars", price<prices>(of.key.strike_e8, 8)),
        COLUMN("right", "C: call, P: put", letter(of.key.right)),
        COLUMN("session", "R: regular, G: overnight (GTH)", letter(of.key.gth != 0 ? 'G' : 'R')),
    };
}

constexpr auto core_columns() {
    return std::tuple{
        COLUMN("core", "actor core of the feed", of.core),
        Column{"order", "place in its batch, over all kinds",
               [](const Record&, std::uint32_t order) { return order; }},
    };
}

constexpr auto message_columns() {
    return std::tuple_cat(
        std::tuple{
            COLUMN("exchange_time", "the venue's time of the block, UTC; NaT (NONE): no block",
                   Time{of.exchange_ns != 0 ? of.exchange_ns : none}),
            COLUMN("receive_time", "receipt on this host, UTC", Time{of.receive_ns}),
            COLUMN("line", "number of the multicast line", of.line),
            COLUMN("sequence", "number of the message on its line; 0: none", of.sequence),
            COLUMN("participant", "exchange that sent it, by OPRA's letter",
                   letter_or_none(of.participant)),
            COLUMN("type", "message type, by OPRA's letter", letter(of.type)),
            COLUMN("indicator", "message indicator, by OPRA's letter", letter(of.indicator)),
            COLUMN("late", "came after a message with a higher number", (of.flags & 1) != 0),
        },
        core_columns());
}

/// One side of the best bid and offer: its price, size, participant, and what is known of it.
template <Prices prices, auto side>
constexpr auto best_columns(const std::array<const char*, 5>& names) {
    return std::tuple{
        COLUMN(names[0], "best price in dollars; none: there is none", price<prices>(of.*side)),
        COLUMN(names[1], "its size in contracts", (of.*side).present ? (of.*side).size : 0),
        COLUMN(names[2], "its exchange; empty: there is no quote",
               letter_or_none((of.*side).present ? (of.*side).participant : ' ')),
        COLUMN(names[3], "a quote stated this side since the start of day",
               (of.*side).state != PINSTRIKE_SIDE_UNKNOWN),
        COLUMN(names[4], "messages were lost after the quote that stated it",
               (of.*side).state == PINSTRIKE_SIDE_STALE),
    };
}

template <Prices prices>
constexpr auto quote_columns() {
    return std::tuple_cat(
        series_columns<prices>(),
        std::tuple{
            COLUMN("bid", "the participant's bid in dollars",
                   price<prices>(of.of.quote.bid, of.decimals)),
            COLUMN("bid_size", "contracts", of.of.quote.bid_size),
            COLUMN("offer", "the participant's offer in dollars",
                   price<prices>(of.of.quote.offer, of.decimals)),
            COLUMN("offer_size", "contracts", of.of.quote.offer_size),
        },
        best_columns<prices, &Record::bid>({"best_bid", "best_bid_size", "best_bid_participant",
                                            "best_bid_known", "best_bid_stale"}),
        best_columns<prices, &Record::offer>({"best_offer", "best_offer_size",
                                              "best_offer_participant", "best_offer_known",
                                              "best_offer_stale"}),
        message_columns());
}

template <Prices prices>
constexpr auto trade_columns() {
    return std::tuple_cat(
        series_columns<prices>(),
        std::tuple{
            COLUMN("price", "dollars", price<prices>(of.of.trade.price, of.decimals)),
            COLUMN("size", "contracts", of.of.trade.size),
            COLUMN("reference", "the venue's trade identifier", of.of.trade.reference),
        },
        message_columns());
}

template <Prices prices>
constexpr auto open_interest_columns() {
    return std::tuple_cat(
        series_columns<prices>(),
        std::tuple{COLUMN("open_interest", "contracts", of.of.open_interest.contracts)},
        message_columns());
}

template <Prices prices>
constexpr auto end_of_day_columns() {
    return std::tuple_cat(
        series_columns<prices>(),
        std::tuple{
            COLUMN("volume", "contracts", of.of.end_of_day.volume),
            COLUMN("open_interest", "contracts", of.of.end_of_day.open_interest),
            COLUMN("open", "dollars", price<prices>(of.of.end_of_day.open, of.decimals)),
            COLUMN("high", "dollars", price<prices>(of.of.end_of_day.high, of.decimals)),
            COLUMN("low", "dollars", price<prices>(of.of.end_of_day.low, of.decimals)),
            COLUMN("last", "dollars", price<prices>(of.of.end_of_day.last, of.decimals)),
            COLUMN("net_change", "dollars",
                   price<prices>(of.of.end_of_day.net_change, of.decimals)),
            COLUMN("bid", "dollars", price<prices>(of.of.end_of_day.bid, of.decimals)),
            COLUMN("offer", "dollars", price<prices>(of.of.end_of_day.offer, of.decimals)),
            COLUMN(
                "underlying", "price of the underlying in dollars",
                price<prices>(of.of.end_of_day.underlying, of.of.end_of_day.underlying_decimals)),
        },
        message_columns());
}

template <Prices prices>
constexpr auto underlying_columns() {
    return std::tuple_cat(
        std::tuple{
            COLUMN("symbol", "symbol of the underlying", symbol(of.of.underlying.symbol)),
            COLUMN("value", "its value", price<prices>(of.of.underlying.value, of.decimals)),
            COLUMN("bid", "with type I only; none: another type",
                   of.type == 'I' ? price<prices>(of.of.underlying.bid, of.decimals)
                                  : no_price<prices>),
            COLUMN("offer", "with type I only; none: another type",
                   of.type == 'I' ? price<prices>(of.of.underlying.offer, of.decimals)
                                  : no_price<prices>),
        },
        message_columns());
}

constexpr auto text_columns() {
    return std::tuple_cat(std::tuple{COLUMN("text", "its first 1,024 characters",
                                            text<1024>({of.of.text.text, of.of.text.bytes}))},
                          message_columns());
}

constexpr auto control_columns() {
    return std::tuple_cat(
        std::tuple{
            COLUMN("forgets", "state of the line's series that it ends: nothing, quotes or day",
                   name<7>({"nothing", "quotes", "day"}, of.of.control.forgets)),
            COLUMN("ends_day", "the line's day ends", of.of.control.ends_day != 0),
        },
        message_columns());
}

constexpr auto gap_columns() {
    return std::tuple_cat(
        std::tuple{
            COLUMN("first", "first number", of.of.gap.first),
            COLUMN("last", "last number", of.of.gap.last),
            COLUMN("messages", "messages", of.of.gap.messages),
            COLUMN("cause",
                   "lost (on both streams), undecodable, ring_full (lost by this core alone), "
                   "repaired (no loss: they were found), or bridge (not carried by a bridge, whose "
                   "state includes them)",
                   name<11>({"lost", "undecodable", "ring_full", "repaired", "bridge"},
                            of.of.gap.cause)),
        },
        message_columns());
}

constexpr auto line_state_columns() {
    return std::tuple_cat(
        std::tuple{
            COLUMN("state", "up, silent (a stream), stream_down, or line_down",
                   name<11>({"up", "silent", "stream_down", "line_down"}, of.of.line_state.state)),
            COLUMN("stream", "A, B, or empty: the line as a whole",
                   letter_or_none(of.of.line_state.stream)),
        },
        message_columns());
}

/// Of a core whose state was read again.
constexpr auto part_columns() {
    return std::tuple_cat(std::tuple{COLUMN("more", "another part of the core's state follows",
                                            of.of.missed.more != 0)},
                          core_columns());
}

constexpr auto missed_columns() {
    return std::tuple_cat(
        std::tuple{
            COLUMN("first", "first position in the core's stream", of.of.missed.first),
            COLUMN("last", "last position", of.of.missed.last),
        },
        part_columns());
}

template <Prices prices>
constexpr auto value_columns() {
    return std::tuple_cat(
        series_columns<prices>(),
        best_columns<prices, &Value::bid>(
            {"bid", "bid_size", "bid_participant", "bid_known", "bid_stale"}),
        best_columns<prices, &Value::offer>(
            {"offer", "offer_size", "offer_participant", "offer_known", "offer_stale"}),
        std::tuple{
            COLUMN("bid_sequence", "number of the message that stated the bid; 0: unknown",
                   of.bid.sequence),
            COLUMN("offer_sequence", "number of the message that stated the offer; 0: unknown",
                   of.offer.sequence),
            COLUMN("open", "first price of the day in dollars; none: no trade",
                   price<prices>(of.open)),
            COLUMN("high", "highest price of the day in dollars", price<prices>(of.high)),
            COLUMN("low", "lowest price of the day in dollars", price<prices>(of.low)),
            COLUMN("last", "price of the last trade in dollars", price<prices>(of.last)),
            COLUMN("last_size", "its size in contracts", of.last_size),
            COLUMN("last_participant", "its exchange", letter_or_none(of.last_participant)),
            COLUMN("last_type", "its message type, by OPRA's letter", letter(of.last_type)),
            COLUMN("volume", "contracts traded today", of.volume),
            COLUMN("trades", "reports of trades today, without cancels", of.trades),
            COLUMN("quotes", "quotes since the start of day", of.quotes),
            COLUMN("open_interest", "contracts; NONE: unknown",
                   of.has_open_interest ? std::int64_t{of.open_interest} : none),
            COLUMN("changed", "receipt of the latest message, UTC, to 1 ms",
                   Time{of.changed_ns != 0 ? of.changed_ns : none}),
            COLUMN("line", "multicast line of the latest message", of.line),
            COLUMN("core", "actor core of the feed", of.core),
            COLUMN("old", "the feed has ended or died: the values may be old",
                   of.old != PINSTRIKE_CURRENT),
            COLUMN("unreadable", "the writer was in a write: no field but the series is valid",
                   of.old == PINSTRIKE_UNREADABLE),
        });
}

#undef COLUMN

// ---- layouts

/// What a layout is called.
struct Names {
    const char* name;
    const char* plural;
    const char* class_name;
    const char* doc;
};

template <class Source, class Columns>
Layout<Source> layout(const Names& names, const Columns& columns) {
    using OfKind = Rows<Source, Columns>;
    return {names.name,    names.plural,      names.class_name,
            names.doc,     OfKind::row_bytes, OfKind::fields(columns),
            &OfKind::write};
}

template <Prices prices>
MessageLayouts make_message_layouts() {
    const auto row = [](const Names& names, const auto& columns) {
        return layout<Record>(names, columns);
    };
    return {
        row({"quote", "quotes", "Quote",
             "A quote of one participant, and the best that follows from it."},
            quote_columns<prices>()),
        row({"trade", "trades", "Trade", "A trade, or the cancel of one (see `type`)."},
            trade_columns<prices>()),
        row({"open_interest", "open_interest", "OpenInterest", "The open interest of a series."},
            open_interest_columns<prices>()),
        row({"end_of_day", "end_of_day", "EndOfDay", "A participant's summary of the day."},
            end_of_day_columns<prices>()),
        row({"underlying", "underlyings", "Underlying", "The value of an index or underlying."},
            underlying_columns<prices>()),
        row({"text", "texts", "Text", "A message of the venue's operators."}, text_columns()),
        row({"control", "controls", "Control",
             "A control message of a line, such as a start of day."},
            control_columns()),
        row({"gap", "gaps", "Gap", "Messages of a line that were lost, or found again."},
            gap_columns()),
        row({"line_state", "line_states", "LineState", "Whether packets of a line arrive."},
            line_state_columns()),
        row({"renewed", "renewed", "Renewed",
             "The state of a core's series changed without messages, and was read again "
             "(snapshot)."},
            part_columns()),
        row({"missed", "missed", "Missed",
             "This program was too slow: records of a core are lost, and its state was read again "
             "(snapshot)."},
            missed_columns()),
        row({"state_part", "state_parts", "StatePart",
             "Another part of the state of a core's series, which is read again (snapshot)."},
            part_columns()),
        row({"restarted", "restarted", "Restarted",
             "The feed started anew, and all state was read again (snapshot)."},
            core_columns()),
    };
}

}  // namespace

PyObject* text_object(const std::byte* at, std::size_t characters_max) {
    std::size_t count = 0;
    while (count < characters_max && load<char32_t>(at + count * sizeof(char32_t)) != 0) {
        ++count;
    }
    return PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, at, static_cast<Py_ssize_t>(count));
}

std::size_t place_of(std::uint8_t kind) {
    static constexpr auto places = [] {
        constexpr std::array<std::uint8_t, kinds_count> kinds{
            PINSTRIKE_QUOTE,      PINSTRIKE_TRADE,   PINSTRIKE_OPEN_INTEREST, PINSTRIKE_END_OF_DAY,
            PINSTRIKE_UNDERLYING, PINSTRIKE_TEXT,    PINSTRIKE_CONTROL,       PINSTRIKE_GAP,
            PINSTRIKE_LINE_STATE, PINSTRIKE_RENEWED, PINSTRIKE_MISSED,        PINSTRIKE_STATE,
            PINSTRIKE_RESTARTED};
        std::array<std::uint8_t, 256> table{};
        table.fill(kinds_count);
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            table[kinds[i]] = static_cast<std::uint8_t>(i);
        }
        return table;
    }();
    return places[kind];
}

const MessageLayouts& message_layouts(Prices prices) {
    static const MessageLayouts numbers = make_message_layouts<Prices::numbers>();
    static const MessageLayouts exact = make_message_layouts<Prices::exact>();
    return prices == Prices::exact ? exact : numbers;
}

const Layout<pinstrike_value>& series_layout(Prices prices) {
    constexpr Names names{"series", "series", "Series", "The state of a series."};
    static const auto numbers = layout<Value>(names, value_columns<Prices::numbers>());
    static const auto exact = layout<Value>(names, value_columns<Prices::exact>());
    return prices == Prices::exact ? exact : numbers;
}

}  // namespace pinstrike::python
