// path: cold
#pragma once

#include "actors/peer/secret.h"
#include "config/problem.h"

#include <optional>
#include <string>

namespace pinstrike::actors::peer {

inline constexpr std::size_t secret_bytes_min = 32;
inline constexpr std::size_t secret_bytes_max = 1024;

/// The text of a file that nobody but its owner may read, without blanks and line ends around it.
/// The owner is whoever runs this, or root. Nothing, and a problem that names the key `key`, where
/// anything is wrong; the problem never holds what the file does.
[[nodiscard]] std::optional<Secret> read_secret(const std::string& key, const std::string& path,
                                                Problems& problems);

/// The same rules for a file that somebody else reads.
[[nodiscard]] bool check_private(const std::string& key, const std::string& path,
                                 Problems& problems);

}  // namespace pinstrike::actors::peer
