// path: cold
#include "actors/export/export_actor.h"

#include "actors/export/record_format.h"

#include <cstring>
#include <utility>

namespace pinstrike::actors {

ExportActor::ExportActor(ExportWanted wanted, BlockQueue& blocks, std::function<void()> started)
    : MarketActor(std::move(wanted.underlyings), wanted.beginning),
      schema_(wanted.schema),
      times_(wanted.times),
      time_at_(record_time_at(wanted.schema)),
      blocks_(blocks),
      started_(std::move(started)) {}

void ExportActor::on_start(const CoreInfo& core) {
    MarketActor::on_start(core);
    market().interests().add_all(*this, schema_);
    started_();
}

void ExportActor::receive(feed::dbn::Schema /*schema*/, InstrumentId /*id*/,
                          std::span<const std::byte> record) {
    if (times_) {
        std::uint64_t time_ns = 0;
        std::memcpy(&time_ns, &record[time_at_], sizeof time_ns);
        if (time_ns < times_->from_ns || time_ns >= times_->to_ns) {
            return;
        }
    }
    if (!block_.has_room(record.size())) {
        block_ = blocks_.exchange(std::move(block_));
    }
    block_.append(record);
}

void ExportActor::on_stop() {
    market().restart_time();  // closes the intervals that are open
    if (!block_.empty()) {
        block_ = blocks_.exchange(std::move(block_));
    }
    blocks_.close();
}

}  // namespace pinstrike::actors
