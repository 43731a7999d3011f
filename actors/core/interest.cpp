// path: cold
#include "actors/core/actor.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

Interest interest_within(Interest interest, const std::vector<std::string>& allowed) {
    if (allowed.empty()) {
        return interest;
    }
    if (interest.underlyings.empty()) {
        interest.underlyings = allowed;
        return interest;
    }
    std::erase_if(interest.underlyings, [&](const std::string& symbol) {
        return std::ranges::find(allowed, symbol) == allowed.end();
    });
    if (interest.underlyings.empty()) {
        interest.kinds = 0;  // without symbols, an interest is in all underlyings
    }
    return interest;
}

}  // namespace pinstrike::actors
