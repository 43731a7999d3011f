// path: cold
//
// What account and admin views write as JSON in the same way. `Json` is nlohmann::json or
// nlohmann::ordered_json.
#pragma once

#include "actors/poller/unknown_groups.h"
#include "nic/packet/address.h"

namespace pinstrike::actors {

/// nlohmann's library calls this for each UnknownGroup of a list.
template <class Json>
void to_json(Json& out, const UnknownGroup& each) {
    out = {{"group", nic::text_of(each.group.address)},
           {"port", each.group.port},
           {"from", nic::text_of(each.from)},
           {"packets", each.packets}};
}

}  // namespace pinstrike::actors
