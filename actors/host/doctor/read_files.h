// path: cold
//
// The small texts that the kernel tells in /proc and /sys.
#pragma once

#include "actors/host/doctor/host.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::doctor {

/// A whole file without the line end behind it; nullopt: cannot be read.
[[nodiscard]] std::optional<std::string> read_word(const std::filesystem::path& file);

/// A decimal integer.
[[nodiscard]] std::optional<std::int64_t> read_number(const std::filesystem::path& file);

/// "0-3,8,10-11" as a set; "" and "(null)" are the empty one. nullopt: not such a list.
[[nodiscard]] std::optional<CpuSet> parse_cpus(std::string_view text);
[[nodiscard]] std::optional<CpuSet> read_cpus(const std::filesystem::path& file);

/// The inverse of parse_cpus.
[[nodiscard]] std::string cpus_text(const CpuSet& cpus);

/// Names in a folder, sorted; none where it is not there.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder);

/// The last part of where a symbolic link points; empty: it is none.
[[nodiscard]] std::string link_name(const std::filesystem::path& link);

/// "intel" of "always [intel] never": the choice in brackets; the whole text without brackets.
[[nodiscard]] std::string chosen_word(const std::string& text);

/// The number behind a prefix: 3 of "cpu3"; nullopt where it is not so.
[[nodiscard]] std::optional<int> number_behind(std::string_view name, std::string_view prefix);

}  // namespace pinstrike::actors::doctor
