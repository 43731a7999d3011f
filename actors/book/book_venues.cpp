// path: hot
//
// Each participant's last quote (BookConfig::venue_quotes).
#include "actors/book/book.h"

namespace pinstrike::actors {

void Book::keep_venue_quote(const feed::Event& event) {
    const feed::Header& header = event.header;
    const VenueKey key{event.body.quote.series, static_cast<unsigned char>(header.participant)};
    VenueEntry* entry = venues_.find(key);
    if (entry == nullptr) {
        entry = venues_.insert(key);
        if (entry == nullptr) {
            counters_.bump(BookCount::venue_quotes_refused);
            return;
        }
        venue_sweeper_.inserted(venues_, *entry);
    }
    const LineMemory& line = lines_[header.line];
    const bool same = entry->epoch != 0 && !forgotten(*entry) && entry->line == header.line;
    if (is_late(header) && same && !sequence_after(header.sequence, entry->sequence)) {
        return;
    }
    const feed::Quote& quote = event.body.quote;
    entry->bid = quote.bid;
    entry->bid_size = quote.bid_size;
    entry->offer = quote.offer;
    entry->offer_size = quote.offer_size;
    entry->sequence = header.sequence;
    entry->epoch = line.epoch;
    entry->line = header.line;
    entry->type = header.type;
    entry->code = header.code;
}

void Book::sweep_venues(std::size_t slots_count) {
    venue_sweeper_.advance(venues_, slots_count,
                           [this](const VenueEntry& entry) { return forgotten(entry); });
}

// --- cold ---

std::optional<VenueQuote> Book::venue_quote(const feed::SeriesKey& key, char participant) const {
    if (!config_.venue_quotes || is_empty(key)) {
        return std::nullopt;
    }
    const VenueEntry* const entry =
        venues_.find(VenueKey{key, static_cast<unsigned char>(participant)});
    if (entry == nullptr || forgotten(*entry)) {
        return std::nullopt;
    }
    return VenueQuote{.participant = participant,
                      .type = entry->type,
                      .code = entry->code,
                      .stale = lines_[entry->line].gap > entry->epoch,
                      .bid = entry->bid,
                      .bid_size = entry->bid_size,
                      .offer = entry->offer,
                      .offer_size = entry->offer_size};
}

}  // namespace pinstrike::actors
