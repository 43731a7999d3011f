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
    const auto [at, is_new] = open_[begin_ns].try_emplace({id, publisher});
    Bar& bar = at->second;
    BarRecord& record = bar.record;
    if (is_new) {
        record.header =
            feed::dbn::header_of<BarRecord>(feed::dbn::record_type_of(schema_), publisher, id,
                                            static_cast<std::uint64_t>(begin_ns));
        record.high = record.low = price;
    }
    if (is_new || exchange_ns < bar.first_ns) {
        record.open = price;
        bar.first_ns = exchange_ns;
    }
    if (is_new || exchange_ns >= bar.last_ns) {
        record.close = price;
        bar.last_ns = exchange_ns;
    }
    record.high = std::max(record.high, price);
    record.low = std::min(record.low, price);
    record.volume += size;
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
        closed.bars.push_back(bar.record);
    }
    open_.erase(open_.begin());
    return closed;
}

}  // namespace pinstrike::actors
