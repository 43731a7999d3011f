// path: cold
//
// Reads the small text files of /proc and /sys.
#pragma once

#include "actors/host/doctor/host.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::doctor {

/// The content of a file without its last line end; nullopt: it cannot be read.
[[nodiscard]] std::optional<std::string> read_word(const std::filesystem::path& file);

/// A decimal integer.
[[nodiscard]] std::optional<std::int64_t> read_number(const std::filesystem::path& file);

/// Parses "0-3,8,10-11"; "" and "(null)" are the empty set. nullopt: not such a list.
[[nodiscard]] std::optional<CpuSet> parse_cpus(std::string_view text);
[[nodiscard]] std::optional<CpuSet> read_cpus(const std::filesystem::path& file);

/// The inverse of parse_cpus.
[[nodiscard]] std::string cpus_text(const CpuSet& cpus);

/// The names in a folder, sorted; empty if the folder does not exist.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder);

/// The last component of a symbolic link's target; empty: not a link.
[[nodiscard]] std::string link_name(const std::filesystem::path& link);

/// The word in brackets, "intel" of "always [intel] never"; the whole text if there are no
/// brackets.
[[nodiscard]] std::string chosen_word(const std::string& text);

/// The number after a prefix: 3 of "cpu3"; nullopt if the text does not match.
[[nodiscard]] std::optional<int> number_behind(std::string_view name, std::string_view prefix);

}  // namespace pinstrike::actors::doctor
