// path: cold
#include "actors/publish/python/reading.h"

#include <algorithm>
#include <new>
#include <sstream>
#include <utility>

namespace pinstrike::python {
namespace {

/// Records that one call of the library writes: they stay in the processor's cache.
constexpr std::size_t records_at_once = 128;

constexpr std::size_t first_rows = 16;

/// A handle that the library returned. Throws Error.
template <class Handle>
auto open(Handle* handle) {
    if (handle == nullptr) {
        throw Error(pinstrike_error());
    }
    return std::unique_ptr<Handle, Close>{handle};
}

/// A count that the library returned. Throws Error.
std::size_t checked(std::ptrdiff_t count) {
    if (count < 0) {
        throw Error(pinstrike_error());
    }
    return static_cast<std::size_t>(count);
}

/// Rows of the values that `call(values, max)` writes, of which it returns the number.
template <class Call>
Block rows_of(const Layout<pinstrike_value>& layout, std::vector<pinstrike_value>& values,
              Call&& call) {
    std::size_t count = checked(call(values.data(), values.size()));
    while (count > values.size()) {
        values.resize(count + count / 8);
        count = checked(call(values.data(), values.size()));
    }
    Block rows{layout.row_bytes, count};
    for (std::size_t i = 0; i < count; ++i) {
        layout.write(rows.add(), values[i], 0);
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

Filter::Filter(std::vector<std::string> roots, std::vector<std::uint32_t> ids,
               const pinstrike_filter& others)
    : roots_(std::move(roots)), ids_(std::move(ids)), others_(others) {
    for (const std::string& root : roots_) {
        names_.push_back(root.c_str());
    }
}

pinstrike_filter Filter::get() const {
    pinstrike_filter out = others_;
    out.roots = names_.empty() ? nullptr : names_.data();
    out.roots_count = names_.size();
    out.ids = ids_.empty() ? nullptr : ids_.data();
    out.ids_count = ids_.size();
    return out;
}

Feed::Feed(const std::string& name) : feed_(open(pinstrike_open(name.c_str()))) {}

pinstrike_condition Feed::condition() {
    const std::lock_guard lock{mutex_};
    return pinstrike_condition_of(feed_.get());
}

std::int64_t Feed::start_ns() {
    const std::lock_guard lock{mutex_};
    return pinstrike_start_ns(feed_.get());
}

std::uint32_t Feed::trade_date() {
    const std::lock_guard lock{mutex_};
    return pinstrike_trade_date(feed_.get());
}

Block Feed::chain(const Filter& filter, Prices prices) {
    const std::lock_guard lock{mutex_};
    const pinstrike_filter only = filter.get();
    return rows_of(series_layout(prices), values_, [&](pinstrike_value* values, std::size_t max) {
        return pinstrike_chain(feed_.get(), &only, values, max);
    });
}

Stream::Stream(const std::string& name, const Filter& filter, Prices prices, Places wanted)
    : feed_(open(pinstrike_open(name.c_str()))),
      layouts_(message_layouts(prices)),
      series_layout_(series_layout(prices)),
      wanted_(wanted),
      records_(records_at_once) {
    const pinstrike_filter only = filter.get();
    stream_ = open(pinstrike_subscribe(feed_.get(), &only));
}

Block Stream::snapshot() {
    return rows_of(series_layout_, values_, [this](pinstrike_value* values, std::size_t max) {
        return pinstrike_snapshot(stream_.get(), values, max);
    });
}

Stream::Wait Stream::wait(std::int64_t timeout_ns) {
    if (taken_ < count_) {
        return Wait::messages;
    }
    const int result = pinstrike_wait(stream_.get(), timeout_ns);
    if (result < -1) {
        throw Error(pinstrike_error());
    }
    return result == 1 ? Wait::messages : result == 0 ? Wait::timeout : Wait::over;
}

/// The stream attaches to a new start by itself, and the feed here.
pinstrike_condition Stream::condition() {
    const pinstrike_condition condition = pinstrike_condition_of(feed_.get());
    const bool over = condition == PINSTRIKE_FEED_DEAD || condition == PINSTRIKE_FEED_ENDED;
    return over && pinstrike_reattach(feed_.get()) == 1 ? pinstrike_condition_of(feed_.get())
                                                        : condition;
}

std::int64_t Stream::start_ns() {
    (void)condition();
    return pinstrike_start_ns(feed_.get());
}

std::size_t Stream::read(std::size_t max) {
    if (taken_ == count_) {
        taken_ = count_ = 0;
        count_ =
            checked(pinstrike_poll(stream_.get(), records_.data(), std::min(max, records_.size())));
    }
    return count_ - taken_;
}

const pinstrike_record* Stream::next(std::size_t& place) {
    while (taken_ < count_) {
        const pinstrike_record& record = records_[taken_++];
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

std::vector<std::string> feed_names() {
    std::string text(pinstrike_feeds(nullptr, 0) + 1, '\0');
    text.resize(std::min(pinstrike_feeds(text.data(), text.size()), text.size() - 1));
    std::istringstream lines{text};
    std::vector<std::string> names;
    for (std::string name; std::getline(lines, name);) {
        names.push_back(name);
    }
    return names;
}

}  // namespace pinstrike::python
