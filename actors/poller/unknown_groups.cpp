// path: cold
#include "actors/poller/unknown_groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike::actors {

std::vector<UnknownGroup> UnknownGroups::most_frequent() const {
    std::vector<UnknownGroup> groups;
    for (const Place& place : places_) {
        const std::uint64_t key = place.key.load(std::memory_order_relaxed);
        if (const std::uint64_t packets = place.packets.read(); packets != 0) {
            groups.push_back(
                {{{static_cast<std::uint32_t>(key >> 16)}, static_cast<std::uint16_t>(key)},
                 {place.from.load(std::memory_order_relaxed)},
                 packets});
        }
    }
    std::sort(groups.begin(), groups.end(), [](const auto& one, const auto& other) {
        return one.packets != other.packets ? one.packets > other.packets : one.group < other.group;
    });
    groups.resize(std::min(groups.size(), reported_max));
    return groups;
}

std::string to_text(const std::vector<UnknownGroup>& groups) {
    std::string text;
    for (const UnknownGroup& each : groups) {
        text += fmt::format("{}{} from {}, {} packet{}", text.empty() ? "" : "; ",
                            nic::text_of(each.group), nic::text_of(each.from), each.packets,
                            each.packets == 1 ? "" : "s");
    }
    return text;
}

}  // namespace pinstrike::actors
