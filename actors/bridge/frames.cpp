// path: hot
#include "actors/bridge/frames.h"

#include "actors/core/series_fields.h"
#include "actors/publish/stamp.h"
#include "feed/event/limits.h"

#include <algorithm>

namespace pinstrike::actors::bridge {
namespace {

constexpr std::size_t whole_units(std::size_t bytes) {
    return (bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

/// Whether a feed can have a message of this series. A feed checks the expiration alone: symbol and
/// strike are as the venue sent them, and SeriesKey::is_valid() would refuse some.
bool can_come(const feed::SeriesKey& key) {
    const char letter = key.expiration_letter();
    return letter >= feed::SeriesKey::letter_of(1, true) &&
           letter <= feed::SeriesKey::letter_of(12, false) && key.day() >= 1 && key.day() <= 31;
}

/// Numbers that the feed itself states as missing. They may span the wrap. 0 to 0: none.
bool is_possible(const feed::Gap& gap, const feed::Numbering& numbering) {
    const bool in_order =
        gap.first <= gap.last || numbering.distance(gap.first, gap.last) <= numbering.last / 2;
    return gap.cause <= feed::GapCause::bridge && (gap.first == 0) == (gap.last == 0) &&
           gap.first <= numbering.last && gap.last <= numbering.last && in_order;
}

bool is_possible(const BookSide& side) {
    constexpr unsigned marks = side_known | side_stale | side_late | side_present | side_elsewhere;
    if (!is(side, side_present)) {
        const bool empty = side.value == 0 && participant_of(side) == 0 && price_code_of(side) == 0;
        return (mark_of(side) & ~marks) == 0 && (empty || !is(side, side_known));
    }
    return (mark_of(side) & ~marks) == 0 && is(side, side_known) &&
           feed::is_code(price_code_of(side));
}

bool is_possible(const TradeRecord& trades) {
    constexpr unsigned flags = has_open | has_range | has_last | has_open_interest | open_stated |
                               touched_here | touched_here << elsewhere_shift | own_flags;
    const auto coded = [&trades](unsigned flag, char code) {
        return (trades.flags & flag) == 0 || feed::is_code(code);
    };
    return (trades.flags & ~flags) == 0 && coded(has_open, trades.open_code) &&
           coded(has_range, trades.high_code) && coded(has_range, trades.low_code) &&
           coded(has_last, trades.last_code);
}

}  // namespace

std::string Frame::text() const {
    const std::size_t bytes = std::min<std::size_t>({header.count, text_bytes_max, body.size()});
    std::string text;
    for (const std::byte byte : body.first(bytes)) {
        const char letter = static_cast<char>(byte);
        text += letter >= ' ' && letter <= '~' ? letter : '?';
    }
    return text;
}

std::span<std::byte> FrameReader::space() {
    if (begin_ != 0) {
        std::memmove(data(), data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    return {data() + end_, buffer_bytes - end_};
}

FrameReader::Result FrameReader::next(Frame& frame) {
    if (end_ - begin_ < sizeof(FrameHeader)) {
        return Result::incomplete;
    }
    FrameHeader& header = frame.header;
    std::memcpy(&header, data() + begin_, sizeof header);
    if (header.magic != frame_magic) {
        return Result::malformed;
    }
    if (header.version != protocol_version) {
        return Result::wrong_version;
    }
    if (header.type < FrameType::hello || header.type > FrameType::bye ||
        header.body_bytes > body_bytes_max || header.body_bytes % unit_bytes != 0) {
        return Result::malformed;
    }
    const std::size_t bytes = sizeof header + header.body_bytes;
    if (end_ - begin_ < bytes) {
        return Result::incomplete;
    }
    frame.body = {data() + begin_ + sizeof header, header.body_bytes};
    begin_ += bytes;
    taken_ += bytes;
    return Result::frame;
}

bool FrameWriter::has_room(std::size_t body_bytes) {
    if (begin_ == end_) {
        begin_ = end_ = 0;
    } else if (begin_ > bytes_.size() / 2) {
        std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    return bytes_.size() - end_ >= sizeof(FrameHeader) + whole_units(body_bytes);
}

void FrameWriter::begin(const FrameHeader& header) {
    frame_ = end_;
    begun_ = true;
    append(&header, sizeof header);
}

void FrameWriter::end(const FrameHeader& header) {
    const std::size_t body = end_ - frame_ - sizeof header;
    const std::size_t whole = whole_units(body);
    std::memset(bytes_.data() + end_, 0, whole - body);
    end_ += whole - body;
    FrameHeader complete = header;
    complete.body_bytes = static_cast<std::uint32_t>(whole);
    std::memcpy(bytes_.data() + frame_, &complete, sizeof complete);
    begun_ = false;
}

bool FrameWriter::put(const FrameHeader& header, std::span<const std::byte> body) {
    if (!has_room(body.size())) {
        return false;
    }
    begin(header);
    if (!body.empty()) {
        append(body.data(), body.size());
    }
    end(header);
    return true;
}

bool FrameWriter::put_text(FrameType type, std::string_view text) {
    FrameHeader header;
    header.type = type;
    const std::string_view part = text.substr(0, text_bytes_max);
    header.count = static_cast<std::uint32_t>(part.size());
    return put(header, std::as_bytes(std::span{part}));
}

bool is_possible(const feed::Event& event, std::size_t left, const feed::Numbering& numbering) {
    using feed::EventKind;
    const feed::Header& header = event.header;
    // A negative time is too large as an unsigned one.
    constexpr std::uint64_t time_ns_max = ts_receive_ns_max;
    if (header.records == 0 || header.records > left || !feed::is_known(header.kind) ||
        !feed::is_code(header.code) || header.number() > numbering.last ||
        static_cast<std::uint64_t>(header.ts_receive_ns) > time_ns_max) {
        return false;
    }
    if (header.kind == EventKind::quote && header.records == 1) [[likely]] {
        return can_come(event.body.series);
    }
    if (feed::has_series(header.kind)) {
        const bool appended = header.kind == EventKind::quote && header.records > 1;
        const auto best = [](const feed::Best& side) {
            return side.participant == 0 || feed::is_code(side.code);
        };
        return can_come(event.body.series) &&
               (header.kind != EventKind::end_of_day || header.records == 2) &&
               (header.kind != EventKind::series_map ||
                event.body.series_map.id <= PINSTRIKE_INDEX) &&
               (!appended || (best(feed::rest_of<feed::QuoteBest>(event).bid) &&
                              best(feed::rest_of<feed::QuoteBest>(event).offer)));
    }
    switch (header.kind) {
        case EventKind::text:
            return event.body.text.length_bytes <=
                   feed::Text::first_bytes + (header.records - 1U) * sizeof(feed::Event);
        case EventKind::control:
            return event.body.control.forget <= feed::Forget::day;
        case EventKind::gap:
            return is_possible(event.body.gap, numbering);
        case EventKind::line_state:
            return event.body.line_state.state <= feed::LineState::line_down;
        default:
            return true;
    }
}

bool is_possible(const SeriesBody& series) {
    const pinstrike_entry& entry = series.entry;
    return can_come({entry.name, entry.strike_e8}) &&
           (entry.stamp & PINSTRIKE_STAMP_WRITING) == 0 && is_possible(entry.bid) &&
           is_possible(entry.offer) &&
           ((entry.record & PINSTRIKE_TRADES) == 0 || is_possible(series.trades));
}

bool is_possible(const LineBody& line) {
    return line.version <= feed::line_number_max && is_clock_stamp(line.changed) &&
           is_clock_stamp(line.day) && is_clock_stamp(line.flush) &&
           is_clock_stamp(line.late_flush) && is_clock_stamp(line.gap);
}

}  // namespace pinstrike::actors::bridge
