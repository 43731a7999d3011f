// path: cold
//
// The frames of state transfer. README.md of this folder describes them in tables. The parsers
// check the form of a frame, and is_possible() checks the values of a series.
#pragma once

#include "actors/core/state_record.h"
#include "actors/peer/frames.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pinstrike::actors::peer {

inline constexpr std::size_t state_request_bytes = 8 + 2;
inline constexpr std::size_t state_series_bytes = 8 + 2 + 1 + 24 + 16 + 2 * 15 + 4;
inline constexpr std::size_t state_trades_bytes = 8 + 11 * 4 - 4 + 6 + 2;
inline constexpr std::size_t state_lost_bytes = 8 + 2 + 24;
inline constexpr std::size_t state_place_bytes = 8 + 2 + 24 + 2;

/// Requests the state of all series, or of the series of some lines.
struct StateRequest {
    std::uint64_t id = 0;
    std::vector<std::uint16_t> lines;  ///< empty: all
};

/// A record of kind series, lost or place.
struct StateFrame {
    std::uint64_t id = 0;  ///< id of the request
    StateRecord record;
};

struct StateEnd {
    std::uint64_t id = 0;
    std::uint64_t series = 0;  ///< number of series sent
};

template <>
inline constexpr auto fields_of<StateEnd> = std::tuple{&StateEnd::id, &StateEnd::series};

[[nodiscard]] std::optional<StateRequest> parse_state_request(std::span<const std::byte> body);
/// Nothing if it is a frame of another kind, or malformed.
[[nodiscard]] std::optional<StateFrame> parse_state(const Frame& frame);
/// Whether a book can have the values of a record of kind series.
[[nodiscard]] bool is_possible(const StateRecord& series);

void put(FrameWriter& writer, const StateRequest& request);
void put(FrameWriter& writer, const StateFrame& frame);

}  // namespace pinstrike::actors::peer
