// path: cold
//
// The keys of lines. A line whose groups the venue publishes is given by its number alone; its
// groups are then filled in by publish_groups().
#pragma once

#include "config/places.h"
#include "config/problem.h"
#include "config/section.h"
#include "feed/lines/line_config.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace pinstrike::feed {

/// "1-96, 220", or a list of numbers, ranges and {number, a, b} with groups of their own. The place
/// of line 220 is "lines#220". A line without groups has UDP port 0 in both.
Form<std::vector<LineConfig>> lines_form();

using PublishedLine = std::function<std::optional<LineConfig>(std::uint16_t)>;

/// Fills in the groups that the config left to the venue. `retransmission`: also the groups on
/// which repairs are sent. A line that the venue does not publish is a Problem.
void publish_groups(std::vector<LineConfig>& lines, const PublishedLine& published,
                    bool retransmission, const Places& places, Problems& problems);

/// Every number once, every group once. Expects all groups to be filled in.
void check_lines(std::span<const LineConfig> lines, const Places& places, Problems& problems);

}  // namespace pinstrike::feed
