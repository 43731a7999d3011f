// path: hot
//
// Applies a trade report to a series by the report's type, in order and late.
//
// A late report is one whose number had been declared lost, so newer reports came before it. It
// always counts in values that are sums or ranges (volume, trades, high, low). It changes values
// that the latest report determines (last, open, open interest) only if no newer report set or
// cancelled them.
#pragma once

#include "actors/book/book_entry.h"
#include "actors/publish/line_memory.h"
#include "feed/event/event.h"
#include "feed/event/trade_effect.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

/// The order of a message relative to the state of its series.
struct MessageOrder {
    std::uint32_t sequence = 0;
    bool late = false;
    bool foreign = false;  ///< late, on a line that the series left or of an earlier numbering

    /// Whether the message is newer than message `stated` of the series' current line and
    /// numbering.
    [[nodiscard]] bool after(std::uint32_t stated) const {
        return !late || (!foreign && late_after(sequence, stated));
    }
};

class TradeRules {
  public:
    TradeRules(TradeRecord& record, const MessageOrder& order) : record_(record), order_(order) {}

    void apply(const feed::Header& header, const feed::Trade& trade) {
        const std::uint8_t effects = feed::trade_effects_of(header.type);
        if ((effects & feed::effect_cancel) != 0) {
            cancel(effects, trade.volume);
            return;
        }
        ++record_.trades;
        record_.volume += trade.volume;
        const Price price{trade.price, header.code};
        if ((effects & feed::effect_range) != 0) {
            widen(price);
        }
        if ((effects & feed::effect_last) != 0 && newest_of_last()) {
            set_last(header, trade);
        }
        if ((effects & feed::effect_open) != 0) {
            state_open(price);
        } else if ((effects & feed::effect_open_first) != 0) {
            first_open(price);
        }
    }

    void state_open_interest(std::uint32_t contracts) {
        if (newest_of(open_interest_touched, record_.open_interest_sequence)) {
            record_.open_interest = contracts;
            raise(has_open_interest);
            touch(open_interest_touched, record_.open_interest_sequence);
        }
    }

  private:
    /// Whether no newer message has touched the value that this message would set.
    [[nodiscard]] bool newest_of(TradeFlag touched, std::uint32_t stated) const {
        if ((record_.flags & touched) != 0) {
            return order_.after(stated);
        }
        return !order_.foreign || (record_.flags & touched << elsewhere_shift) == 0;
    }

    [[nodiscard]] bool newest_of_last() const {
        return newest_of(last_touched, record_.last_sequence);
    }

    [[nodiscard]] bool newest_of_open() const {
        return newest_of(open_touched, record_.open_sequence);
    }

    void touch(TradeFlag touched, std::uint32_t& stated) {
        if (order_.foreign) {
            lower(touched);
            raise(static_cast<unsigned>(touched) << elsewhere_shift);
        } else {
            stated = order_.sequence;
            raise(touched);
        }
    }

    void raise(unsigned flags) {
        record_.flags = static_cast<std::uint16_t>(record_.flags | flags);
    }

    void lower(unsigned flags) {
        record_.flags = static_cast<std::uint16_t>(record_.flags & ~flags);
    }

    void touch_last() { touch(last_touched, record_.last_sequence); }

    void touch_open() { touch(open_touched, record_.open_sequence); }

    void widen(const Price& price) {
        const bool first = (record_.flags & has_range) == 0;
        if (first || price.e8() > Price{record_.high, record_.high_code}.e8()) {
            record_.high = price.value;
            record_.high_code = price.code;
        }
        if (first || price.e8() < Price{record_.low, record_.low_code}.e8()) {
            record_.low = price.value;
            record_.low_code = price.code;
        }
        raise(has_range);
    }

    void set_last(const feed::Header& header, const feed::Trade& trade) {
        record_.last = trade.price;
        record_.last_code = header.code;
        record_.last_size = trade.volume;
        record_.last_participant = header.participant;
        record_.last_type = header.type;
        raise(has_last);
        touch_last();
    }

    void set_open(const Price& price) {
        record_.open = price.value;
        record_.open_code = price.code;
        raise(has_open);
        touch_open();
    }

    /// Applies an opening report. A late one still replaces an open that was taken from the first
    /// trade.
    void state_open(const Price& price) {
        const bool taken_from_trade = (record_.flags & (has_open | open_stated)) == has_open;
        if (newest_of_open() || taken_from_trade) {
            set_open(price);
            raise(open_stated);
        }
    }

    /// Applies an ordinary trade. The open is the first trade of the day, so an older trade that
    /// comes late replaces a newer trade as the open, but it never replaces an opening report.
    void first_open(const Price& price) {
        const bool taken_from_trade = (record_.flags & (has_open | open_stated)) == has_open;
        const bool older = order_.late && !newest_of_open();
        const bool missing = (record_.flags & has_open) == 0;
        if ((missing && !older) || (taken_from_trade && older)) {
            set_open(price);
            lower(open_stated);
        }
    }

    void cancel(std::uint8_t effects, std::uint32_t volume) {
        const std::uint32_t known =
            volume < record_.volume ? volume : static_cast<std::uint32_t>(record_.volume);
        record_.volume -= known;
        record_.excess_cancelled += volume - known;
        if ((effects & feed::effect_cancel_all) != 0) {
            cancel_all();
            return;
        }
        if ((effects & feed::effect_cancel_last) != 0 && newest_of_last()) {
            lower(has_last);
            touch_last();
        }
        if ((effects & feed::effect_cancel_open) != 0 && newest_of_open()) {
            lower(has_open | open_stated);
            raise(open_cancelled);
            touch_open();
        }
    }

    /// Cancels the only report of the day. If the cancel is late and newer trades came before it,
    /// the report was not the only one: its volume is subtracted, but the values of the newer
    /// trades stay.
    void cancel_all() {
        if (!newest_of_last() || !newest_of_open()) {
            return;
        }
        record_.volume = 0;
        lower(has_open | open_stated | has_range | has_last);
        raise(all_cancelled);
        touch_last();
        touch_open();
    }

    TradeRecord& record_;
    MessageOrder order_;
};

}  // namespace pinstrike::actors
