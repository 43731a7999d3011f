// path: cold
#include "actors/publish/python/reading.h"

#include <algorithm>
#include <chrono>
#include <new>

namespace pinstrike::python {
namespace {

/// Records that one call of the library writes: they stay in the processor's cache.
constexpr std::size_t records_at_once = 128;

constexpr std::size_t first_rows = 16;

/// Rows of some values.
Block rows_of(const Layout<pinstrike_value>& layout, std::span<const pinstrike_value> values) {
    Block rows{layout.row_bytes, values.size()};
    for (const pinstrike_value& value : values) {
        layout.write(rows.add(), value, 0);
    }
    return rows;
}

/// Whether the state was read again because of this record.
bool has_snapshot(const pinstrike_record& record) {
    return record.kind == PINSTRIKE_MISSED || record.kind == PINSTRIKE_RENEWED ||
           record.kind == PINSTRIKE_STATE || record.kind == PINSTRIKE_RESTARTED;
}

}  // namespace

std::byte* Block::add() {
    if (memory_ == nullptr || rows_ == rows_max_) {
        resize(std::max(rows_ == 0 ? rows_max_ : 2 * rows_max_, first_rows));
    }
    return memory_.get() + row_bytes_ * rows_++;
}

void Block::fit() {
    if (memory_ != nullptr) {
        resize(std::max<std::size_t>(rows_, 1));
    }
}

void Block::resize(std::size_t rows_max) {
    void* const memory = std::realloc(memory_.get(), row_bytes_ * rows_max);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    std::byte* const old = memory_.release();  // realloc() has freed or kept it
    static_cast<void>(old);
    memory_.reset(static_cast<std::byte*>(memory));
    rows_max_ = rows_max;
}

Block Feed::chain(const client::filter& filter, Prices prices) {
    const std::lock_guard lock{mutex_};
    return rows_of(series_layout(prices), feed_.chain(filter, values_));
}

Stream::Stream(const std::string& name, const client::filter& filter, Prices prices, Places wanted)
    : feed_(name),
      stream_(feed_.subscribe(filter)),
      layouts_(message_layouts(prices)),
      series_layout_(series_layout(prices)),
      wanted_(wanted) {}

Block Stream::snapshot() {
    return rows_of(series_layout_, stream_.snapshot());
}

Stream::Wait Stream::wait(std::int64_t timeout_ns) {
    return records_.empty() ? stream_.wait(std::chrono::nanoseconds{timeout_ns}) : Wait::events;
}

/// The stream attaches to a new start by itself, and the feed here.
pinstrike_condition Stream::condition() {
    const pinstrike_condition condition = feed_.condition();
    try {
        const bool over = condition == PINSTRIKE_FEED_DEAD || condition == PINSTRIKE_FEED_ENDED;
        return over && feed_.reattach() ? feed_.condition() : condition;
    } catch (const client::error&) {
        return condition;  // the stream says why the new start cannot be read
    }
}

std::int64_t Stream::start_ns() {
    (void)condition();
    return feed_.start_ns();
}

std::size_t Stream::read(std::size_t max) {
    if (records_.empty()) {
        records_ = stream_.poll(std::min(max, records_at_once));
    }
    return records_.size();
}

const pinstrike_record* Stream::next(std::size_t& place) {
    while (!records_.empty()) {
        const pinstrike_record& record = records_.front();
        records_ = records_.subspan(1);
        read_again_ = read_again_ || has_snapshot(record);
        place = place_of(record.kind);
        if (place != kinds_count && wanted_[place]) {
            return &record;
        }
    }
    return nullptr;
}

/// A snapshot belongs to the latest call of the library, so a batch ends with it.
Batch Stream::poll(std::size_t max) {
    Batch batch;
    for (std::size_t place = 0; place < kinds_count; ++place) {
        batch.blocks.push_back(
            std::make_shared<Block>(layouts_[place].row_bytes, rows_max_[place]));
    }
    read_again_ = false;
    for (std::size_t left = max; left > 0 && !read_again_;) {
        const std::size_t count = read(left);
        if (count == 0) {
            break;
        }
        left -= count;
        std::size_t place = 0;
        while (const pinstrike_record* const record = next(place)) {
            layouts_[place].write(batch.blocks[place]->add(), *record,
                                  static_cast<std::uint32_t>(batch.messages++));
        }
    }
    for (std::size_t place = 0; place < kinds_count; ++place) {
        rows_max_[place] = batch.blocks[place]->rows();
        batch.blocks[place]->fit();
    }
    if (read_again_) {
        batch.snapshot = snapshot();
    }
    return batch;
}

}  // namespace pinstrike::python
