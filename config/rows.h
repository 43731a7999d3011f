// path: hot
//
// Tables of counters and drop reasons. A module lists its rows once, as a macro NIC_DROPS(ROW) of
// rows such as
//
//     ROW(not_ipv4, packets, "the Ethernet type is not IPv4")
//     ROW(fragment, packets, "an IPv4 fragment: OPRA never sends one")
//
// and PINSTRIKE_ROWS(Drop, NIC_DROPS) makes the enum, its names and its sentences. Metrics, the
// account, `explain` and the documents use the same rows. A published name is never changed, only
// retired.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace pinstrike {

/// One row of a table of counters: its name, its unit, and its meaning.
struct Row {
    std::string_view name;
    std::string_view unit;
    std::string_view sentence;
};

}  // namespace pinstrike

#define PINSTRIKE_ROW_ENUM(name, ...) name,
#define PINSTRIKE_ROW_ONE(name, ...) +1
#define PINSTRIKE_ROW_TEXT(name, unit, sentence) ::pinstrike::Row{#name, #unit, sentence},

/// Defines `enum class Name`, `Name##_count`, `Name##_rows` and `row_of(Name)`. TEXT makes a Type
/// of each row, whose first value is its name.
#define PINSTRIKE_TABLE(Name, Type, ROWS, TEXT)                                \
    enum class Name : unsigned char { ROWS(PINSTRIKE_ROW_ENUM) };              \
    inline constexpr std::size_t Name##_count = 0 ROWS(PINSTRIKE_ROW_ONE);     \
    inline constexpr std::array<Type, Name##_count> Name##_rows{{ROWS(TEXT)}}; \
    constexpr const Type& row_of(Name value) {                                 \
        return Name##_rows[static_cast<std::size_t>(value)];                   \
    }

#define PINSTRIKE_ROWS(Name, ROWS) PINSTRIKE_TABLE(Name, ::pinstrike::Row, ROWS, PINSTRIKE_ROW_TEXT)
