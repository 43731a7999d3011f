// path: cold
//
// The body of a frame, read and written: little-endian, in order, nothing skipped.
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

/// Takes the bytes in order; what was short is told once, at the end.
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

    /// The same of a value that is returned.
    template <class T>
    [[nodiscard]] T take() {
        T value{};
        take(value);
        return value;
    }

    [[nodiscard]] std::span<const std::byte> rest() { return *cursor_.take(cursor_.left()); }

    /// All of it was there, and there is no more.
    [[nodiscard]] bool whole() const { return good_ && cursor_.left() == 0; }

  private:
    feed::Cursor cursor_;
    bool good_ = true;
};

/// Writes a body of a known greatest length, in order.
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
