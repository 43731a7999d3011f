// path: cold
#include "actors/publish/reader/filter.h"

#include "actors/publish/reader/error.h"
#include "actors/publish/reader/value.h"

#include <algorithm>
#include <bit>
#include <string>

namespace pinstrike::reader {

Filter::Filter(const pinstrike_filter* filter) {
    if (filter == nullptr) {
        return;
    }
    limits_ = *filter;
    limits_.roots = nullptr;
    limits_.ids = nullptr;
    const bool right = limits_.right == 0 || limits_.right == 'C' || limits_.right == 'P';
    const bool session = limits_.session == 0 || limits_.session == 'R' || limits_.session == 'G';
    if (!right || !session) {
        throw Error("a filter's right is 'C', 'P' or 0, its session 'R', 'G' or 0");
    }
    is_limited_ = limits_.expiration_from != 0 || limits_.expiration_to != 0 ||
                  limits_.strike_from_e8 != 0 || limits_.strike_to_e8 != 0 || limits_.right != 0 ||
                  limits_.session != 0;
    if (filter->roots != nullptr) {
        for (std::size_t i = 0; i < filter->roots_count; ++i) {
            const auto symbol = symbol_word_of(filter->roots[i]);
            if (!symbol) {
                throw Error("a root has 1 to 5 characters");
            }
            roots_.push_back(*symbol);
        }
        std::ranges::sort(roots_, {}, root_order);
        roots_.erase(std::unique(roots_.begin(), roots_.end()), roots_.end());
        if (roots_.empty()) {
            throw Error("a filter with roots has no root");
        }
        hash_roots();
    }
    if (filter->ids != nullptr) {
        by_id_ = true;
        ids_.assign(filter->ids, filter->ids + filter->ids_count);
        std::ranges::sort(ids_);
    }
}

void Filter::hash_roots() {
    slots_.assign(std::bit_ceil(4 * roots_.size()), 0);
    const std::size_t mask = slots_.size() - 1;
    for (const std::uint64_t root : roots_) {
        std::size_t slot = feed::hash_symbol(root) & mask;
        while (slots_[slot] != 0) {
            slot = (slot + 1) & mask;
        }
        slots_[slot] = root;
    }
}

bool Filter::is_within_limits(const feed::SeriesKey& key) const {
    const std::uint32_t expiration = expiration_of(key);
    return expiration >= limits_.expiration_from &&
           (limits_.expiration_to == 0 || expiration <= limits_.expiration_to) &&
           key.strike_e8 >= limits_.strike_from_e8 &&
           (limits_.strike_to_e8 == 0 || key.strike_e8 <= limits_.strike_to_e8) &&
           (limits_.right == 0 || limits_.right == right_of(key)) &&
           (limits_.session == 0 || (limits_.session == 'G') == key.gth());
}

bool Filter::has_id(std::uint32_t id) const {
    return !by_id_ || std::ranges::binary_search(ids_, id);
}

}  // namespace pinstrike::reader
