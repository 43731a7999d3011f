// path: hot
//
// Reads and writes bytes of the wire: big-endian loads and stores at an address that the caller has
// checked, and a bounds-checked Cursor.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace pinstrike::feed {

static_assert(std::endian::native == std::endian::little, "keys and loads assume little endian");

template <std::integral T>
[[nodiscard]] constexpr T byte_swapped(T value) {
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
[[nodiscard]] inline T load_native(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// A big-endian integer; the caller has checked the bounds.
template <std::integral T>
[[nodiscard]] inline T load_big_endian(const std::byte* at) {
    return byte_swapped(load_native<T>(at));
}

template <std::integral T>
inline void store_big_endian(std::byte* at, T value) {
    const T swapped = byte_swapped(value);
    std::memcpy(at, &swapped, sizeof swapped);
}

/// Reads forward through unchecked bytes and never past their end.
class Cursor {
  public:
    explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] std::size_t left() const { return bytes_.size(); }

    /// The next big-endian integer; nothing, and no byte consumed, if too few bytes are left.
    template <std::integral T>
    [[nodiscard]] std::optional<T> take() {
        if (bytes_.size() < sizeof(T)) {
            return std::nullopt;
        }
        const T value = load_big_endian<T>(bytes_.data());
        bytes_ = bytes_.subspan(sizeof(T));
        return value;
    }

    /// The same for a little-endian integer, the order of this program's own formats.
    template <std::integral T>
    [[nodiscard]] std::optional<T> take_little() {
        if (bytes_.size() < sizeof(T)) {
            return std::nullopt;
        }
        const T value = load_native<T>(bytes_.data());
        bytes_ = bytes_.subspan(sizeof(T));
        return value;
    }

    /// The next `count` bytes; nothing, and no byte consumed, if fewer are left.
    [[nodiscard]] std::optional<std::span<const std::byte>> take(std::size_t count) {
        if (bytes_.size() < count) {
            return std::nullopt;
        }
        const auto taken = bytes_.first(count);
        bytes_ = bytes_.subspan(count);
        return taken;
    }

  private:
    std::span<const std::byte> bytes_;
};

}  // namespace pinstrike::feed
