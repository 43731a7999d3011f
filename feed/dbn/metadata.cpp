// path: cold
#include "feed/dbn/metadata.h"

#include "feed/dbn/records.h"

#include <algorithm>
#include <cstring>

namespace pinstrike::feed::dbn {

std::array<std::byte, metadata_bytes> live_metadata(std::string_view dataset, std::int64_t start_ns,
                                                    bool ts_out) {
    constexpr std::size_t dataset_bytes = 16;
    constexpr std::uint16_t mixed_schema = 0xFFFF;
    constexpr std::uint8_t mixed_symbols = 0xFF;
    std::array<std::byte, metadata_bytes> bytes{};
    const auto put = [&bytes](std::size_t at, const auto& value) {
        std::memcpy(&bytes[at], &value, sizeof value);
    };
    put(0, std::array{'D', 'B', 'N', '\3'});
    put(4, static_cast<std::uint32_t>(metadata_bytes - 8));
    std::memcpy(&bytes[8], dataset.data(), std::min(dataset.size(), dataset_bytes));
    put(24, mixed_schema);
    put(26, start_ns);
    put(34, undefined_time);  // no end
    put(50, mixed_symbols);
    put(51, SymbolType::instrument_id);
    put(52, static_cast<std::uint8_t>(ts_out ? 1 : 0));
    put(53, static_cast<std::uint16_t>(symbol_bytes));
    // The rest is zero: no limit, no schema definition, and no symbols, because a live session maps
    // them by records.
    return bytes;
}

}  // namespace pinstrike::feed::dbn
