// path: cold
#include "actors/market/feed_source.h"

#include "config/time_units.h"
#include "config/wall_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace pinstrike::actors {
namespace {

constexpr std::int64_t attach_ns = 250 * ms_ns;
constexpr std::int64_t check_ns = 100 * ms_ns;
/// Events that wait for the ids of their series.
constexpr std::size_t waiting_events_max = 1'000'000;
/// A feed gives a series an id within milliseconds. It gives none to a series that its book does
/// not keep, such as one that only a series map on another line names.
constexpr std::int64_t wait_max_ns = 5'000 * ms_ns;
/// Series that look_for_ids() looks for at once, and how many of them may have no id yet: each look
/// takes a system call.
constexpr std::size_t looks_max = 1024;
constexpr std::size_t vain_looks_max = 64;
/// How far ahead the series of events are loaded.
constexpr std::size_t ahead_records = 16;

std::string identity_of(pinstrike_key key) {
    key.id = 0;
    return {reinterpret_cast<const char*>(&key), sizeof key};  // tidy: bytes of a plain struct
}

bool is_state(std::uint8_t kind) {
    return kind == PINSTRIKE_MISSED || kind == PINSTRIKE_RENEWED || kind == PINSTRIKE_STATE;
}

}  // namespace

FeedSource::FeedSource(std::string feed, std::vector<std::string> roots, FeedEvents& events)
    : name_(std::move(feed)), events_(events) {
    filter_.roots = std::move(roots);
    filter_.line_events_of_each_core = true;
    filter_.announced = true;  // for definitions
}

std::size_t FeedSource::poll(std::int64_t now_ns) {
    now_ns_ = now_ns;
    try {
        if (!stream_) {
            if (since(attached_ns_, now_ns) < attach_ns) {
                return 0;
            }
            attached_ns_ = now_ns;
            attach();
        }
        const auto records = stream_->poll(batch_records);
        if (!records.empty()) {
            events_.on_batch(records.front().receive_ns);
        }
        for (std::size_t i = 0; i < records.size(); ++i) {
            const pinstrike_record& record = records[i];
            if (i + ahead_records < records.size()) {
                events_.prefetch_ahead(records[i + ahead_records].key.id);
            }
            if (record.kind == PINSTRIKE_RESTARTED) {
                drop_waiting();
                begin();
            } else if (is_state(record.kind)) {
                if (record.kind == PINSTRIKE_MISSED) {
                    events_.on_missed(record.of.missed.last - record.of.missed.first + 1);
                }
                events_.on_state(stream_->snapshot(), {.begins = record.kind != PINSTRIKE_STATE,
                                                       .is_complete = record.of.missed.more == 0,
                                                       .core = record.core});
            } else {
                give(record);
            }
        }
        if (!waiting_.empty() && since(looked_for_ids_ns_, now_ns) >= ms_ns) {
            looked_for_ids_ns_ = now_ns;
            look_for_ids();
        }
        if (since(checked_ns_, now_ns) >= check_ns) {
            checked_ns_ = now_ns;
            check_condition(records.empty());
        }
        return records.size();
    } catch (const client::error& error) {
        stream_.reset();
        feed_.reset();
        drop_waiting();
        lose(error.what());
        return 0;
    }
}

void FeedSource::attach() {
    feed_.emplace(name_);
    stream_.emplace(feed_->subscribe(filter_));
    begin();
}

/// A start of the feed that was not read before.
void FeedSource::begin() {
    live_ = true;
    ending_ = false;
    lost_why_.clear();
    events_.on_state(stream_->snapshot(), {.is_fresh = true});
}

void FeedSource::drop_waiting() {
    for (const auto& [name, waiting] : waiting_) {
        end_waiting(waiting, 0);
    }
    waiting_.clear();
    to_look_for_.clear();
}

void FeedSource::lose(const std::string& why) {
    live_ = false;
    if (why != std::exchange(lost_why_, why)) {
        events_.on_lost(why);
    }
}

/// The stream attaches to a new start by itself. The end of a feed is reported after a poll that
/// found no event, because clients expect no event after the report. `all_read`: the last poll
/// found none.
void FeedSource::check_condition(bool all_read) {
    pinstrike_condition condition = feed_->condition();
    const bool is_over = condition == PINSTRIKE_FEED_DEAD || condition == PINSTRIKE_FEED_ENDED;
    if (is_over && feed_->reattach()) {
        condition = feed_->condition();
    }
    if (condition == PINSTRIKE_FEED_LIVE || condition == PINSTRIKE_FEED_STARTING) {
        live_ = true;
        ending_ = false;
        if (!std::exchange(lost_why_, {}).empty()) {
            events_.on_found();
        }
        return;
    }
    if (is_over && (!std::exchange(ending_, true) || !all_read)) {
        checked_ns_ = 0;  // checks again after the next poll
        return;
    }
    if (is_over) {
        look_for_ids();  // the feed gave one to each series when it ended
    }
    lose(fmt::format("the feed {} is {}", name_, pinstrike_condition_name(condition)));
}

void FeedSource::give(const pinstrike_record& record) {
    const bool waits =
        record.has_key != 0 &&
        (record.key.id == 0 || (!waiting_.empty() && waiting_.contains(identity_of(record.key))));
    if (waits) {
        keep_waiting(record);
    } else {
        events_.on_event(record);
    }
}

void FeedSource::keep_waiting(const pinstrike_record& record) {
    if (waiting_count_ == waiting_events_max) {
        events_.on_dropped();
        return;
    }
    const std::string name = identity_of(record.key);
    const auto [at, is_new] = waiting_.try_emplace(name, Waiting{record.key, now_ns_, {}});
    if (is_new) {
        to_look_for_.push_back(name);
    }
    at->second.records.push_back(record);
    ++waiting_count_;
}

/// Looks for the ids of some series that events wait for.
void FeedSource::look_for_ids() {
    const std::size_t looks = std::min(to_look_for_.size(), looks_max);
    std::size_t vain = 0;
    for (std::size_t i = 0; i < looks && vain < vain_looks_max; ++i) {
        const auto at = waiting_.find(to_look_for_.front());
        const std::uint32_t id = feed_->id_of(at->second.key);
        if (id == 0 && since(at->second.since_ns, now_ns_) < wait_max_ns) {
            to_look_for_.push_back(std::move(to_look_for_.front()));
            ++vain;
        } else {
            end_waiting(at->second, id);
            waiting_.erase(at);
        }
        to_look_for_.pop_front();
    }
}

/// Gives the events of a series that has its id now. 0: drops them.
void FeedSource::end_waiting(const Waiting& waiting, std::uint32_t id) {
    if (id != 0) {
        events_.on_batch(waiting.records.front().receive_ns);
    }
    for (pinstrike_record record : waiting.records) {
        record.key.id = id;
        if (id != 0) {
            events_.on_event(record);
        } else {
            events_.on_dropped();
        }
    }
    waiting_count_ -= waiting.records.size();
}

}  // namespace pinstrike::actors
