// path: cold
#include "actors/export/market_actor.h"

#include "actors/publish/reader/event_record.h"
#include "actors/publish/reader/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace pinstrike::actors {

using feed::EventKind;

MarketActor::MarketActor(std::vector<std::string> underlyings,
                         const std::optional<SnapshotBeginning>& beginning)
    : underlyings_(std::move(underlyings)) {
    quote_.has_key = quote_.has_best = 1;
    if (beginning) {
        state_ = std::make_unique<BeginningState>(beginning->book);
        from_ns_ = beginning->from_ns;
    }
}

Interest MarketActor::interest() const {
    Interest interest;
    interest.underlyings = underlyings_;
    return interest;
}

std::vector<AccountRow> MarketActor::account_rows() const {
    return {{"series", series_count_}, {"series_refused", refused_.read()}};
}

std::vector<std::string> MarketActor::remarks() const {
    if (refused_.read() == 0) {
        return {};
    }
    return {fmt::format("some messages made no record: {}", refused_text)};
}

bool MarketActor::join_transfer(bool takes, StateRings& rings) {
    return state_ != nullptr && state_->book().join_transfer(takes, rings);
}

void MarketActor::on_start(const CoreInfo& core) {
    follower_.begin_round(0, instruments_max);
    if (state_ != nullptr) {
        state_->book().on_start(core);
    }
}

void MarketActor::on_timer(std::int64_t now_ns) {
    if (state_ != nullptr) {
        state_->book().on_timer(now_ns);
    }
}

std::size_t MarketActor::on_idle() {
    return state_ == nullptr ? 0 : state_->book().on_idle();
}

void MarketActor::on_events(EventBatch batch) {
    if (state_ != nullptr) {
        if (!begins_with(batch)) {
            state_->book().on_events(batch);
            return;
        }
        begin();
    }
    apply_all(batch);
}

/// Events of lines have the time at which they were made.
bool MarketActor::begins_with(EventBatch batch) const {
    return std::any_of(batch.begin(), batch.end(), [this](const feed::Event& event) {
        return feed::has_series(event.header.kind) && event.header.ts_receive_ns >= from_ns_;
    });
}

void MarketActor::begin() {
    state_->start(clock_);
    const auto lines = state_->lines();
    for (std::size_t number = 0; number < lines.size(); ++number) {
        if (lines[number].version != 0) {  // something happened to it
            follower_.set_line(static_cast<std::uint16_t>(number), lines[number]);
        }
    }
    state_->for_each_series([this](const feed::SeriesKey& key, const reader::SeriesParts& parts) {
        begin_series(key, parts);
    });
    state_.reset();
}

void MarketActor::begin_series(const feed::SeriesKey& key, const reader::SeriesParts& parts) {
    const auto is_wanted = [&key](const std::string& root) {
        return reader::symbol_word_of(root.c_str()) == key.symbol_word();
    };
    if (!underlyings_.empty() && std::ranges::none_of(underlyings_, is_wanted)) {
        return;
    }
    const std::uint64_t hash = feed::hash(key);
    reader::FollowedSeries* series = follower_.find(key, hash);
    series = series == nullptr ? add_series(key, hash, next_id_) : series;
    if (series == nullptr) {
        return;
    }
    pinstrike_value value{};
    state_->write_value(value, key, parts);
    value.key.id = series->id;
    reader::SeriesParts with_id = parts;
    with_id.id = series->id;
    follower_.begin(*series, with_id);
    static_cast<void>(market_.take_state({&value, 1}));  // false only if an id were used twice
}

/// In stretches, whose series are prefetched together: first the slots that the follower has of
/// them, then the rows of the market.
void MarketActor::apply_all(EventBatch batch) {
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
            batch.prefetch_behind(*at);
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
    event_ = nullptr;
}

void MarketActor::apply(const feed::Event& event, std::uint64_t hash, std::uint64_t stamp) {
    event_ = &event;
    if (feed::has_series(event.header.kind)) [[likely]] {
        apply_to_series(event, hash, stamp);
    } else if (feed::is_line_event(event.header.kind)) {
        follower_.apply_to_line(event, stamp);
        pinstrike_record record{};
        reader::write_record(record, event, 0, stamp);
        static_cast<void>(market_.apply(record));  // false only for a series
    }
}

void MarketActor::apply_to_series(const feed::Event& event, std::uint64_t hash,
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

/// The series of an event; null: it is of no series that a book would keep, or has no id.
reader::FollowedSeries* MarketActor::series_of(const feed::Event& event, std::uint64_t hash) {
    const feed::SeriesKey& key = event.body.series;
    if (reader::FollowedSeries* const known = follower_.find(key, hash)) [[likely]] {
        return known;
    }
    if (event.header.kind == EventKind::series_map &&
        event.body.series_map.mapped_line != event.header.line) {
        return nullptr;
    }
    return add_series(key, hash, new_id(event));
}

reader::FollowedSeries* MarketActor::add_series(const feed::SeriesKey& key, std::uint64_t hash,
                                                InstrumentId id) {
    if (id == 0) {
        return nullptr;  // it gets its id with a later event
    }
    reader::FollowedSeries* const series =
        id > instruments_max ? nullptr : follower_.add(key, hash);
    if (series == nullptr) {
        refused_.add();
        return nullptr;
    }
    next_id_ = std::max(next_id_, id + 1);
    series->id = id;
    ++series_count_;
    series_added(reader::key_of(key, id));
    return series;
}

/// Series of the day's file have their ids in it, and come first.
InstrumentId MarketActor::new_id(const feed::Event& event) {
    const bool is_from_file = (event.header.flags & feed::flag_from_file) != 0;
    return is_from_file ? event.body.series_map.id : next_id_;
}

}  // namespace pinstrike::actors
