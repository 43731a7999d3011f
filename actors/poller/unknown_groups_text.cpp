// path: cold
#include "actors/poller/unknown_groups_text.h"

#include "nic/packet/address.h"

#include <fmt/format.h>

namespace pinstrike::actors {

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
