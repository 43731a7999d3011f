// path: cold
#include "feed/dbn/metadata.h"

#include "feed/dbn/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

namespace pinstrike::feed::dbn {
namespace {

constexpr std::size_t counts_at = 108;  ///< of the schema definition's size and the four lists

/// What the beginning of all metadata states.
struct Head {
    std::uint16_t schema = 0xFFFF;  ///< mixed
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = undefined_time;
    std::uint8_t symbols_in = 0xFF;  ///< SymbolType; mixed
    bool ts_out = false;
};

template <class Value>
void put(std::byte* at, const Value& value) {
    std::memcpy(at, &value, sizeof value);
}

/// Writes the bytes before the lists; those that are not written are zero. `size` is that of all
/// metadata.
void put_head(std::byte* at, std::string_view dataset, const Head& head, std::size_t size) {
    constexpr std::size_t dataset_bytes = 16;
    put(at, std::array{'D', 'B', 'N', '\3'});
    put(at + 4, static_cast<std::uint32_t>(size - 8));
    std::memcpy(at + 8, dataset.data(), std::min(dataset.size(), dataset_bytes));
    put(at + 24, head.schema);
    put(at + 26, head.start_ns);
    put(at + 34, head.end_ns);
    put(at + 50, head.symbols_in);
    put(at + 51, SymbolType::instrument_id);
    put(at + 52, static_cast<std::uint8_t>(head.ts_out ? 1 : 0));
    put(at + 53, static_cast<std::uint16_t>(symbol_bytes));
}

/// A date such as 20261127, in UTC.
std::uint32_t date_of(std::uint64_t ns) {
    using namespace std::chrono;
    const sys_days day{floor<days>(sys_time<nanoseconds>{nanoseconds{ns}})};
    const year_month_day date{day};
    return static_cast<std::uint32_t>(static_cast<int>(date.year())) * 10'000 +
           static_cast<unsigned>(date.month()) * 100 + static_cast<unsigned>(date.day());
}

/// Appends values to metadata that is large enough.
class Appender {
  public:
    explicit Appender(std::byte* at) : at_(at) {}

    void number(std::size_t value) {
        put(at_, static_cast<std::uint32_t>(value));
        at_ += sizeof(std::uint32_t);
    }

    void symbol(std::string_view text) {
        std::memcpy(at_, text.data(), std::min(text.size(), symbol_bytes - 1));
        at_ += symbol_bytes;
    }

  private:
    std::byte* at_;
};

}  // namespace

std::array<std::byte, metadata_bytes> live_metadata(std::string_view dataset, std::int64_t start_ns,
                                                    bool ts_out) {
    // No limit, no schema definition, and no symbols, because a live session maps them by records.
    std::array<std::byte, metadata_bytes> bytes{};
    put_head(bytes.data(), dataset,
             {.start_ns = static_cast<std::uint64_t>(start_ns), .ts_out = ts_out}, bytes.size());
    return bytes;
}

std::vector<std::byte> file_metadata(std::string_view dataset, const FileContent& content,
                                     std::size_t multiple_bytes) {
    constexpr std::size_t number_bytes = sizeof(std::uint32_t);
    constexpr std::size_t lists = 5;  // with the schema definition
    constexpr std::uint64_t day_ns = 86'400'000'000'000;
    std::size_t size = counts_at + lists * number_bytes;
    for (const MappedSymbol& symbol : content.symbols) {
        size += symbol_bytes + symbol_bytes + number_bytes +
                symbol.instruments.size() * (2 * number_bytes + symbol_bytes);
    }
    std::vector<std::byte> bytes((size + multiple_bytes - 1) / multiple_bytes * multiple_bytes);
    put_head(bytes.data(), dataset,
             {.schema = number_of(content.schema),
              .start_ns = content.start_ns,
              .end_ns = content.end_ns,
              .symbols_in = static_cast<std::uint8_t>(SymbolType::raw_symbol)},
             bytes.size());
    Appender to{bytes.data() + counts_at};
    to.number(0);  // no schema definition
    to.number(content.symbols.size());
    for (const MappedSymbol& symbol : content.symbols) {
        to.symbol(symbol.symbol);
    }
    to.number(0);  // no symbols that were found for a part of the days
    to.number(0);  // none that were not found
    to.number(content.symbols.size());
    const std::uint32_t begin = date_of(content.start_ns);
    const std::uint32_t end = date_of(std::max(content.end_ns, std::uint64_t{1}) - 1 + day_ns);
    for (const MappedSymbol& symbol : content.symbols) {
        to.symbol(symbol.symbol);
        to.number(symbol.instruments.size());
        for (const std::uint32_t instrument : symbol.instruments) {
            to.number(begin);
            to.number(end);
            to.symbol(fmt::format("{}", instrument));
        }
    }
    return bytes;
}

}  // namespace pinstrike::feed::dbn
