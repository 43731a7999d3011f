// path: cold
//
// The lists of the series of each root, over all cores of a feed, in the order of chains. A list
// is kept, and walked in the shared memory only if series came or went since the last use.
#pragma once

#include "actors/publish/reader/filter.h"
#include "actors/publish/reader/mapping.h"
#include "actors/publish/reader/shared_words.h"
#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace pinstrike::reader {

/// A series of the directory.
struct Listed {
    feed::SeriesKey key;
    std::uint32_t index = 0;  ///< of its record, inside the arrays
    std::uint16_t core = 0;
};

class SeriesLists {
  public:
    explicit SeriesLists(const std::vector<CoreView>& cores) : cores_(cores) {}

    /// Stands for all roots for which a table of roots had no room.
    static constexpr std::uint64_t no_root = 0;

    /// Bounds the work of the calls of select() up to the next begin().
    void begin();

    /// The roots of a filter, in the order of chains.
    [[nodiscard]] std::vector<std::uint64_t> roots(const Filter& filter) const;

    /// Adds the series of a root that match a filter, in the order of chains, without its condition
    /// on ids. Throws Error if the memory is damaged.
    void select(const Filter& filter, std::uint64_t root, Patience& patience,
                std::vector<Listed>& selected);

  private:
    /// What was seen of a root on one core. While both stay, so does the list.
    struct Seen {
        std::uint32_t first = 0;
        std::uint32_t removals = 1;  ///< odd: the list was never read
    };

    struct RootList {
        std::vector<Seen> seen;  ///< by core
        std::vector<Listed> series;

        void replace(std::uint16_t core, bool whole, std::vector<Listed>& with);
    };

    const std::vector<Listed>& list_of(std::uint64_t symbol, Patience& patience);
    bool walk(const CoreView& core, std::uint64_t symbol, std::uint32_t first, std::uint32_t end,
              std::vector<Listed>& found);
    void refresh(RootList& list, std::uint64_t symbol, const CoreView& core, Patience& patience);
    void add_without_root(const Filter& filter, std::vector<Listed>& selected) const;
    [[nodiscard]] std::vector<std::uint64_t> all_roots() const;

    const std::vector<CoreView>& cores_;
    std::unordered_map<std::uint64_t, RootList> lists_;
    std::size_t steps_left_ = 0;  ///< of the current call
};

}  // namespace pinstrike::reader
