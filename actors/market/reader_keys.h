// path: cold
//
// Forms of the keys that the configs of processes beside a feed share.
#pragma once

#include "config/form.h"
#include "nic/packet/address.h"

#include <string>
#include <vector>

namespace pinstrike::actors {

/// "127.0.0.1:13000", a valid address of a config.
[[nodiscard]] nic::Group endpoint_of(const std::string& address);

/// An IPv4 address and port.
[[nodiscard]] Form<std::string> endpoint_form(const std::string& example);

[[nodiscard]] Form<std::vector<std::string>> roots_form();

/// The path of a file.
[[nodiscard]] Form<std::string> file_form();

/// A path that a config names, relative to the working directory. An empty one stays empty.
[[nodiscard]] std::string beside(const std::string& config, const std::string& path);

}  // namespace pinstrike::actors
