// path: cold
#pragma once

#include <cstdint>

namespace pinstrike {

inline constexpr std::int64_t ms_ns = 1'000'000;
inline constexpr std::int64_t second_ns = 1'000'000'000;

}  // namespace pinstrike
