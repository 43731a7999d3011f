// path: hot
//
// A bounds-checked reader of bytes of the wire. The loads and stores at an address that the caller
// has checked are those of nic/packet/bytes.h.
#pragma once

#include "nic/packet/bytes.h"

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>

namespace pinstrike::feed {

using nic::load_big_endian;
using nic::load_native;
using nic::store_big_endian;

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
