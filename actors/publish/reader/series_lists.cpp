// path: cold
#include "actors/publish/reader/series_lists.h"

#include "actors/publish/reader/error.h"
#include "actors/publish/reader/value.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinstrike::reader {
namespace {

const pinstrike_root* find_root(const CoreView& core, std::uint64_t symbol) {
    if (symbol == 0) {  // as an empty slot has
        return nullptr;
    }
    const std::size_t mask = core.roots.size() - 1;
    std::size_t slot = feed::hash_symbol(symbol) & mask;
    for (std::size_t i = 0; i < core.roots.size(); ++i) {
        const std::uint64_t here = load_acquire(core.roots[slot].symbol);
        if (here == symbol) {
            return &core.roots[slot];
        }
        if (here == 0) {
            return nullptr;
        }
        slot = (slot + 1) & mask;
    }
    return nullptr;
}

/// Whether the table of roots of a core was ever full, so that series may be in no list. The writer
/// leaves one slot empty.
bool is_full(const CoreView& core) {
    std::size_t empty = 0;
    for (std::size_t slot = 0; slot < core.roots.size() && empty < 2; ++slot) {
        empty += load_relaxed(core.roots[slot].symbol) == 0 ? 1 : 0;
    }
    return empty < 2;
}

/// Steps that one call may take, for each series of the directory and beside. Lists that lead in a
/// circle, or change all the time, need more.
constexpr std::size_t walks_max = 8;
constexpr std::size_t steps_min = 1'000'000;

bool listed_before(const Listed& a, const Listed& b) {
    return comes_before(a.key, b.key);
}

}  // namespace

void SeriesLists::begin() {
    steps_left_ = steps_min;
    for (const CoreView& core : cores_) {
        steps_left_ += core.series.size() * walks_max;
    }
}

std::vector<std::uint64_t> SeriesLists::roots(const Filter& filter) const {
    std::vector<std::uint64_t> roots = filter.roots().empty() ? all_roots() : filter.roots();
    if (std::ranges::any_of(cores_, is_full)) {
        roots.push_back(no_root);
    }
    return roots;
}

void SeriesLists::select(const Filter& filter, std::uint64_t root, Patience& patience,
                         std::vector<Listed>& selected) {
    if (root == no_root) {
        add_without_root(filter, selected);
        return;
    }
    for (const Listed& series : list_of(root, patience)) {
        if (filter.matches_within_root(series.key)) {
            selected.push_back(series);
        }
    }
}

std::vector<std::uint64_t> SeriesLists::all_roots() const {
    std::vector<std::uint64_t> roots;
    for (const CoreView& core : cores_) {
        for (const pinstrike_root& root : core.roots) {
            if (const std::uint64_t symbol = load_acquire(root.symbol); symbol != no_root) {
                roots.push_back(symbol);
            }
        }
    }
    std::ranges::sort(roots, {}, root_order);
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    return roots;
}

const std::vector<Listed>& SeriesLists::list_of(std::uint64_t symbol, Patience& patience) {
    RootList& list = lists_[symbol];
    list.seen.resize(cores_.size());
    for (const CoreView& core : cores_) {
        refresh(list, symbol, core, patience);
    }
    return list.series;
}

/// Adds the series of a list from the record `first` on, up to the record `end`. False: the list
/// leads elsewhere, as it may while a series is removed.
bool SeriesLists::walk(const CoreView& core, std::uint64_t symbol, std::uint32_t first,
                       std::uint32_t end, std::vector<Listed>& found) {
    std::uint32_t index = first;
    for (std::size_t steps = 0; index != end && index != 0; ++steps) {
        if (index >= core.series.size() || steps >= core.series.size()) {
            return false;
        }
        if (steps_left_-- == 0) {
            throw Error(
                "the directory of the published memory changes all the time, or is damaged");
        }
        const pinstrike_series& series = core.series[index];
        const feed::SeriesKey key{load_acquire(series.name), load_relaxed(series.strike_e8)};
        if (key.name != 0 && key.symbol_word() == symbol) {
            found.push_back({key, index, core.index});
        }
        index = load_acquire(series.next);
    }
    return index == end;
}

/// Brings the list of a root up to date with one core. If series were only added, they are the
/// first of the core's list. The list stays as it was if series are removed all the time.
void SeriesLists::refresh(RootList& list, std::uint64_t symbol, const CoreView& core,
                          Patience& patience) {
    const pinstrike_root* const root = find_root(core, symbol);
    if (root == nullptr) {
        return;
    }
    Seen& seen = list.seen[core.index];
    std::vector<Listed> found;
    patience.begin();
    do {
        const std::uint32_t removals = load_acquire(root->removals);
        const std::uint32_t first = load_acquire(root->first);
        if (removals == seen.removals && first == seen.first) {
            return;
        }
        if (removals % 2 != 0) {
            continue;
        }
        const bool whole = removals != seen.removals;
        found.clear();
        const bool walked = walk(core, symbol, first, whole ? 0 : seen.first, found);
        acquire_fence();
        if (load_relaxed(root->removals) != removals) {
            continue;
        }
        if (!walked) {
            throw Error("the directory of the published memory is damaged");
        }
        seen = {first, removals};
        list.replace(core.index, whole, found);
        return;
    } while (patience.again());
    if (seen.removals % 2 != 0) {  // it was never read
        throw WriteUnfinished(
            "the writer stopped while it removed a series: its directory cannot be read");
    }
}

/// Adds series of a core, or, if `whole`, replaces all of them.
void SeriesLists::RootList::replace(std::uint16_t core, bool whole, std::vector<Listed>& with) {
    if (whole) {
        std::erase_if(series, [core](const Listed& listed) { return listed.core == core; });
    }
    std::ranges::sort(with, listed_before);
    std::vector<Listed> both;
    both.reserve(series.size() + with.size());
    std::ranges::merge(series, with, std::back_inserter(both), listed_before);
    series = std::move(both);
}

/// Adds the series of roots for which a table of roots had no room.
void SeriesLists::add_without_root(const Filter& filter, std::vector<Listed>& selected) const {
    for (const CoreView& core : cores_) {
        if (!is_full(core)) {
            continue;
        }
        const std::size_t count =
            std::min<std::size_t>(load_acquire(core.shared->series_count), core.series.size() - 1);
        for (std::uint32_t index = 1; index <= count; ++index) {
            const pinstrike_series& series = core.series[index];
            const feed::SeriesKey key{load_acquire(series.name), load_relaxed(series.strike_e8)};
            if (key.name != 0 && load_relaxed(series.root) == 0 && filter.matches(key)) {
                selected.push_back({key, index, core.index});
            }
        }
    }
    std::ranges::sort(selected, listed_before);
}

}  // namespace pinstrike::reader
