// path: mixed, cold: construction
#include "feed/arbitration/hold.h"

#include "config/check.h"

#include <algorithm>
#include <cstring>
#include <new>  // tidy: allowed, placement

namespace pinstrike::feed {

namespace {

constexpr std::size_t units_of(std::size_t bytes) {
    return (bytes + sizeof(HeldBlock) - 1) / sizeof(HeldBlock);
}

constexpr std::size_t record_bytes(std::size_t block_bytes) {
    return (1 + units_of(block_bytes)) * sizeof(HeldBlock);
}

}  // namespace

// --- cold ---

HoldArena::HoldArena(std::size_t capacity_bytes)
    : capacity_(std::max<std::size_t>(units_of(capacity_bytes), 1) * sizeof(HeldBlock)) {
    memory_.reset(new std::byte[capacity_]);
}

HoldQueue::HoldQueue(std::size_t entries_max)
    : entries_(new HoldEntry[2 * entries_max]), max_(entries_max) {}

// --- hot ---

HeldBlock* HoldArena::at(std::size_t offset) const {
    return std::launder(
        reinterpret_cast<HeldBlock*>(memory_.get() + offset));  // tidy: keep() made one there
}

std::size_t HoldArena::behind(std::size_t offset) const {
    const std::size_t next = offset + at(offset)->record_bytes;
    return wrapped_ && next == limit_ ? 0 : next;
}

/// Moves the head, if necessary, to `bytes` contiguous free bytes. False: there are not so many.
bool HoldArena::make_place(std::size_t bytes) {
    if (wrapped_) {
        return tail_ - head_ >= bytes;
    }
    if (capacity_ - head_ >= bytes) {
        return true;
    }
    if (tail_ < bytes) {
        return false;
    }
    limit_ = head_;
    head_ = 0;
    wrapped_ = true;
    return true;
}

HeldBlock* HoldArena::keep(const Block& block, std::uint16_t first, std::uint16_t last,
                           Source source, std::int64_t arrival_ns) {
    const std::size_t bytes = record_bytes(block.bytes.size());
    if (!make_place(bytes)) {
        return nullptr;
    }
    auto* held = new (memory_.get() + head_) HeldBlock{
        .block = block,
        .arrival_ns = arrival_ns,
        .record_bytes = static_cast<std::uint32_t>(bytes),
        .first = first,
        .last = last,
        .source = source,
        .live = true,
    };
    std::byte* copy = memory_.get() + head_ + sizeof(HeldBlock);
    if (!block.bytes.empty()) {
        std::memcpy(copy, block.bytes.data(), block.bytes.size());
    }
    held->block.bytes = {copy, block.bytes.size()};
    held->block.places = nullptr;
    head_ += bytes;
    ++records_;
    return held;
}

void HoldArena::release(HeldBlock* held) {
    PINSTRIKE_CHECK(held->live);
    held->live = false;
    while (records_ != 0 && !at(tail_)->live) {
        const std::size_t next = behind(tail_);
        wrapped_ = wrapped_ && next != 0;
        tail_ = next;
        --records_;
    }
    if (records_ == 0) {
        head_ = tail_ = 0;
        wrapped_ = false;
    }
}

HeldBlock* HoldArena::younger(const HeldBlock* held) const {
    const auto* bytes = reinterpret_cast<const std::byte*>(held);  // tidy: our own memory
    auto offset = static_cast<std::size_t>(bytes - memory_.get());
    do {
        offset = behind(offset);
        if (offset == head_) {
            return nullptr;
        }
    } while (!at(offset)->live);
    return at(offset);
}

std::size_t HoldQueue::index_of(Position position) const {
    const auto found =
        std::partition_point(entries_.get() + first_, entries_.get() + last_,
                             [position](const HoldEntry& entry) { return entry.end <= position; });
    return static_cast<std::size_t>(found - entries_.get());
}

const HoldEntry* HoldQueue::find(Position position) const {
    const std::size_t index = index_of(position);
    return index == last_ ? nullptr : &entries_[index];
}

void HoldQueue::insert(const HoldEntry& entry) {
    PINSTRIKE_CHECK(!full());
    if (last_ == 2 * max_) {  // the array has twice the capacity, so max_ pops precede this move
        std::copy(entries_.get() + first_, entries_.get() + last_, entries_.get());
        last_ -= first_;
        first_ = 0;
    }
    const std::size_t index = index_of(entry.begin);
    std::copy_backward(entries_.get() + index, entries_.get() + last_, entries_.get() + last_ + 1);
    entries_[index] = entry;
    ++last_;
}

void HoldQueue::pop_front() {
    ++first_;
    if (empty()) {
        first_ = last_ = 0;
    }
}

}  // namespace pinstrike::feed
