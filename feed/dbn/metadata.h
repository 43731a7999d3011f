// path: cold
//
// The metadata at the beginning of a live DBN session (DBN version 3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pinstrike::feed::dbn {

inline constexpr std::size_t metadata_bytes = 128;

/// The metadata of a session that begins at `start_ns`. Besides the start, it depends only on
/// dataset and `ts_out`, because clients refuse a reconnected session with other metadata.
[[nodiscard]] std::array<std::byte, metadata_bytes> live_metadata(std::string_view dataset,
                                                                  std::int64_t start_ns,
                                                                  bool ts_out);

}  // namespace pinstrike::feed::dbn
