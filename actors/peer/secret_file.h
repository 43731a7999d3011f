// path: cold
#pragma once

#include "actors/peer/limits.h"
#include "actors/peer/secret.h"
#include "config/problem.h"

#include <optional>
#include <string>

namespace pinstrike::actors::peer {

/// Reads the secret from a file that only its owner may access, and trims blanks and line ends. The
/// owner must be the user of this process or root. On an error, returns nothing and adds a problem
/// that names the config key `key` and never contains text of the file.
[[nodiscard]] std::optional<Secret> read_secret(const std::string& key, const std::string& path,
                                                Problems& problems);

/// Checks the owner and the mode of a file that other code reads, by the same rules. On an error,
/// returns false and adds a problem.
[[nodiscard]] bool check_private(const std::string& key, const std::string& path,
                                 Problems& problems);

}  // namespace pinstrike::actors::peer
