// path: cold
//
// Reads and writes the body of a frame: little-endian fields in order, without padding.
#pragma once

#include "feed/event/cursor.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace pinstrike::actors::peer {

/// Reads the fields in order. A field that runs past the end makes whole() false.
class Body {
  public:
    explicit Body(std::span<const std::byte> bytes) : cursor_(bytes) {}

    template <class T>
    void take(T& into) {
        const auto value = cursor_.take_little<T>();
        good_ = good_ && value.has_value();
        into = value.value_or(T{});
    }

    template <std::size_t Count>
    void take(std::array<std::byte, Count>& into) {
        const auto bytes = cursor_.take(Count);
        good_ = good_ && bytes.has_value();
        if (bytes) {
            std::copy(bytes->begin(), bytes->end(), into.begin());
        }
    }

    template <class T>
    [[nodiscard]] T take() {
        T value{};
        take(value);
        return value;
    }

    [[nodiscard]] std::span<const std::byte> rest() { return *cursor_.take(cursor_.left()); }

    /// True if all fields were present and no bytes follow them.
    [[nodiscard]] bool whole() const { return good_ && cursor_.left() == 0; }

  private:
    feed::Cursor cursor_;
    bool good_ = true;
};

/// Writes the fields of a body in order. The body has at most `Most` bytes.
template <std::size_t Most>
class BodyWriter {
  public:
    template <class T>
    void put(T value) {
        std::memcpy(bytes_.data() + used_, &value, sizeof value);
        used_ += sizeof value;
    }

    [[nodiscard]] std::span<const std::byte> bytes() const {
        return std::span{bytes_}.first(used_);
    }

  private:
    std::array<std::byte, Most> bytes_{};
    std::size_t used_ = 0;
};

}  // namespace pinstrike::actors::peer
