// path: cold
//
// The metadata at the beginning of a live DBN session, and of a DBN file (DBN version 3).
#pragma once

#include "feed/dbn/schema.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::feed::dbn {

inline constexpr std::size_t metadata_bytes = 128;

/// The metadata of a session that begins at `start_ns`. Besides the start, it depends only on
/// dataset and `ts_out`, because clients refuse a reconnected session with other metadata.
[[nodiscard]] std::array<std::byte, metadata_bytes> live_metadata(std::string_view dataset,
                                                                  std::int64_t start_ns,
                                                                  bool ts_out);

/// A symbol, and the instruments that have it: one, or both sessions of a series.
struct MappedSymbol {
    std::string symbol;
    std::vector<std::uint32_t> instruments;
};

/// What the metadata of a file states about its records.
struct FileContent {
    Schema schema = Schema::trades;
    std::uint64_t start_ns = 0;         ///< of the earliest record
    std::uint64_t end_ns = 0;           ///< after the latest record
    std::vector<MappedSymbol> symbols;  ///< each once, for all days of the records
};

/// The metadata of a file. Its size is a multiple of `multiple_bytes`, which is one of 8; readers
/// pass over the zeros at its end.
[[nodiscard]] std::vector<std::byte> file_metadata(std::string_view dataset,
                                                   const FileContent& content,
                                                   std::size_t multiple_bytes);

}  // namespace pinstrike::feed::dbn
