// path: hot
//
// The forms of a quote: long or short, with an appendage for the bid, the offer, both or neither.
// The form determines how long a quote is, which byte values are valid (walk.h), and how the quote
// becomes an event (quote_event.h). It is found once, when the block is checked, and stored in the
// MessagePlace.
#pragma once

#include "feed/opra/layout.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed::opra {

/// A form is an index: 0 for short or 1 for long, plus twice the sides that have an appendage (bit
/// 0 the bid, bit 1 the offer).
inline constexpr std::size_t quote_forms_count = 8;

/// The form of a message that is not a quote.
inline constexpr std::uint16_t no_quote_form = quote_forms_count;

[[nodiscard]] constexpr bool is_long_form(std::size_t form) {
    return form % 2 != 0;
}

[[nodiscard]] constexpr unsigned appendage_sides_of_form(std::size_t form) {
    return static_cast<unsigned>(form / 2);
}

/// The length and the form of a quote in one word. One addition sums up what the category and the
/// indicator contribute to both.
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

    /// Valid only if is_quote().
    [[nodiscard]] constexpr std::uint16_t form() const {
        return static_cast<std::uint16_t>(word_ >> 16);
    }

    [[nodiscard]] constexpr bool is_quote() const { return bytes() < no_quote_bytes; }

    /// Longer than any block. Twice this value still fits into half a word.
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

/// Whether the message at `m` is a quote with a known indicator, and its length and form if so. The
/// caller has checked that the message header is in the block.
[[nodiscard]] inline QuoteShape quote_shape_of(const std::byte* m) {
    return detail::quote_shapes.of_category[static_cast<std::uint8_t>(m[message::category.at])] +
           detail::quote_shapes.of_indicator[static_cast<std::uint8_t>(m[message::indicator.at])];
}

}  // namespace pinstrike::feed::opra
