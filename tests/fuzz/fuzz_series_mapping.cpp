// path: cold
#include "config/check.h"
#include "feed/opra/lines.h"
#include "feed/opra/series_mapping.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <string>

int fuzz_one(std::span<const std::byte> bytes) {
    using namespace pinstrike;
    std::string text(bytes.size(), '\0');
    std::transform(bytes.begin(), bytes.end(), text.begin(),
                   [](std::byte byte) { return static_cast<char>(byte); });
    Problems problems;
    const auto rows = feed::opra::parse_series_mapping(text, "fuzz", problems);
    const auto lines = 1 + std::count(text.begin(), text.end(), '\n');
    PINSTRIKE_CHECK(rows.size() + problems.size() <= static_cast<std::size_t>(lines));
    for (const auto& row : rows) {
        PINSTRIKE_CHECK(feed::opra::is_published_line(row.line));
        PINSTRIKE_CHECK(row.series.strike_e8 >= 0 && row.series.day() >= 1);
        PINSTRIKE_CHECK(row.series.day() <= 31 && row.series.year() <= 2099 && !row.series.gth());
    }
    return 0;
}
