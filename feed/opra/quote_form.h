// path: hot
//
// The forms of a quote: long or short, with an appendage for the bid, the offer, both or neither.
// The form says how long a quote is, what its bytes may be (walk.h) and how it becomes an event
// (quote_event.h). It is found once, when its block is checked, and handed on with its place.
#pragma once

#include "feed/opra/layout.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

/// A form as an index: 0 short, 1 long, and twice the sides that have an appendage (bit 0 the bid,
/// bit 1 the offer).
inline constexpr std::size_t quote_forms_count = 8;

/// A message that is no quote.
inline constexpr std::uint16_t no_quote_form = quote_forms_count;

[[nodiscard]] constexpr bool is_long_form(std::size_t form) {
    return form % 2 != 0;
}

[[nodiscard]] constexpr unsigned appendage_sides_of_form(std::size_t form) {
    return static_cast<unsigned>(form / 2);
}

/// Length and form of a quote side by side in one word, so that one addition makes both, of what
/// its category and what its indicator says.
class QuoteShape {
  public:
    constexpr QuoteShape() = default;

    constexpr QuoteShape(std::size_t bytes, std::size_t form)
        : word_(static_cast<std::uint32_t>(bytes | form << 16)) {}

    [[nodiscard]] constexpr QuoteShape operator+(QuoteShape other) const {
        QuoteShape sum;
        sum.word_ = word_ + other.word_;
        return sum;
    }

    [[nodiscard]] constexpr std::size_t bytes() const { return word_ & 0xFFFFU; }

    /// Of a quote.
    [[nodiscard]] constexpr std::uint16_t form() const {
        return static_cast<std::uint16_t>(word_ >> 16);
    }

    [[nodiscard]] constexpr bool is_quote() const { return bytes() < no_quote_bytes; }

    /// Longer than any block, and twice of it no more than half a word.
    static constexpr std::size_t no_quote_bytes = 0x4000;

  private:
    std::uint32_t word_ = 0;
};

namespace detail {

struct QuoteShapes {
    std::array<QuoteShape, 256> of_category;
    std::array<QuoteShape, 256> of_indicator;

    constexpr QuoteShapes() {
        of_category.fill({QuoteShape::no_quote_bytes, 0});
        of_category['q'] = {short_quote::bytes, 0};
        of_category['k'] = {long_quote::bytes, 1};
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::size_t bytes = appendages_bytes[byte];
            of_indicator[byte] = bytes == appendages_unknown
                                     ? QuoteShape{QuoteShape::no_quote_bytes, 0}
                                     : QuoteShape{bytes, std::size_t{2} * appendage_sides[byte]};
        }
    }
};

inline constexpr QuoteShapes quote_shapes;

}  // namespace detail

/// Of the message at `m`, whose first bytes are there: whether it is a quote with an indicator that
/// is known, and then its length and form.
[[nodiscard]] inline QuoteShape quote_shape_of(const std::byte* m) {
    return detail::quote_shapes.of_category[static_cast<std::uint8_t>(m[message::category.at])] +
           detail::quote_shapes.of_indicator[static_cast<std::uint8_t>(m[message::indicator.at])];
}

}  // namespace pinstrike::feed::opra
