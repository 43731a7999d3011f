// path: cold
#include "actors/export/export_actor.h"

#include "actors/publish/reader/event_record.h"
#include "actors/publish/reader/value.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pinstrike::actors {

using feed::EventKind;

ExportActor::ExportActor(feed::dbn::Schema schema, std::vector<std::string> underlyings,
                         BlockQueue& blocks, std::function<void()> started)
    : schema_(schema),
      underlyings_(std::move(underlyings)),
      blocks_(blocks),
      started_(std::move(started)) {
    quote_.has_key = quote_.has_best = 1;
}

Interest ExportActor::interest() const {
    Interest interest;
    interest.underlyings = underlyings_;
    return interest;
}

std::vector<AccountRow> ExportActor::account_rows() const {
    return {{"series", series_count_}};
}

void ExportActor::on_start(const CoreInfo& /*core*/) {
    follower_.begin_round(0, instruments_max);
    market_.interests().add_all(*this, schema_);
    started_();
}

/// In stretches, whose series are prefetched together: first the slots that the follower has of
/// them, then the rows of the market.
void ExportActor::on_events(EventBatch batch) {
    constexpr std::size_t stretch_events = 128;

    struct Ahead {
        const feed::Event* event;
        std::uint64_t hash;  ///< of its series; 0: it has none
    };

    std::array<Ahead, stretch_events> stretch;
    EventBatch::iterator at = batch.begin();
    while (at != batch.end()) {
        std::size_t count = 0;
        for (; count < stretch_events && at != batch.end(); ++at, ++count) {
            batch.ask_behind(*at);
            Ahead& ahead = stretch[count];
            ahead = {&*at, 0};
            if (feed::has_series(at->header.kind)) {
                ahead.hash = feed::hash(at->body.series);
                follower_.prefetch(ahead.hash);
            }
        }
        for (std::size_t i = 0; i < count; ++i) {
            const Ahead& ahead = stretch[i];
            if (ahead.hash != 0) {
                const auto* series = follower_.find(ahead.event->body.series, ahead.hash);
                market_.instruments().prefetch(series == nullptr ? 0 : series->id);
            }
        }
        StampClock::Stamps stamps{clock_};
        for (std::size_t i = 0; i < count; ++i) {
            const Ahead& ahead = stretch[i];
            apply(*ahead.event, ahead.hash, stamps.next(ahead.event->header.ts_receive_ns));
        }
        stamps.end();
    }
}

void ExportActor::apply(const feed::Event& event, std::uint64_t hash, std::uint64_t stamp) {
    if (feed::has_series(event.header.kind)) [[likely]] {
        apply_to_series(event, hash, stamp);
    } else if (feed::is_line_event(event.header.kind)) {
        follower_.apply_to_line(event, stamp);
        pinstrike_record record{};
        reader::write_record(record, event, 0, stamp);
        static_cast<void>(market_.apply(record));  // false only for a series
    }
}

void ExportActor::apply_to_series(const feed::Event& event, std::uint64_t hash,
                                  std::uint64_t stamp) {
    reader::FollowedSeries* const series = series_of(event, hash);
    if (series == nullptr) {
        return;
    }
    pinstrike_record other{};
    const bool is_quote = event.header.kind == EventKind::quote;
    pinstrike_record& record = is_quote ? quote_ : other;
    if (is_quote) [[likely]] {
        reader::write_quote(record, event, 0, stamp);
        follower_.apply_quote(*series, event, stamp, record.bid, record.offer);
    } else {
        follower_.apply(*series, event, stamp);
        reader::write_record(record, event, 0, stamp);
        record.has_key = 1;
    }
    reader::write_key(record.key, event.body.series, series->id);
    static_cast<void>(market_.apply(record));  // false only if an id were used twice
}

/// The series of an event; null: it is of no series that a book would keep.
reader::FollowedSeries* ExportActor::series_of(const feed::Event& event, std::uint64_t hash) {
    const feed::SeriesKey& key = event.body.series;
    if (reader::FollowedSeries* const known = follower_.find(key, hash)) [[likely]] {
        return known;
    }
    if (event.header.kind == EventKind::series_map &&
        event.body.series_map.mapped_line != event.header.line) {
        return nullptr;
    }
    const InstrumentId id = new_id(event);
    reader::FollowedSeries* const series = id == 0 ? nullptr : follower_.add(key, hash);
    if (series != nullptr) {
        series->id = id;
        ++series_count_;
        block_.series.push_back(reader::key_of(key, id));
    }
    return series;
}

/// Series of the day's file have their ids in it, and come first. 0: it gets its id later, or there
/// are too many.
InstrumentId ExportActor::new_id(const feed::Event& event) {
    const bool is_from_file = (event.header.flags & feed::flag_from_file) != 0;
    const InstrumentId id = is_from_file ? event.body.series_map.id : next_id_;
    if (id > instruments_max) {
        return 0;
    }
    next_id_ = std::max(next_id_, id + 1);
    return id;
}

void ExportActor::receive(feed::dbn::Schema /*schema*/, InstrumentId /*id*/,
                          std::span<const std::byte> record) {
    if (!block_.has_room(record.size())) {
        block_ = blocks_.exchange(std::move(block_));
    }
    block_.append(record);
}

void ExportActor::on_stop() {
    market_.restart_time();  // closes the intervals that are open
    if (!block_.empty()) {
        block_ = blocks_.exchange(std::move(block_));
    }
    blocks_.close();
}

}  // namespace pinstrike::actors
