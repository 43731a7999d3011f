// Events for the tests of rings, routers and cores.
#pragma once

#include "feed/event/event.h"

#include <cstdint>
#include <string_view>

namespace pinstrike::test_events {

inline feed::SeriesKey series_of(std::string_view symbol, std::int64_t strike_e8 = 100) {
    feed::SeriesKey key;
    std::uint64_t name = 0;
    for (std::size_t i = 0; i < feed::SeriesKey::symbol_bytes; ++i) {
        const char letter = i < symbol.size() ? symbol[i] : ' ';
        name |= static_cast<std::uint64_t>(static_cast<unsigned char>(letter)) << (8 * i);
    }
    key.name = name | std::uint64_t{'A'} << 40 | std::uint64_t{20} << 48 | std::uint64_t{26} << 56;
    key.strike_e8 = strike_e8;
    return key;
}

inline feed::Event quote_of(const feed::SeriesKey& series, std::uint32_t sequence,
                            std::uint8_t records = 1, std::uint16_t line = 1) {
    feed::Event event{};
    event.header.kind = feed::EventKind::quote;
    event.header.records = records;
    event.header.line = line;
    event.header.sequence = sequence;
    event.body.quote = {series, 1, 2, 3, 4};
    return event;
}

inline feed::Event control_of(char type, feed::Forget forget, std::uint32_t sequence,
                              std::uint16_t line = 1) {
    feed::Event event{};
    event.header.kind = feed::EventKind::control;
    event.header.type = type;
    event.header.line = line;
    event.header.sequence = sequence;
    event.body.control = {forget};
    return event;
}

inline feed::Event gap_of(std::uint32_t first, std::uint32_t last, feed::GapCause cause,
                          std::uint16_t line = 1) {
    feed::Event event{};
    event.header.kind = feed::EventKind::gap;
    event.header.line = line;
    event.header.sequence = first;
    event.body.gap = {first, last, std::uint64_t{last} - first + 1, cause};
    return event;
}

}  // namespace pinstrike::test_events
