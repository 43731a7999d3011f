// path: cold
//
// Events written by hand, and a book to give them to.
#pragma once

#include "actors/book/book.h"
#include "feed/event/event.h"
#include "feed/opra/test_symbols.h"

#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

namespace pinstrike::actors::test {

inline feed::SeriesKey key_of(std::string_view symbol, char letter = 'A', unsigned day = 16,
                              unsigned year = 27, std::int64_t strike_e8 = 100'00000000,
                              bool gth = false) {
    std::array<char, 8> bytes{' ', ' ', ' ', ' ', ' ', 0, 0, 0};
    std::memcpy(bytes.data(), symbol.data(), symbol.size());
    bytes[5] = static_cast<char>(letter | (gth ? feed::SeriesKey::gth_bit : 0));
    bytes[6] = static_cast<char>(day);
    bytes[7] = static_cast<char>(year);
    return {std::bit_cast<std::uint64_t>(bytes), strike_e8};
}

inline constexpr BookConfig small_book{.series_capacity = 1000,
                                       .is_test_symbol = feed::opra::is_test_symbol};

/// The fields of a quote.
struct QuoteText {
    char indicator = 'F';
    std::int32_t bid = 100;
    std::uint32_t bid_size = 10;
    std::int32_t offer = 110;
    std::uint32_t offer_size = 20;
    char participant = 'C';
    char code = 'B';
    feed::Best best_bid{};
    feed::Best best_offer{};
};

/// The records of a batch, in contiguous memory.
class Events {
  public:
    feed::Event& add(feed::EventKind kind, std::uint16_t line, std::uint64_t number,
                     std::uint8_t flags = 0) {
        records_.push_back(feed::Event{});
        feed::Event& event = records_.back();
        event.header.kind = kind;
        event.header.line = line;
        event.header.set_number(number);
        event.header.flags = flags;
        return event;
    }

    void quote(const feed::SeriesKey& key, std::uint16_t line, std::uint64_t number,
               const QuoteText& text = {}, std::uint8_t flags = 0) {
        feed::Event& event = add(feed::EventKind::quote, line, number, flags);
        event.header.indicator = text.indicator;
        event.header.participant = text.participant;
        event.header.code = text.code;
        event.body.quote = {key, text.bid, text.bid_size, text.offer, text.offer_size};
        if (std::string_view("CGKMNOP").find(text.indicator) != std::string_view::npos) {
            event.header.records = 2;
            const feed::QuoteBest best{.bid = text.best_bid,
                                       .transaction_id = 0,
                                       .offer = text.best_offer,
                                       .reference = 0};
            records_.push_back(feed::Event{});
            std::memcpy(static_cast<void*>(&records_.back()), &best, sizeof(best));
        }
    }

    void trade(const feed::SeriesKey& key, std::uint16_t line, std::uint32_t sequence, char type,
               std::int32_t price, std::uint32_t volume, std::uint8_t flags = 0, char code = 'B') {
        feed::Event& event = add(feed::EventKind::trade, line, sequence, flags);
        event.header.type = type;
        event.header.participant = 'Q';
        event.header.code = code;
        event.body.trade = {key, price, volume, 0, 0};
    }

    void open_interest(const feed::SeriesKey& key, std::uint16_t line, std::uint32_t sequence,
                       std::uint32_t contracts, std::uint8_t flags = 0) {
        add(feed::EventKind::open_interest, line, sequence, flags).body.open_interest = {key,
                                                                                         contracts};
    }

    void end_of_day(const feed::SeriesKey& key, std::uint16_t line, std::uint32_t sequence,
                    std::uint8_t flags = 0) {
        feed::Event& event = add(feed::EventKind::end_of_day, line, sequence, flags);
        event.header.records = 2;
        event.body.end_of_day = {key, 1, 1, 1, 1};
        records_.push_back(feed::Event{});
    }

    /// `mapped_line` 0: the line of the message.
    void series_map(const feed::SeriesKey& key, std::uint16_t line, std::uint32_t sequence,
                    std::uint8_t flags = 0, std::uint16_t mapped_line = 0) {
        add(feed::EventKind::series_map, line, sequence, flags).body.series_map = {
            key, mapped_line == 0 ? line : mapped_line};
    }

    void control(std::uint16_t line, std::uint32_t sequence, feed::Forget forget,
                 std::uint8_t flags = 0) {
        add(feed::EventKind::control, line, sequence, flags).body.control = {forget};
    }

    void gap(std::uint16_t line, std::uint32_t first, std::uint32_t last,
             feed::GapCause cause = feed::GapCause::line, std::uint8_t flags = 0) {
        add(feed::EventKind::gap, line, first, flags).body.gap = {
            first, last, std::uint64_t{last} - first + 1, cause};
    }

    /// Sets the times of the records that were added since the last call.
    void stamp(std::int64_t ts_ns) {
        while (stamped_ < records_.size()) {
            feed::Header& header = records_[stamped_].header;
            header.ts_exchange_ns = ts_ns;
            header.ts_receive_ns = ts_ns;
            stamped_ += header.records;
        }
    }

    /// Passes all records to the book as one batch, then removes them.
    void play(Book& book) {
        book.on_events(EventBatch{records_});
        records_.clear();
        stamped_ = 0;
    }

    [[nodiscard]] EventBatch batch() const { return EventBatch{records_}; }

    [[nodiscard]] std::size_t size() const { return records_.size(); }

  private:
    std::vector<feed::Event> records_;
    std::size_t stamped_ = 0;
};

}  // namespace pinstrike::actors::test
