// path: cold
//
// The keys of lines. The config names a line whose groups the venue publishes by its number alone;
// publish_groups() then fills in the groups.
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

/// Reads "1-96, 220", or a list of numbers, ranges and {number, a, b} with groups of their own.
/// Notes where the config names a line, for line 220 under the key "lines#220". A line without
/// groups has UDP port 0 in both.
Form<std::vector<LineConfig>> lines_form();

using PublishedLine = std::function<std::optional<LineConfig>(std::uint16_t)>;

/// Fills in the groups that the config leaves to the venue; with `retransmission`, also the
/// retransmission groups. Adds a problem for a line that the venue does not publish. `published` is
/// empty if the venue publishes no list of lines.
void publish_groups(std::vector<LineConfig>& lines, const PublishedLine& published,
                    bool retransmission, const Places& places, Problems& problems);

/// Adds a problem for every line that occurs twice, and for every group that occurs twice in a line
/// or, unless lines share groups, in two lines. All groups must be filled in.
void check_lines(std::span<const LineConfig> lines, bool share_groups, const Places& places,
                 Problems& problems);

}  // namespace pinstrike::feed
