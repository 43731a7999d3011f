// path: hot
//
// Loads and stores of network-order (big-endian) numbers, and a masked load of the end of a byte
// range. The caller must have checked the length.
#pragma once

#include <immintrin.h>

#include <array>
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

/// Loads the 32 bytes before `end` and sets all but the last `count` (at most 31) to 0. This
/// replaces a loop over the remaining bytes of a sum, whose branches are mispredicted.
inline __m256i last_bytes(const std::byte* end, std::size_t count) noexcept {
    static constexpr auto masks = [] {
        std::array<std::uint8_t, 63> bytes{};
        for (std::size_t i = 32; i < bytes.size(); ++i) {
            bytes[i] = 0xFF;
        }
        return bytes;
    }();
    __m256i bytes;
    __m256i mask;
    std::memcpy(&bytes, end - sizeof bytes, sizeof bytes);
    std::memcpy(&mask, masks.data() + count, sizeof mask);
    return _mm256_and_si256(bytes, mask);
}

}  // namespace pinstrike::nic
