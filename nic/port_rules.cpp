// path: cold
//
// Checks the rules between the values of ports. It needs only the parsed structs, no device.
#include "nic/port_keys.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>

namespace pinstrike::nic {

std::string PortRules::path(std::size_t i, const char* key) const {
    return key == nullptr ? fmt::format("ports[{}]", i) : fmt::format("ports[{}].{}", i, key);
}

bool PortRules::sound(std::size_t i, std::initializer_list<const char*> keys) const {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const char* key) { return places.sound(path(i, key)); });
}

bool PortRules::sound(std::initializer_list<const char*> keys) const {
    bool all = places.reached("ports");
    for (std::size_t i = 0; i < ports.size(); ++i) {
        all = all && sound(i, keys);
    }
    return all;
}

void PortRules::report(const std::string& path, const std::string& text) const {
    add_problem(problems, places.at(path), path + ": " + text);
}

namespace {

void check_names(const PortRules& rules) {
    for (std::size_t i = 0; i < rules.ports.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (rules.ports[i].name == rules.ports[j].name) {
                rules.report(
                    rules.path(i, "name"),
                    fmt::format("found \"{}\" again, expected a unique name: ports[{}] has it",
                                rules.ports[i].name, j));
                break;
            }
        }
    }
}

}  // namespace

void check_ports(std::span<const PortConfig> ports, const Places& places, Problems& problems) {
    const PortRules rules{ports, places, problems};
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const PortKindRow& kind = row_of(ports[i].kind);
        if (kind.check != nullptr && rules.sound(i, {"kind"})) {
            kind.check(rules, i);
        }
    }
    if (rules.sound({"name"})) {
        check_names(rules);
    }
    for (const PortKindRow* kind : port_kind_rows()) {
        if (kind->check_together != nullptr) {
            kind->check_together(rules);
        }
    }
}

}  // namespace pinstrike::nic
