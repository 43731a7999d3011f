// path: cold
#include "actors/market/bars.h"

#include <algorithm>
#include <limits>

namespace pinstrike::actors {

using feed::dbn::BarRecord;

bool Bars::add(InstrumentId id, std::uint16_t publisher, std::int64_t exchange_ns,
               std::int64_t price, std::uint32_t size) {
    const std::int64_t begin_ns = exchange_ns / interval_ns_ * interval_ns_;
    if (begin_ns < closed_ns_) {
        return false;
    }
    BarRecord& bar = open_[begin_ns][{id, publisher}];
    if (bar.header.length == 0) {
        bar.header = feed::dbn::header_of<BarRecord>(type_, publisher, id,
                                                     static_cast<std::uint64_t>(begin_ns));
        bar.open = bar.high = bar.low = price;
    }
    bar.high = std::max(bar.high, price);
    bar.low = std::min(bar.low, price);
    bar.close = price;
    bar.volume += size;
    return true;
}

std::int64_t Bars::next_end_ns() const {
    return open_.empty() ? std::numeric_limits<std::int64_t>::max()
                         : open_.begin()->first + interval_ns_;
}

Bars::Closed Bars::close_next() {
    Closed closed;
    closed.end_ns = closed_ns_ = next_end_ns();
    for (const auto& [key, bar] : open_.begin()->second) {
        closed.bars.push_back(bar);
    }
    open_.erase(open_.begin());
    return closed;
}

}  // namespace pinstrike::actors
