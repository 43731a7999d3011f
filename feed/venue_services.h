// path: cold
//
// The services of a venue beside its codec, found by the name that the config key `kind` has.
// feed/NAME/services.cpp fills the table of venue NAME; the list of venues is in feed/meson.build.
#pragma once

#include "feed/event/block_numbers.h"
#include "feed/event/mapping_rows.h"
#include "feed/lines/calendar_config.h"
#include "feed/lines/line_config.h"
#include "feed/lines/session_hours.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::feed {

/// A null pointer means that the venue does not offer the service.
struct VenueServices {
    std::string_view name;

    /// Whether several lines may share a group.
    bool lines_share_groups;

    /// The lines that the venue publishes, ascending, with their groups.
    std::vector<LineConfig> (*published_lines)();
    std::optional<LineConfig> (*published_line)(std::uint16_t number);

    /// The session hours of the lines of the GTH session, or of the other lines. Throws
    /// std::runtime_error if the host has no time zone data.
    SessionHours (*session_hours)(const CalendarConfig& calendar, bool gth, Days days);

    /// Whether a symbol, as SeriesKey::symbol_word(), is reserved for tests.
    bool (*is_test_symbol)(std::uint64_t symbol_word);

    /// The nightly list of series: the pattern of its file names; the newest file in a folder
    /// (empty: none); the rows of a file (nullopt and a Problem: it could not be read to its end).
    std::string_view series_mapping_name;
    std::string (*newest_series_mapping)(const std::string& folder);
    std::optional<MappingRows> (*read_series_mapping)(const std::string& path,
                                                      const OnSeries& on_series,
                                                      Problems& problems);

    /// The numbers of the block in a datagram.
    NumbersOf numbers_of;

    /// Whether a datagram concerns one of these symbols.
    ConcernOf concern_of;

    /// Appends one line for each message of a datagram, as JSON or as text for people, and one line
    /// for the part that cannot be decoded. `packet` is the packet's number in the capture.
    void (*append_datagram)(std::string& out, std::span<const std::byte> payload, Origin origin,
                            std::uint64_t packet, bool json);
};

/// The services of a known venue; load_config refuses unknown names.
[[nodiscard]] const VenueServices& venue_services(std::string_view name);

}  // namespace pinstrike::feed
