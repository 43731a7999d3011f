// path: cold
#include "feed/recovery/history.h"

#include "config/check.h"
#include "feed/event/limits.h"
#include "feed/event/position.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <new>

namespace pinstrike::feed {

namespace {

constexpr std::uint64_t bucket_numbers = block_messages_max;

/// About the length of the short quotes of one bucket, so that there are about as many slots as
/// buckets in memory.
constexpr std::size_t bytes_per_slot = 8192;

constexpr std::uint64_t bucket_of(std::uint64_t number) {
    return (number - 1) / bucket_numbers;
}

std::size_t slots_for(const HistoryConfig& config) {
    return std::bit_ceil(std::max<std::size_t>(config.memory_bytes / bytes_per_slot, 1));
}

}  // namespace

History::History(std::span<const std::uint16_t> lines, const HistoryConfig& config,
                 const Numbering& numbering)
    : config_(config),
      numbering_(numbering),
      capacity_(std::max<std::size_t>(config.memory_bytes / sizeof(Record), 1) * sizeof(Record)),
      buckets_(slots_for(config), 0),
      head_(capacity_),
      tail_(capacity_),
      latest_ns_(std::numeric_limits<std::int64_t>::min()) {
    PINSTRIKE_CHECK(lines.size() < no_line);
    memory_.reset(new std::byte[capacity_]);
    for (const std::uint16_t number : lines) {
        lines_.push_back({number});
    }
    std::sort(lines_.begin(), lines_.end(),
              [](const Line& x, const Line& y) { return x.number < y.number; });
    found_places_.reserve(repair_messages_max);
    found_.reserve(repair_messages_max);
}

std::size_t History::claimed_bytes(const HistoryConfig& config) {
    return config.memory_bytes + slots_for(config) * sizeof(Place);
}

bool History::keep(const KeptBlock& block) {
    const Line* line = line_of(block.line);
    const std::size_t units = 1 + (block.bytes.size() + sizeof(Record) - 1) / sizeof(Record);
    const bool fits = line != nullptr && block.first != 0 && block.messages != 0 &&
                      block.messages <= block_messages_max && !block.bytes.empty() &&
                      block.bytes.size() <= kept_block_bytes_max &&
                      units * sizeof(Record) <= capacity_;
    if (!fits) {
        counters_.bump(HistoryCount::unfit);
        return false;
    }
    expire(block.ts_arrival_ns);
    make_room(units * sizeof(Record));
    append(static_cast<std::size_t>(line - lines_.data()), block, units);
    publish();
    return true;
}

void History::expire(std::int64_t now_ns) {
    latest_ns_ = std::max(latest_ns_, now_ns);
    const std::int64_t oldest_kept_ns = latest_ns_ - config_.keep_ns;
    bool changed = false;
    while (records_ != 0 && at(tail_).ts_arrival_ns < oldest_kept_ns) {
        let_go_oldest(HistoryCount::aged);
        changed = true;
    }
    if (changed) {
        publish();
    }
}

bool History::knows(std::uint16_t line) const {
    return line_of(line) != nullptr;
}

std::span<const KeptBlock> History::find(const RepairRequest& request) {
    found_places_.clear();
    found_.clear();
    const Line* line = line_of(request.line);
    if (line == nullptr || line->oldest == 0 || request.first == 0 || request.messages == 0 ||
        request.messages > repair_messages_max) {
        return found_;
    }
    // A block has at most 256 numbers, so a block with a requested number begins at most 255
    // numbers before it.
    const auto index = static_cast<std::size_t>(line - lines_.data());
    const std::uint64_t last = bucket_of(advanced(request.first, request.messages - 1));
    const std::uint64_t bucket_last = bucket_of(numbering_.last);
    std::uint64_t bucket =
        bucket_of(advanced(request.first, numbering_.last - (block_messages_max - 1)));
    collect(index, bucket, request);
    while (bucket != last) {
        bucket = bucket == bucket_last ? 0 : bucket + 1;
        collect(index, bucket, request);
    }
    std::sort(found_places_.begin(), found_places_.end());
    for (const Place place : found_places_) {
        found_.push_back(block_at(place));
    }
    return found_;
}

std::optional<KeptRange> History::kept(std::uint16_t line) const {
    const Line* known = line_of(line);
    if (known == nullptr || known->oldest == 0) {
        return std::nullopt;
    }
    const Record& oldest = at(known->oldest);
    const Record& newest = at(known->newest);
    return KeptRange{oldest.first, advanced(newest.first, newest.messages - 1U),
                     oldest.ts_exchange_ns, newest.ts_exchange_ns};
}

History::Record& History::at(Place place) const {
    return *std::launder(reinterpret_cast<Record*>(  // tidy: append() and make_room() made one
        memory_.get() + place % capacity_));
}

KeptBlock History::block_at(Place place) const {
    const Record& record = at(place);
    const std::byte* bytes = memory_.get() + place % capacity_ + sizeof(Record);
    return {lines_[record.line].number, record.messages,      record.first,
            record.ts_exchange_ns,      record.ts_arrival_ns, {bytes, record.bytes}};
}

const History::Line* History::line_of(std::uint16_t number) const {
    const auto found =
        std::lower_bound(lines_.begin(), lines_.end(), number,
                         [](const Line& line, std::uint16_t n) { return line.number < n; });
    return found != lines_.end() && found->number == number ? &*found : nullptr;
}

/// The number `by` steps after `number`; `by` is less than a turn.
std::uint64_t History::advanced(std::uint64_t number, std::uint64_t by) const {
    return numbering_.number_at(numbering_.last + number + by);
}

std::size_t History::slot_of(std::size_t line, std::uint64_t bucket) const {
    const std::uint64_t key = std::uint64_t{line} << 32 ^ bucket;
    return (key * 0x9E37'79B9'7F4A'7C15U >> 32) & (buckets_.size() - 1);
}

/// Frees `bytes` contiguous bytes at the head. Skips the rest of the ring if it is too short.
void History::make_room(std::size_t bytes) {
    const std::size_t left = capacity_ - head_ % capacity_;
    if (left < bytes) {
        while (head_ + left - tail_ > capacity_) {
            let_go_oldest(HistoryCount::crowded);
        }
        auto* left_out = new (memory_.get() + head_ % capacity_) Record{};
        left_out->line = no_line;
        left_out->units = static_cast<std::uint16_t>(left / sizeof(Record));
        head_ += left;
        tail_ = records_ == 0 ? head_ : tail_;
    }
    while (head_ + bytes - tail_ > capacity_) {
        let_go_oldest(HistoryCount::crowded);
    }
}

/// Removes the oldest record. Also advances the tail over a skipped rest at the end of the ring.
void History::let_go_oldest(HistoryCount why) {
    const Record& record = at(tail_);
    lines_[record.line].oldest = record.younger_of_line;
    tail_ += record.units * sizeof(Record);
    if (tail_ != head_ && at(tail_).line == no_line) {
        tail_ += at(tail_).units * sizeof(Record);
    }
    --records_;
    counters_.bump(why);
}

void History::append(std::size_t line, const KeptBlock& block, std::size_t units) {
    Place& newest_in_bucket = buckets_[slot_of(line, bucket_of(block.first))];
    std::byte* memory = memory_.get() + head_ % capacity_;
    new (memory) Record{
        .older_in_bucket = newest_in_bucket,
        .younger_of_line = 0,
        .ts_exchange_ns = block.ts_exchange_ns,
        .ts_arrival_ns = latest_ns_,
        .first = block.first,
        .messages = block.messages,
        .bytes = static_cast<std::uint16_t>(block.bytes.size()),
        .line = static_cast<std::uint16_t>(line),
        .units = static_cast<std::uint16_t>(units),
    };
    std::memcpy(memory + sizeof(Record), block.bytes.data(), block.bytes.size());
    newest_in_bucket = head_;
    Line& of = lines_[line];
    if (!numbering_.infers_resets && block.session != of.session) {
        of.session_begin = head_;
        of.session = block.session;
    }
    if (of.oldest == 0) {
        of.oldest = head_;
    } else {
        at(of.newest).younger_of_line = head_;
    }
    of.newest = head_;
    head_ += units * sizeof(Record);
    ++records_;
    counters_.bump(HistoryCount::kept);
    counters_.bump(HistoryCount::kept_bytes, block.bytes.size());
}

/// Adds the blocks that begin in this bucket and match the request.
void History::collect(std::size_t line, std::uint64_t bucket, const RepairRequest& request) {
    Place place = buckets_[slot_of(line, bucket)];
    const Place end = std::max(tail_, lines_[line].session_begin);
    while (place >= end && found_places_.size() != repair_messages_max) {
        const Record& record = at(place);
        const bool wanted =
            record.line == line && bucket_of(record.first) == bucket &&
            concerns(request, record.first, record.messages, record.ts_exchange_ns, numbering_);
        if (wanted) {
            found_places_.push_back(place);
        }
        place = record.older_in_bucket;
    }
}

void History::publish() {
    blocks_.set(records_);
    used_bytes_.set(head_ - tail_);
    oldest_ts_ns_.set(records_ == 0 ? 0 : static_cast<std::uint64_t>(at(tail_).ts_arrival_ns));
}

}  // namespace pinstrike::feed
