// path: cold
//
// Writes values of records as text. Each function returns the end of what it wrote; the caller has
// room for csv_text_max bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pinstrike::actors {

inline constexpr std::size_t csv_text_max = 32;

/// An exact decimal of a number of units of 1e-9, without zeros at its end, such as "1.25".
char* write_price(char* to, std::int64_t price);

/// Times as "2026-11-27T15:00:00.000000001Z". Keeps the text of the last second, because most
/// times follow each other closely.
class CsvTimes {
  public:
    char* write(char* to, std::uint64_t ns);

  private:
    static constexpr std::size_t second_chars = 20;

    void set_second(std::uint64_t second);

    std::uint64_t second_ = ~std::uint64_t{0};
    char text_[second_chars + 1]{};
};

/// A field of a CSV file: in quotes if it has a comma, a quote or an end of line.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace pinstrike::actors
