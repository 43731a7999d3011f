// path: cold
//
// Reads the body of a frame: little-endian fields in order, without padding. FrameWriter (frames.h)
// writes them.
#pragma once

#include "feed/event/cursor.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <tuple>

namespace pinstrike::actors::peer {

/// The fields of a struct that frames have, in their order on the wire, as pointers to members.
template <class T>
inline constexpr std::tuple<> fields_of{};

/// What these fields take.
template <class T>
inline constexpr std::size_t fields_bytes = std::apply(
    [](auto... member) { return (std::size_t{0} + ... + sizeof(T{}.*member)); }, fields_of<T>);

/// Reads the fields in order. A field that runs past the end makes whole() false.
class Body {
  public:
    explicit Body(std::span<const std::byte> bytes) : cursor_(bytes) {}

    template <std::integral T>
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

    /// All fields of a struct.
    template <class T>
    void take(T& into) {
        std::apply([&](auto... member) { (take(into.*member), ...); }, fields_of<T>);
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

}  // namespace pinstrike::actors::peer
