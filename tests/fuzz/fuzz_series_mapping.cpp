// path: cold
#include "config/check.h"
#include "feed/opra/line_numbers.h"
#include "feed/opra/series_mapping.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <string>

int fuzz_one(std::span<const std::byte> bytes) {
    using namespace pinstrike;
    std::string text(bytes.size(), '\0');
    std::transform(bytes.begin(), bytes.end(), text.begin(),
                   [](std::byte byte) { return static_cast<char>(byte); });
    std::uint64_t taken = 0;
    const feed::MappingRows rows =
        feed::opra::parse_series_mapping(text, "fuzz", [&taken](const feed::SeriesMap& map) {
            ++taken;
            PINSTRIKE_CHECK(feed::opra::is_series_line(map.mapped_line));
            PINSTRIKE_CHECK(map.series.gth() == feed::opra::is_gth_line(map.mapped_line));
            PINSTRIKE_CHECK(map.series.strike_e8 >= 0);
            PINSTRIKE_CHECK(map.series.day() >= 1 && map.series.day() <= 31);
            PINSTRIKE_CHECK(map.series.year() <= 2099);
        });
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    PINSTRIKE_CHECK(rows.good == taken);
    PINSTRIKE_CHECK(rows.good + rows.malformed <= static_cast<std::uint64_t>(lines));
    PINSTRIKE_CHECK(rows.problems.size() ==
                    std::min<std::uint64_t>(rows.malformed, feed::MappingRows::problems_max));
    return 0;
}
