// path: cold
//
// What a venue offers beside its codec, by the name that a config's `kind` has.
// feed/NAME/services.cpp fills the table of venue NAME; the list of venues is in feed/meson.build.
#pragma once

#include "feed/event/mapping_rows.h"
#include "feed/lines/calendar_config.h"
#include "feed/lines/line_config.h"
#include "feed/lines/origin.h"
#include "feed/lines/session_hours.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::feed {

/// Null pointers mean that the venue has no such thing.
struct VenueServices {
    std::string_view name;

    /// The lines that the venue publishes, ascending, with their groups.
    std::vector<LineConfig> (*published_lines)();
    std::optional<LineConfig> (*published_line)(std::uint16_t number);

    /// When the lines of the GTH session, or the others, are on the air. Throws std::runtime_error
    /// if this host has no time zone data.
    SessionHours (*session_hours)(const CalendarConfig& calendar, bool gth, Days days);

    /// Whether a symbol, as SeriesKey::symbol_word(), is reserved for tests.
    bool (*is_test_symbol)(std::uint64_t symbol_word);

    /// The nightly list of series: how its files are called, the newest of a folder (empty: it has
    /// none), and the rows of one (nothing, and a Problem, where it cannot be read to its end).
    std::string_view series_mapping_name;
    std::string (*newest_series_mapping)(const std::string& folder);
    std::optional<MappingRows> (*read_series_mapping)(const std::string& path,
                                                      const TakeSeries& take, Problems& problems);

    /// Appends a line for each message of a datagram, as JSON or for people, and one for what could
    /// not be decoded. `packet`: its number in the capture.
    void (*append_datagram)(std::string& out, std::span<const std::byte> payload, Origin origin,
                            std::uint64_t packet, bool json);
};

/// Of a venue that there is: load_config refuses other names.
[[nodiscard]] const VenueServices& venue_services(std::string_view name);

}  // namespace pinstrike::feed
