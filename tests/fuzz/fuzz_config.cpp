// path: cold
//
// Any bytes as a config: refused with problems, or a config whose effective text loads as the same.
#include "actors/load_config.h"
#include "config/check.h"
#include "tests/fuzz/fuzz.h"

#include <algorithm>
#include <string>

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
    }
    return 0;
}
