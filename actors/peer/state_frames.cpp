// path: cold
#include "actors/peer/state_frames.h"

#include "actors/peer/frame_body.h"
#include "actors/peer/frames.h"
#include "config/check.h"

#include <algorithm>
#include <array>

namespace pinstrike::actors::peer {

namespace {

constexpr unsigned side_marks = side_known | side_stale | side_present | side_elsewhere;
constexpr unsigned trade_flags = has_open | has_range | has_last | has_open_interest | open_stated |
                                 touched_here | touched_here << elsewhere_shift;
constexpr std::uint8_t with_trades = 1;

bool is_text(char byte) {
    return byte >= ' ' && byte <= '~';
}

void read_place(Body& body, CoveredPlace& place) {
    body.take(place.sequence);
    body.take(place.reset_sequence);
    body.take(place.reset_ts_ns);
    body.take(place.ts_ns);
}

template <class Writer>
void put_place(Writer& body, const CoveredPlace& place) {
    body.put(place.sequence);
    body.put(place.reset_sequence);
    body.put(place.reset_ts_ns);
    body.put(place.ts_ns);
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

template <class Writer>
void put_side(Writer& body, const BookSide& side) {
    body.put(static_cast<std::uint32_t>(side.value));
    body.put(size_of(side));
    body.put(side.sequence);
    body.put(static_cast<std::uint8_t>(participant_of(side)));
    body.put(static_cast<std::uint8_t>(price_code_of(side)));
    body.put(mark_of(side));
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

/// Visits all fields of the frame, in their order on the wire.
template <class Trades, class Visit>
void for_each_field(Trades& trades, Visit&& visit) {
    visit(trades.volume);
    visit(trades.open);
    visit(trades.high);
    visit(trades.low);
    visit(trades.last);
    visit(trades.last_size);
    visit(trades.trades);
    visit(trades.open_interest);
    visit(trades.last_sequence);
    visit(trades.open_sequence);
    visit(trades.open_interest_sequence);
    visit(trades.open_code);
    visit(trades.high_code);
    visit(trades.low_code);
    visit(trades.last_code);
    visit(trades.last_participant);
    visit(trades.last_type);
    visit(trades.flags);
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

std::optional<StateFrame> parse_state_series(std::span<const std::byte> bytes) {
    Body body(bytes);
    StateFrame frame;
    StateRecord& record = frame.record;
    body.take(frame.id);
    body.take(record.line);
    const auto flags = body.take<std::uint8_t>();
    read_place(body, record.place);
    body.take(record.key.name);
    body.take(record.key.strike_e8);
    read_side(body, record.bid);
    read_side(body, record.offer);
    body.take(record.quotes);
    record.has_trades = flags == with_trades;
    if (record.has_trades) {
        for_each_field(record.trades, [&body](auto& field) { body.take(field); });
    }
    return body.whole() && flags <= with_trades ? std::optional{frame} : std::nullopt;
}

bool is_possible(const StateRecord& series) {
    const bool said = series.quotes != 0 || series.has_trades;
    return said && series.key.is_valid() && is_possible(series.bid) && is_possible(series.offer) &&
           (!series.has_trades || is_possible(series.trades));
}

std::optional<StateFrame> parse_state_lost(std::span<const std::byte> bytes) {
    Body body(bytes);
    StateFrame frame;
    frame.record.kind = StateRecord::Kind::lost;
    body.take(frame.id);
    body.take(frame.record.line);
    read_place(body, frame.record.place);
    return body.whole() ? std::optional{frame} : std::nullopt;
}

std::optional<StateFrame> parse_state_place(std::span<const std::byte> bytes) {
    Body body(bytes);
    StateFrame frame;
    frame.record.kind = StateRecord::Kind::place;
    body.take(frame.id);
    body.take(frame.record.line);
    read_place(body, frame.record.place);
    body.take(frame.record.books);
    return body.whole() && frame.record.books != 0 ? std::optional{frame} : std::nullopt;
}

std::optional<StateEnd> parse_state_end(std::span<const std::byte> bytes) {
    Body body(bytes);
    StateEnd end;
    body.take(end.id);
    body.take(end.series);
    return body.whole() ? std::optional{end} : std::nullopt;
}

void put(FrameWriter& writer, const StateRequest& request) {
    PINSTRIKE_CHECK(request.lines.size() <= state_lines_max);
    BodyWriter<state_request_bytes + 2 * state_lines_max> body;
    body.put(request.id);
    body.put(static_cast<std::uint16_t>(request.lines.size()));
    for (const std::uint16_t line : request.lines) {
        body.put(line);
    }
    writer.put(FrameType::state_request, body.bytes());
}

void put(FrameWriter& writer, const StateFrame& frame) {
    BodyWriter<state_series_bytes + state_trades_bytes> body;
    const StateRecord& record = frame.record;
    body.put(frame.id);
    body.put(record.line);
    if (record.kind == StateRecord::Kind::lost) {
        put_place(body, record.place);
        return writer.put(FrameType::state_lost, body.bytes());
    }
    if (record.kind == StateRecord::Kind::place) {
        put_place(body, record.place);
        body.put(record.books);
        return writer.put(FrameType::state_place, body.bytes());
    }
    body.put(record.has_trades ? with_trades : std::uint8_t{0});
    put_place(body, record.place);
    body.put(record.key.name);
    body.put(record.key.strike_e8);
    put_side(body, record.bid);
    put_side(body, record.offer);
    body.put(record.quotes);
    if (record.has_trades) {
        for_each_field(record.trades, [&body](const auto& field) { body.put(field); });
    }
    writer.put(FrameType::state_series, body.bytes());
}

void put(FrameWriter& writer, const StateEnd& end) {
    BodyWriter<state_end_bytes> body;
    body.put(end.id);
    body.put(end.series);
    writer.put(FrameType::state_end, body.bytes());
}

}  // namespace pinstrike::actors::peer
