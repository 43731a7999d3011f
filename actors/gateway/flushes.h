// path: cold
//
// The latest flush of quotes and start of day of each line, as stamps. They change all series of
// the line; each is updated when it is used.
#pragma once

#include "actors/gateway/instruments.h"
#include "actors/publish/pinstrike.h"
#include "feed/dbn/records.h"
#include "feed/event/limits.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway {

class Flushes {
  public:
    /// Adds what an event of kind PINSTRIKE_CONTROL removes.
    void add(const pinstrike_record& record) {
        constexpr std::uint8_t quotes = 1;
        constexpr std::uint8_t day = 2;
        Flush& flush = of(record.core, record.line);
        if (record.of.control.forgets >= quotes) {
            flush.quotes = record.stamp;
            has_new_ = true;
        }
        if (record.of.control.forgets >= day) {
            flush.day = record.stamp;
        }
    }

    /// Whether one was added since the last call.
    [[nodiscard]] bool take_new() { return std::exchange(has_new_, false); }

    /// Removes from a series what was stated before the flushes of its line.
    void remove_from(Instrument& at) const {
        if (at.core >= by_core_.size() || by_core_[at.core].empty()) {
            return;
        }
        const Flush& flush = by_core_[at.core][at.line];
        if (flush.quotes != 0 && pinstrike_stamp_after(flush.quotes, at.stamp) != 0) {
            at.best = {};
            at.stale = false;
        }
        if (flush.day != 0 && pinstrike_stamp_after(flush.day, at.stamp) != 0) {
            at.last_price = feed::dbn::undefined_price;
            at.last_trade_ns = feed::dbn::undefined_time;
            at.last_size = 0;
            at.has_open_interest = false;
        }
    }

    void clear() { *this = {}; }

  private:
    struct Flush {
        std::uint64_t quotes = 0;
        std::uint64_t day = 0;
    };

    Flush& of(std::uint16_t core, std::uint16_t line) {
        if (core >= by_core_.size()) {
            by_core_.resize(core + std::size_t{1});
        }
        by_core_[core].resize(feed::line_numbers);
        return by_core_[core][line];
    }

    std::vector<std::vector<Flush>> by_core_;
    bool has_new_ = false;
};

}  // namespace pinstrike::actors::gateway
