// path: cold
//
// Sizes of memory in bytes.
#pragma once

#include <cstddef>

namespace pinstrike {

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;
inline constexpr std::size_t ordinary_page_bytes = 4096;
inline constexpr std::size_t huge_page_bytes = 2 * mebibyte;

}  // namespace pinstrike
