// path: cold
#include "actors/peer/state_frames.h"

#include "config/check.h"

namespace pinstrike::actors::peer {

template <>
inline constexpr auto fields_of<CoveredPlace> =
    std::tuple{&CoveredPlace::sequence, &CoveredPlace::reset_sequence, &CoveredPlace::reset_ts_ns,
               &CoveredPlace::ts_ns};

template <>
inline constexpr auto fields_of<feed::SeriesKey> =
    std::tuple{&feed::SeriesKey::name, &feed::SeriesKey::strike_e8};

template <>
inline constexpr auto fields_of<TradeRecord> = std::tuple{&TradeRecord::volume,
                                                          &TradeRecord::open,
                                                          &TradeRecord::high,
                                                          &TradeRecord::low,
                                                          &TradeRecord::last,
                                                          &TradeRecord::last_size,
                                                          &TradeRecord::trades,
                                                          &TradeRecord::open_interest,
                                                          &TradeRecord::last_sequence,
                                                          &TradeRecord::open_sequence,
                                                          &TradeRecord::open_interest_sequence,
                                                          &TradeRecord::open_code,
                                                          &TradeRecord::high_code,
                                                          &TradeRecord::low_code,
                                                          &TradeRecord::last_code,
                                                          &TradeRecord::last_participant,
                                                          &TradeRecord::last_type,
                                                          &TradeRecord::flags};
static_assert(fields_bytes<TradeRecord> == state_trades_bytes);

namespace {

using Kind = StateRecord::Kind;

constexpr unsigned side_marks = side_known | side_stale | side_present | side_elsewhere;
constexpr unsigned trade_flags = has_open | has_range | has_last | has_open_interest | open_stated |
                                 touched_here | touched_here << elsewhere_shift;
constexpr std::uint8_t with_trades = 1;

bool is_text(char byte) {
    return byte >= ' ' && byte <= '~';
}

void read_side(Body& body, BookSide& side) {
    const auto price = body.take<std::uint32_t>();
    const auto size = body.take<std::uint32_t>();
    body.take(side.sequence);
    const auto participant = body.take<std::uint8_t>();
    const auto code = body.take<std::uint8_t>();
    const auto mark = body.take<std::uint8_t>();
    side.value = price | std::uint64_t{size} << 32;
    side.said = participant | std::uint32_t{code} << 8 | std::uint32_t{mark} << mark_shift;
}

bool is_possible(const BookSide& side) {
    const unsigned mark = mark_of(side);
    if ((mark & ~side_marks) != 0) {
        return false;
    }
    if (is(side, side_present)) {
        return is(side, side_known) && is_text(participant_of(side)) &&
               feed::is_code(price_code_of(side));
    }
    const bool empty = side.value == 0 && participant_of(side) == 0 && price_code_of(side) == 0;
    return empty && (is(side, side_known) || (mark == 0 && side.sequence == 0));
}

void put_side(FrameWriter& writer, const BookSide& side) {
    writer.add(static_cast<std::uint32_t>(side.value));
    writer.add(size_of(side));
    writer.add(side.sequence);
    writer.add(static_cast<std::uint8_t>(participant_of(side)));
    writer.add(static_cast<std::uint8_t>(price_code_of(side)));
    writer.add(mark_of(side));
}

bool is_possible(const TradeRecord& trades) {
    const auto coded = [&trades](unsigned flag, char code) {
        return (trades.flags & flag) == 0 || feed::is_code(code);
    };
    const bool last = (trades.flags & has_last) == 0 ||
                      (is_text(trades.last_participant) && is_text(trades.last_type));
    return (trades.flags & ~trade_flags) == 0 && coded(has_open, trades.open_code) &&
           coded(has_range, trades.high_code) && coded(has_range, trades.low_code) &&
           coded(has_last, trades.last_code) && last && says_anything(trades);
}

FrameType type_of(Kind kind) {
    return kind == Kind::lost    ? FrameType::state_lost
           : kind == Kind::place ? FrameType::state_place
                                 : FrameType::state_series;
}

std::optional<Kind> kind_of(FrameType type) {
    for (const Kind kind : {Kind::series, Kind::lost, Kind::place}) {
        if (type_of(kind) == type) {
            return kind;
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<StateRequest> parse_state_request(std::span<const std::byte> bytes) {
    Body body(bytes);
    StateRequest request;
    body.take(request.id);
    const auto count = body.take<std::uint16_t>();
    if (count > state_lines_max || bytes.size() != state_request_bytes + 2U * count) {
        return std::nullopt;
    }
    request.lines.resize(count);
    for (std::uint16_t& line : request.lines) {
        body.take(line);
    }
    return body.whole() && request.id != 0 ? std::optional{request} : std::nullopt;
}

std::optional<StateFrame> parse_state(const Frame& from) {
    const auto kind = kind_of(from.type);
    if (!kind) {
        return std::nullopt;
    }
    Body body(from.body);
    StateFrame frame;
    StateRecord& record = frame.record;
    record.kind = *kind;
    const bool is_series = kind == Kind::series;
    body.take(frame.id);
    body.take(record.line);
    const auto flags = is_series ? body.take<std::uint8_t>() : std::uint8_t{0};
    body.take(record.place);
    if (is_series) {
        body.take(record.key);
        read_side(body, record.bid);
        read_side(body, record.offer);
        body.take(record.quotes);
        record.has_trades = flags == with_trades;
    }
    if (record.has_trades) {
        body.take(record.trades);
    }
    if (kind == Kind::place) {
        body.take(record.books);
    }
    const bool good = flags <= with_trades && (kind != Kind::place || record.books != 0);
    return body.whole() && good ? std::optional{frame} : std::nullopt;
}

bool is_possible(const StateRecord& series) {
    const bool said = series.quotes != 0 || series.has_trades;
    return said && series.key.is_valid() && is_possible(series.bid) && is_possible(series.offer) &&
           (!series.has_trades || is_possible(series.trades));
}

void put(FrameWriter& writer, const StateRequest& request) {
    PINSTRIKE_CHECK(request.lines.size() <= state_lines_max);
    writer.begin(FrameType::state_request);
    writer.add(request.id);
    writer.add(static_cast<std::uint16_t>(request.lines.size()));
    writer.add_bytes(std::as_bytes(std::span{request.lines}));
    writer.end();
}

void put(FrameWriter& writer, const StateFrame& frame) {
    const StateRecord& record = frame.record;
    const FrameType type = type_of(record.kind);
    writer.begin(type);
    writer.add(frame.id);
    writer.add(record.line);
    if (type == FrameType::state_series) {
        writer.add(record.has_trades ? with_trades : std::uint8_t{0});
        writer.add(record.place);
        writer.add(record.key);
        put_side(writer, record.bid);
        put_side(writer, record.offer);
        writer.add(record.quotes);
        if (record.has_trades) {
            writer.add(record.trades);
        }
    } else {
        writer.add(record.place);
    }
    if (type == FrameType::state_place) {
        writer.add(record.books);
    }
    writer.end();
}

}  // namespace pinstrike::actors::peer
