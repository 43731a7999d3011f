// path: hot
//
// Loads and stores of numbers in network order (big endian) or in memory order, and a masked load
// of the end of a byte range. The caller must have checked the length.
#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace pinstrike::nic {

static_assert(std::endian::native == std::endian::little, "keys and loads assume little endian");

template <std::integral T>
[[nodiscard]] constexpr T byte_swapped(T value) noexcept {
    using Bits = std::make_unsigned_t<T>;
    const auto bits = static_cast<Bits>(value);
    if constexpr (sizeof(T) == 1) {
        return value;
    } else if constexpr (sizeof(T) == 2) {
        return static_cast<T>(__builtin_bswap16(bits));
    } else if constexpr (sizeof(T) == 4) {
        return static_cast<T>(__builtin_bswap32(bits));
    } else {
        return static_cast<T>(__builtin_bswap64(bits));
    }
}

/// sizeof(T) bytes in memory order; the caller has checked the bounds.
template <std::integral T>
[[nodiscard]] inline T load_native(const std::byte* at) noexcept {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// A big-endian integer; the caller has checked the bounds.
template <std::integral T>
[[nodiscard]] inline T load_big_endian(const std::byte* at) noexcept {
    return byte_swapped(load_native<T>(at));
}

template <std::integral T>
inline void store_big_endian(std::byte* at, T value) noexcept {
    const T swapped = byte_swapped(value);
    std::memcpy(at, &swapped, sizeof swapped);
}

inline std::uint16_t load_be16(const std::byte* at) noexcept {
    return load_big_endian<std::uint16_t>(at);
}

inline std::uint32_t load_be32(const std::byte* at) noexcept {
    return load_big_endian<std::uint32_t>(at);
}

inline void store_be16(std::byte* at, std::uint16_t value) noexcept {
    store_big_endian(at, value);
}

inline void store_be32(std::byte* at, std::uint32_t value) noexcept {
    store_big_endian(at, value);
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
