// path: cold
#include "actors/export/beginning_state.h"

#include "actors/book/book_store.h"
#include "actors/publish/reader/value.h"

#include <utility>

namespace pinstrike::actors {
namespace {

reader::CoreView view_of(const CoreMemory& memory) {
    const pinstrike_core& core = memory.core();
    reader::CoreView view;
    view.shared = &core;
    view.lines = memory.span<const pinstrike_line>(core.lines);
    view.entries = memory.span<const pinstrike_entry>(core.entries);
    view.groups = memory.span<const pinstrike_group>(core.groups);
    view.trades = memory.span<const pinstrike_trades>(core.trades);
    view.series = memory.span<const pinstrike_series>(core.series);
    view.roots = memory.span<const pinstrike_root>(core.roots);
    return view;
}

}  // namespace

BeginningState::BeginningState(const BookConfig& config) {
    CoreMemory memory{book_shape(config, 1)};
    view_ = view_of(memory);  // the memory stays where it is when it is moved
    book_ = std::make_unique<Book>(config, std::move(memory));
}

void BeginningState::for_each_series(
    const std::function<void(const feed::SeriesKey& key, const reader::SeriesParts& parts)>& take)
    const {
    reader::Patience patience;
    reader::SeriesParts parts;
    for (const pinstrike_entry& entry : view_.entries) {
        const feed::SeriesKey key{entry.name, entry.strike_e8};
        if (reader::read_series(view_, key, patience, parts) == reader::ReadResult::read &&
            reader::is_listed(parts)) {
            take(key, parts);
        }
    }
}

/// No other thread writes, so the read succeeds.
reader::Tail BeginningState::tail() const {
    reader::Patience patience;
    reader::Tail tail;
    static_cast<void>(reader::read_tail(view_, patience, tail));
    return tail;
}

void BeginningState::write_value(pinstrike_value& value, const feed::SeriesKey& key,
                                 const reader::SeriesParts& parts) const {
    reader::write_value(value, view_, key, parts, tail());
}

void BeginningState::start(StampClock& clock) const {
    const reader::Tail at = tail();
    clock.start(at.base_ms, at.stamp, at.ms);
}

}  // namespace pinstrike::actors
