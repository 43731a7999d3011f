// path: cold
#pragma once

#include "config/problem.h"

#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic {

/// The files, and in the place of each folder the captures in it and in the folders below, by name:
/// those that end in .pcap, .pcapng or .cap, a number of a rotation behind it (day.pcap3), and then
/// perhaps .gz, .zst, .lz4 or .xz. Tells a folder that cannot be read or has none.
[[nodiscard]] std::vector<std::string> capture_files(std::span<const std::string> paths,
                                                     Problems& problems);

}  // namespace pinstrike::nic
