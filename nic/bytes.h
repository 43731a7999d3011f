// path: hot
//
// Loads and stores of the network's (big-endian) numbers. Callers have checked the length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinstrike::nic {

inline std::uint16_t load_be16(const std::byte* at) noexcept {
    std::uint16_t raw;
    std::memcpy(&raw, at, sizeof raw);
    return __builtin_bswap16(raw);
}

inline std::uint32_t load_be32(const std::byte* at) noexcept {
    std::uint32_t raw;
    std::memcpy(&raw, at, sizeof raw);
    return __builtin_bswap32(raw);
}

inline void store_be16(std::byte* at, std::uint16_t value) noexcept {
    const std::uint16_t raw = __builtin_bswap16(value);
    std::memcpy(at, &raw, sizeof raw);
}

inline void store_be32(std::byte* at, std::uint32_t value) noexcept {
    const std::uint32_t raw = __builtin_bswap32(value);
    std::memcpy(at, &raw, sizeof raw);
}

}  // namespace pinstrike::nic
