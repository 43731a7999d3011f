// path: cold
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/side_rules.h"
#include "feed/event/event.h"

#include <cstdint>
#include <string>

namespace pinstrike::reader {

/// Writes what events of all kinds have.
inline void write_head(pinstrike_record& record, const feed::Header& header, std::uint16_t core,
                       std::uint64_t stamp) {
    record.kind = static_cast<std::uint8_t>(header.kind);
    record.flags = header.flags;
    record.line = header.line;
    record.participant = header.participant;
    record.type = header.type;
    record.indicator = header.indicator;
    record.decimals = decimals_of(header.code);
    record.sequence = header.number();
    record.core = core;
    record.exchange_ns = header.ts_exchange_ns;
    record.receive_ns = header.ts_receive_ns;
    record.stamp = stamp;
}

/// Writes a quote as users get it, without key and best. The part of `of` that no quote has keeps
/// what it had.
inline void write_quote(pinstrike_record& record, const feed::Event& event, std::uint16_t core,
                        std::uint64_t stamp) {
    write_head(record, event.header, core, stamp);
    const feed::Quote& quote = event.body.quote;
    record.of.quote = {quote.bid, quote.bid_size, quote.offer, quote.offer_size};
}

/// Writes an event of another kind as users get it, without key and text.
void write_record(pinstrike_record& record, const feed::Event& event, std::uint16_t core,
                  std::uint64_t stamp);

/// The text of an event of that kind.
[[nodiscard]] std::string text_of(const feed::Event& event);

}  // namespace pinstrike::reader
