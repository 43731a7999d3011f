// path: cold
//
// A checked copy of a user's filter.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/value.h"
#include "feed/event/series_key.h"

#include <cstdint>
#include <vector>

namespace pinstrike::reader {

class Filter {
  public:
    /// All series.
    Filter() = default;

    /// Null: all series. Throws Error.
    explicit Filter(const pinstrike_filter* filter);

    /// The roots in the order of chains; empty: all.
    [[nodiscard]] const std::vector<std::uint64_t>& roots() const { return roots_; }

    [[nodiscard]] bool has_root(std::uint64_t symbol_word) const {
        return root_set().has(symbol_word);
    }

    /// The roots by their hash, with 0 between them, so that one or two loads find a root. A copy
    /// of this stays in registers while many events are compared.
    struct RootSet {
        const std::uint64_t* slots;
        std::size_t mask;

        [[nodiscard]] bool has(std::uint64_t symbol_word) const {
            if (slots == nullptr) {
                return true;
            }
            std::size_t slot = feed::hash_symbol(symbol_word) & mask;
            while (slots[slot] != symbol_word && slots[slot] != 0) {
                slot = (slot + 1) & mask;
            }
            return slots[slot] != 0;
        }
    };

    [[nodiscard]] RootSet root_set() const {
        return {slots_.empty() ? nullptr : slots_.data(), slots_.size() - 1};
    }

    /// All conditions but that on ids.
    [[nodiscard]] bool matches(const feed::SeriesKey& key) const {
        return has_root(key.symbol_word()) && matches_within_root(key);
    }

    /// All conditions but those on ids and roots.
    [[nodiscard]] bool matches_within_root(const feed::SeriesKey& key) const {
        return !is_limited_ || is_within_limits(key);
    }

    /// Whether there is a condition on ids.
    [[nodiscard]] bool by_id() const { return by_id_; }

    [[nodiscard]] bool has_id(std::uint32_t id) const;

    /// Whether chains and snapshots have a series of this state.
    [[nodiscard]] bool admits(const SeriesParts& parts) const {
        return is_listed(parts) || (limits_.announced != 0 && is_announced(parts));
    }

    [[nodiscard]] bool line_events_of_each_core() const {
        return limits_.line_events_of_each_core != 0;
    }

  private:
    void hash_roots();
    [[nodiscard]] bool is_within_limits(const feed::SeriesKey& key) const;

    std::vector<std::uint64_t> roots_;
    std::vector<std::uint64_t> slots_;  ///< of root_set()
    std::vector<std::uint32_t> ids_;    ///< sorted
    bool by_id_ = false;
    bool is_limited_ = false;
    pinstrike_filter limits_{};  ///< without roots and ids
};

}  // namespace pinstrike::reader
