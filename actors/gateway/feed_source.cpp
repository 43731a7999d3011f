// path: cold
#include "actors/gateway/feed_source.h"

#include "config/wall_time.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t attach_ns = 250 * ms;
constexpr std::int64_t check_ns = 100 * ms;
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
            events_.on_batch();
        }
        for (std::size_t i = 0; i < records.size(); ++i) {
            const pinstrike_record& record = records[i];
            if (i + ahead_records < records.size()) {
                events_.ask_ahead(records[i + ahead_records].key.id);
            }
            if (record.kind == PINSTRIKE_RESTARTED) {
                forget_waiting();
                live_ = true;
                events_.on_state(stream_->snapshot(), {.is_fresh = true});
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
        if (!waiting_.empty() && since(looked_for_ids_ns_, now_ns) >= ms) {
            looked_for_ids_ns_ = now_ns;
            look_for_ids();
        }
        if (since(checked_ns_, now_ns) >= check_ns) {
            checked_ns_ = now_ns;
            check_condition();
        }
        return records.size();
    } catch (const client::error& error) {
        stream_.reset();
        feed_.reset();
        forget_waiting();
        lose(error.what());
        return 0;
    }
}

void FeedSource::attach() {
    feed_.emplace(name_);
    stream_.emplace(feed_->subscribe(filter_));
    live_ = true;
    lost_why_.clear();
    events_.on_state(stream_->snapshot(), {.is_fresh = true});
}

void FeedSource::forget_waiting() {
    waiting_.clear();
    waiting_count_ = 0;
}

void FeedSource::lose(const std::string& why) {
    live_ = false;
    if (why != std::exchange(lost_why_, why)) {
        events_.on_lost(why);
    }
}

/// The stream attaches to a new start by itself.
void FeedSource::check_condition() {
    pinstrike_condition condition = feed_->condition();
    const bool is_over = condition == PINSTRIKE_FEED_DEAD || condition == PINSTRIKE_FEED_ENDED;
    if (is_over && feed_->reattach()) {
        condition = feed_->condition();
    }
    if (condition == PINSTRIKE_FEED_LIVE || condition == PINSTRIKE_FEED_STARTING) {
        live_ = true;
        if (!std::exchange(lost_why_, {}).empty()) {
            events_.on_found();
        }
        return;
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
    if (waiting_count_ == waiting_max) {
        events_.on_dropped();
        return;
    }
    Waiting& waiting = waiting_[identity_of(record.key)];
    waiting.key = record.key;
    waiting.records.push_back(record);
    ++waiting_count_;
}

/// The feed gives ids to new series within milliseconds.
void FeedSource::look_for_ids() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
        const auto value = feed_->get(at->second.key);
        if (!value || value->key.id == 0) {
            ++at;
            continue;
        }
        for (pinstrike_record& record : at->second.records) {
            record.key.id = value->key.id;
            events_.on_event(record);
        }
        waiting_count_ -= at->second.records.size();
        at = waiting_.erase(at);
    }
}

}  // namespace pinstrike::actors::gateway
