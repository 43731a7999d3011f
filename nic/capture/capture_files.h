// path: cold
#pragma once

#include "config/problem.h"

#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic {

/// Returns `paths` with each folder replaced by the captures in it and its subfolders, sorted by
/// name. Captures end in .pcap, .pcapng or .cap, optionally with a rotation number (day.pcap3) and
/// then .gz, .zst, .lz4 or .xz. Of a capture that is there plain and compressed, only the plain
/// file is listed: the other one may not be whole yet. Adds a problem for a folder that cannot be
/// read or has no captures.
[[nodiscard]] std::vector<std::string> capture_files(std::span<const std::string> paths,
                                                     Problems& problems);

/// Of a file that could not be opened as a capture: whether no packet is missing therefore, because
/// the file was removed meanwhile, or because a recorder has just begun it and holds its lock.
[[nodiscard]] bool is_gone_or_begun(const std::string& path);

/// Adds a problem for each capture that is named and cannot be opened, and for those of a folder if
/// none of them can. No pipe is opened.
void check_captures(std::span<const std::string> paths, Problems& problems);

}  // namespace pinstrike::nic
