// path: cold
#include "actors/publish/reader/feed_reader.h"

#include "actors/publish/reader/error.h"
#include "actors/publish/reader/value.h"
#include "config/wall_time.h"

#include <algorithm>

namespace pinstrike::reader {
namespace {

constexpr std::int64_t stuck_after_ns = 1'000'000'000;

/// Zero if it cannot be read: the values have no time.
Tail tail_of(const CoreView& core, Patience& patience) {
    Tail tail;
    return read_tail(core, patience, tail) ? tail : Tail{};
}

}  // namespace

FeedReader::FeedReader(std::string name, std::shared_ptr<const Mapping> mapping)
    : name_(std::move(name)),
      mapping_(std::move(mapping)),
      lists_(std::make_unique<SeriesLists>(mapping_->cores())) {}

pinstrike_condition FeedReader::condition() const {
    const std::uint32_t state = load_acquire(mapping_->shared().state);
    if (state == PINSTRIKE_ENDED) {
        return PINSTRIKE_FEED_ENDED;
    }
    if (!mapping_->has_writer()) {
        return PINSTRIKE_FEED_DEAD;
    }
    if (state == PINSTRIKE_STARTING) {
        return PINSTRIKE_FEED_STARTING;
    }
    const std::int64_t stuck_before = wall_ns() - stuck_after_ns;
    const bool stuck = std::ranges::any_of(mapping_->cores(), [&](const CoreView& core) {
        return std::max(load_relaxed(core.shared->alive_ns), mapping_->start_ns()) < stuck_before;
    });
    return stuck ? PINSTRIKE_FEED_STUCK : PINSTRIKE_FEED_LIVE;
}

bool FeedReader::is_over() const {
    return load_acquire(mapping_->shared().state) == PINSTRIKE_ENDED || !mapping_->has_writer();
}

bool FeedReader::reattach() {
    std::shared_ptr<const Mapping> found;
    try {
        found = Mapping::open(name_);
    } catch (const UnreadableMemory&) {
        throw;
    } catch (const Error&) {
        return false;  // there is no other start (yet)
    }
    if (found->start_ns() == mapping_->start_ns() ||
        load_acquire(found->shared().state) == PINSTRIKE_STARTING) {
        return false;
    }
    auto lists = std::make_unique<SeriesLists>(found->cores());
    mapping_ = std::move(found);
    lists_ = std::move(lists);
    ++attachments_;
    return true;
}

bool FeedReader::is_old() {
    try {
        return is_over() && !reattach();
    } catch (const UnreadableMemory&) {
        return true;  // pinstrike_reattach() says why
    }
}

void FeedReader::visit(const Filter& filter, const Visit& visit) {
    Patience patience;
    selected_.clear();
    lists_->begin();
    for (const std::uint64_t root : lists_->roots(filter)) {
        lists_->select(filter, root, patience, selected_);
    }
    read_selected(filter, patience, visit);
}

std::size_t FeedReader::visit_roots(const Filter& filter, std::span<const std::uint64_t> roots,
                                    const CoreView& core, std::size_t enough, const Visit& visit) {
    Patience patience;
    selected_.clear();
    lists_->begin();
    std::size_t count = 0;
    while (count < roots.size() && selected_.size() < enough) {
        const auto before = static_cast<std::ptrdiff_t>(selected_.size());
        lists_->select(filter, roots[count++], patience, selected_);
        const auto others =
            std::remove_if(selected_.begin() + before, selected_.end(),
                           [&core](const Listed& series) { return series.core != core.index; });
        selected_.erase(others, selected_.end());
    }
    // The last root may be that of series without one, with which the whole list is sorted again.
    std::erase_if(selected_, [&core](const Listed& series) { return series.core != core.index; });
    read_selected(filter, patience, visit);
    return count;
}

/// Prefetches the first slots of the series well ahead, and the second slots nearer, so that many
/// loads are in flight.
void FeedReader::read_selected(const Filter& filter, Patience& patience, const Visit& visit) {
    constexpr std::size_t ahead = 32;
    constexpr std::size_t nearer = 12;
    const std::vector<CoreView>& cores = mapping_->cores();
    const std::size_t count = selected_.size();
    SeriesParts parts;
    for (std::size_t i = 0; i < count + ahead; ++i) {
        if (i < count) {
            const Listed& series = selected_[i];
            prefetch_series(cores[series.core], feed::hash(series.key), series.index);
        }
        if (const std::size_t near = i - (ahead - nearer); i >= ahead - nearer && near < count) {
            const Listed& series = selected_[near];
            prefetch_second(cores[series.core], series.key, feed::hash(series.key));
        }
        if (i < ahead) {
            continue;
        }
        const Listed& series = selected_[i - ahead];
        const CoreView& core = cores[series.core];
        if (filter.by_id() && !filter.has_id(load_relaxed(core.series[series.index].id))) {
            continue;
        }
        const ReadResult result = read_series(core, series.key, patience, parts);
        if (result != ReadResult::absent) {
            visit(core, series, result, parts);
        }
    }
}

std::size_t FeedReader::chain(const Filter& filter, pinstrike_value* values, std::size_t max) {
    const bool over = is_old();
    Patience patience;
    std::vector<Tail> tails;
    for (const CoreView& core : mapping_->cores()) {
        tails.push_back(tail_of(core, patience));
    }
    std::size_t count = 0;
    visit(filter, [&](const CoreView& core, const Listed& series, ReadResult result,
                      const SeriesParts& parts) {
        if (result == ReadResult::read && !filter.admits(parts)) {
            return;
        }
        if (count < max) {
            write_result(values[count], core, series.key, result, parts, tails[core.index], over);
        }
        ++count;
    });
    return count;
}

std::uint32_t FeedReader::id_of(const feed::SeriesKey& key) {
    static_cast<void>(is_old());  // ids may be others in another start
    Patience patience;
    SeriesParts parts;
    for (const CoreView& core : mapping_->cores()) {
        if (read_series(core, key, patience, parts) == ReadResult::read && parts.id != 0) {
            return parts.id;
        }
    }
    return 0;
}

bool FeedReader::get(const feed::SeriesKey& key, pinstrike_value& value) {
    const bool over = is_old();
    Patience patience;
    SeriesParts parts;
    const CoreView* unreadable = nullptr;
    for (const CoreView& core : mapping_->cores()) {
        const ReadResult result = read_series(core, key, patience, parts);
        if (result == ReadResult::unreadable) {
            unreadable = &core;  // unless another core has the series
        }
        if (result == ReadResult::read && is_listed(parts)) {
            write_result(value, core, key, result, parts, tail_of(core, patience), over);
            return true;
        }
    }
    if (unreadable != nullptr) {
        write_unreadable(value, *unreadable, key);
    }
    return unreadable != nullptr;
}

}  // namespace pinstrike::reader
