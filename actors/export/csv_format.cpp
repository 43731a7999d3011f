// path: cold
#include "actors/export/csv_columns.h"
#include "actors/export/csv_text.h"
#include "actors/export/record_format.h"
#include "actors/market/instruments.h"
#include "config/cache_line.h"
#include "config/check.h"
#include "feed/dbn/osi_symbol.h"
#include "feed/dbn/records.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {
namespace {

using feed::dbn::Schema;

/// A field in quotes has each quote twice.
constexpr std::size_t text_chars_max(std::size_t bytes) {
    return 2 * bytes + 2;
}

/// The highest unsigned or signed value of so many bytes.
constexpr std::uint64_t highest(std::size_t bytes, bool is_signed) {
    return ~std::uint64_t{0} >> (64 - 8 * bytes + (is_signed ? 1 : 0));
}

/// Loads eight bytes, which every block has behind the first byte of a field.
std::uint64_t unsigned_at(const std::byte* at, std::size_t bytes) {
    static_assert(RecordBlock::readable_bytes >= sizeof(std::uint64_t));
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return value & highest(bytes, false);
}

std::int64_t signed_at(const std::byte* at, std::size_t bytes) {
    const auto unused_bits = static_cast<unsigned>(64 - 8 * bytes);
    return static_cast<std::int64_t>(unsigned_at(at, bytes) << unused_bits) >> unused_bits;
}

char* write_text(char* to, const std::byte* at, std::size_t bytes) {
    const auto* const text = reinterpret_cast<const char*>(at);  // tidy: characters
    const std::string field = csv_field({text, ::strnlen(text, bytes)});
    return std::copy(field.begin(), field.end(), to);
}

/// A symbol as a field. One cache line, which is copied as a whole.
struct alignas(cache_line_bytes) SymbolField {
    static constexpr std::size_t chars_max = cache_line_bytes - 1;

    std::uint8_t chars = 0;
    std::array<char, chars_max> text{};
};

SymbolField symbol_field(const pinstrike_key& key) {
    const std::string text = csv_field(feed::dbn::osi_symbol(name_of(key)));
    SymbolField field;
    field.chars = static_cast<std::uint8_t>(text.copy(field.text.data(), field.text.size()));
    PINSTRIKE_CHECK(field.chars == text.size());
    return field;
}

class CsvFormat final : public RecordFormat {
  public:
    explicit CsvFormat(Schema schema)
        : columns_(csv_columns(schema)), record_bytes_(record_bytes(schema)) {
        std::size_t row_chars = SymbolField::chars_max + 1;
        for (const CsvColumn& column : columns_) {
            row_chars += std::max(csv_text_max, text_chars_max(column.bytes)) + 1;
        }
        rows_.resize(row_chars * (RecordBlock::capacity_bytes / record_bytes_));
    }

    [[nodiscard]] bool begins_late() const override { return false; }

    [[nodiscard]] bool begin(ExportFile& file) override {
        std::string heading;
        for (const CsvColumn& column : columns_) {
            heading += std::string{column.name} + ',';
        }
        heading += "symbol\n";
        return file.write(std::as_bytes(std::span{heading}));
    }

    [[nodiscard]] bool add(const RecordBlock& block, ExportFile& file) override {
        for (const pinstrike_key& key : block.series) {
            if (key.id >= symbols_.size()) {
                symbols_.resize(key.id + std::size_t{1});
            }
            symbols_[key.id] = symbol_field(key);
        }
        char* to = rows_.data();
        const std::span<const std::byte> records = block.records();
        const std::size_t ahead = symbols_ahead * record_bytes_;
        for (std::size_t at = 0; at < records.size(); at += record_bytes_) {
            if (at + ahead < records.size()) {
                __builtin_prefetch(&symbol_of(&records[at + ahead]));
            }
            to = write_row(to, &records[at]);
        }
        const std::span<const char> rows{rows_.data(), to};
        return file.write(std::as_bytes(rows));
    }

    [[nodiscard]] bool end(ExportFile& /*file*/) override { return true; }

  private:
    static constexpr std::size_t symbols_ahead = 8;  ///< records whose symbols are prefetched

    char* write_row(char* to, const std::byte* record) {
        for (const CsvColumn& column : columns_) {
            to = write_value(to, record + column.at, column);
            *to++ = ',';
        }
        const SymbolField& symbol = symbol_of(record);
        std::memcpy(to, symbol.text.data(), symbol.text.size());
        to += symbol.chars;
        *to++ = '\n';
        return to;
    }

    [[nodiscard]] const SymbolField& symbol_of(const std::byte* record) const {
        return symbols_[unsigned_at(record + offsetof(feed::dbn::RecordHeader, instrument),
                                    sizeof(InstrumentId))];
    }

    char* write_value(char* to, const std::byte* at, const CsvColumn& column) {
        const std::size_t bytes = column.bytes;
        switch (column.value) {
            case CsvValue::time: {
                const std::uint64_t ns = unsigned_at(at, sizeof ns);
                return ns == feed::dbn::undefined_time ? to : times_.write(to, ns);
            }
            case CsvValue::price: {
                const std::int64_t price = signed_at(at, sizeof price);
                return price == feed::dbn::undefined_price ? to : write_price(to, price);
            }
            case CsvValue::number:
            case CsvValue::number_or_none: {
                const std::uint64_t value = unsigned_at(at, bytes);
                const bool is_undefined =
                    column.value == CsvValue::number_or_none && value == highest(bytes, false);
                return is_undefined ? to : std::to_chars(to, to + csv_text_max, value).ptr;
            }
            case CsvValue::difference:
            case CsvValue::difference_or_none: {
                const std::int64_t value = signed_at(at, bytes);
                const bool is_undefined = column.value == CsvValue::difference_or_none &&
                                          static_cast<std::uint64_t>(value) == highest(bytes, true);
                return is_undefined ? to : std::to_chars(to, to + csv_text_max, value).ptr;
            }
            case CsvValue::letter:
                *to = static_cast<char>(*at);
                return *to == ' ' ? to : to + 1;
            case CsvValue::text:
                return write_text(to, at, bytes);
        }
        return to;
    }

    std::span<const CsvColumn> columns_;
    std::size_t record_bytes_;
    std::vector<SymbolField> symbols_;  ///< by id
    CsvTimes times_;
    std::vector<char> rows_;  ///< of one block
};

}  // namespace

std::unique_ptr<RecordFormat> csv_format(Schema schema) {
    return std::make_unique<CsvFormat>(schema);
}

}  // namespace pinstrike::actors
