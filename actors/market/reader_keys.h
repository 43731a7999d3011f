// path: cold
//
// Forms of the keys that the configs of processes beside a feed share.
#pragma once

#include "config/form.h"
#include "config/places.h"
#include "config/section.h"
#include "config/yaml.h"
#include "nic/packet/address.h"

#include <string>
#include <vector>

namespace pinstrike::actors {

/// "127.0.0.1:13000", a valid address of a config.
[[nodiscard]] nic::Group endpoint_of(const std::string& address);

/// An IPv4 address and port.
[[nodiscard]] Form<std::string> endpoint_form(const std::string& example);

[[nodiscard]] Form<std::vector<std::string>> roots_form();

/// Reads a file with the keys of a section. False, with problems.
template <class Config>
[[nodiscard]] bool read_file(const Section<Config>& section, const std::string& path, Config& into,
                             Problems& problems) {
    const auto text = read_text(path, problems);
    const auto root = text ? parse_yaml(*text, path, problems) : std::nullopt;
    Places places{path};
    Reader reader{problems, places};
    return root && read_section(section, *root, "", into, reader);
}

/// A path that a config names, relative to the working directory. An empty one stays empty.
[[nodiscard]] std::string beside(const std::string& config, const std::string& path);

}  // namespace pinstrike::actors
