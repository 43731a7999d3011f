// path: cold
//
// Reads any bytes as a config. The config is refused with problems, or its effective text loads as
// the same config and its calendar gives ordered hours.
#include "actors/topology/load_config.h"
#include "config/check.h"
#include "feed/venue_services.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace {

/// Checks the session hours of two years: they are ordered, do not overlap, and are empty if no
/// calendar is used.
void check_hours(const pinstrike::actors::FeedConfig& config) {
    using namespace std::chrono;
    const pinstrike::feed::Days days{local_days{year{2026} / 1 / 1},
                                     local_days{year{2027} / 12 / 31}};
    for (const bool separate : {false, true}) {
        const auto hours = pinstrike::feed::venue_services(config.kind)
                               .session_hours(config.calendar, separate, days);
        PINSTRIKE_CHECK(config.calendar.in_use != hours.stretches().empty());
        std::int64_t behind_ns = 0;
        for (const auto& stretch : hours.stretches()) {
            PINSTRIKE_CHECK(behind_ns <= stretch.begin_ns && stretch.begin_ns <= stretch.end_ns);
            behind_ns = stretch.end_ns;
        }
    }
}

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    using namespace pinstrike;
    std::string text(bytes.size(), '\0');
    std::transform(bytes.begin(), bytes.end(), text.begin(),
                   [](std::byte byte) { return static_cast<char>(byte); });
    Problems problems;
    const auto config = actors::parse_config(text, "fuzz", problems);
    PINSTRIKE_CHECK(config.has_value() == problems.empty());
    for (const Problem& problem : problems) {
        PINSTRIKE_CHECK(!problem.text.empty() && problem.place.file == "fuzz");
    }
    if (config) {
        const std::string effective = actors::effective_config(*config);
        Problems none;
        const auto again = actors::parse_config(effective, "again", none);
        PINSTRIKE_CHECK(again && none.empty());
        PINSTRIKE_CHECK(actors::effective_config(*again) == effective);
        check_hours(*config);
    }
    return 0;
}
