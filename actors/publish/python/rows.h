// path: cold
//
// What the arrays of a batch and of a chain consist of.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/python/columns.h"

namespace pinstrike::python {

enum class Prices : std::uint8_t {
    numbers,  ///< double, in dollars
    exact     ///< std::int64_t, in units of 1e-8 dollars
};

/// The rows of one kind of record.
template <class Source>
struct Layout {
    std::string name;    ///< of one message, as in on_NAME
    std::string plural;  ///< attribute of a batch
    std::string class_name;
    std::string doc;
    std::size_t row_bytes = 0;
    std::vector<Field> fields;
    void (*write)(std::byte* row, const Source&, std::uint32_t order) = nullptr;
};

inline constexpr std::size_t kinds_count = 13;
using MessageLayouts = std::array<Layout<pinstrike_record>, kinds_count>;

/// The place of a kind of record in the layouts of messages; kinds_count: none.
[[nodiscard]] std::size_t place_of(std::uint8_t kind);

[[nodiscard]] const MessageLayouts& message_layouts(Prices prices);
[[nodiscard]] const Layout<pinstrike_value>& series_layout(Prices prices);

}  // namespace pinstrike::python
