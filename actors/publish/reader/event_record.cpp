// path: cold
#include "actors/publish/reader/event_record.h"

#include "actors/publish/reader/side_rules.h"
#include "actors/publish/reader/value.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace pinstrike::reader {

using feed::EventKind;

// pinstrike.h repeats these, because users have it alone.
static_assert(+PINSTRIKE_IS_LATE == +feed::flag_late &&
              +PINSTRIKE_BEFORE_DAY == +feed::flag_before_day &&
              +PINSTRIKE_BEFORE_FLUSH == +feed::flag_before_flush &&
              +PINSTRIKE_RETRANSMITTED == +feed::flag_retransmitted &&
              +PINSTRIKE_INFERRED == +feed::flag_inferred &&
              +PINSTRIKE_FROM_FILE == +feed::flag_from_file &&
              +PINSTRIKE_WITHOUT_NUMBER == +feed::flag_unnumbered);
static_assert(PINSTRIKE_QUOTE == static_cast<int>(EventKind::quote) &&
              PINSTRIKE_TEXT == static_cast<int>(EventKind::text) &&
              PINSTRIKE_CONTROL == static_cast<int>(EventKind::control) &&
              PINSTRIKE_LINE_MARK == static_cast<int>(EventKind::line_mark));

namespace {

/// A flag whose byte may be any in damaged memory.
std::uint8_t flag_of(const bool& flag) {
    std::uint8_t byte = 0;
    std::memcpy(&byte, &flag, 1);
    return byte != 0 ? 1 : 0;
}

void add_end_of_day(pinstrike_record& record, const feed::Event& event) {
    const feed::EndOfDay& first = event.body.end_of_day;
    auto& to = record.of.end_of_day;
    to = {};
    to.volume = first.volume;
    to.open_interest = first.open_interest;
    to.open = first.open;
    to.high = first.high;
    if (event.header.records > 1) {
        const auto& rest = feed::rest_of<feed::EndOfDayRest>(event);
        to.low = rest.low;
        to.last = rest.last;
        to.net_change = rest.net_change;
        to.bid = rest.bid;
        to.offer = rest.offer;
        to.underlying = rest.underlying;
        to.underlying_decimals = decimals_of(rest.underlying_code);
    }
}

void add_underlying(pinstrike_record& record, const feed::Underlying& underlying) {
    const std::uint64_t text = root_text(underlying.symbol);
    std::memcpy(record.of.underlying.symbol, &text, sizeof record.of.underlying.symbol);
    record.of.underlying.value = underlying.value;
    record.of.underlying.bid = underlying.bid;
    record.of.underlying.offer = underlying.offer;
}

void add_body(pinstrike_record& record, const feed::Event& event) {
    const feed::Event::Body& body = event.body;
    switch (event.header.kind) {
        case EventKind::trade:
            record.of.trade = {body.trade.price, body.trade.volume, body.trade.reference};
            break;
        case EventKind::open_interest:
            record.of.open_interest = {body.open_interest.open_interest};
            break;
        case EventKind::end_of_day:
            add_end_of_day(record, event);
            break;
        case EventKind::series_map:
            record.of.series_map = {body.series_map.mapped_line};
            break;
        case EventKind::underlying:
            add_underlying(record, body.underlying);
            break;
        case EventKind::control:
            record.of.control = {static_cast<std::uint8_t>(body.control.forget),
                                 flag_of(body.control.ends_day)};
            break;
        case EventKind::gap:
            record.of.gap = {body.gap.first, body.gap.last, body.gap.messages,
                             static_cast<std::uint8_t>(body.gap.cause)};
            break;
        case EventKind::line_state:
            record.of.line_state = {static_cast<std::uint8_t>(body.line_state.state),
                                    body.line_state.stream};
            break;
        default:
            break;
    }
}

}  // namespace

void write_record(pinstrike_record& record, const feed::Event& event, std::uint16_t core,
                  std::uint64_t stamp) {
    record = {};
    write_head(record, event.header, core, stamp);
    add_body(record, event);
}

std::string text_of(const feed::Event& event) {
    const feed::Text& text = event.body.text;
    const std::size_t length = text.length_bytes;
    std::string out{text.text, std::min(length, feed::Text::first_bytes)};
    const std::size_t rest = (event.header.records - std::size_t{1}) * sizeof(feed::Event);
    const auto* const more = reinterpret_cast<const char*>(&event + 1);  // tidy: text as sent
    return out.append(more, std::min(length - out.size(), rest));
}

}  // namespace pinstrike::reader
