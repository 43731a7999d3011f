// path: cold
//
// One seed, lived through and judged.
#pragma once

#include "tests/sim/findings.h"
#include "tests/sim/oracle.h"

#include <cstdint>
#include <iosfwd>

namespace pinstrike::sim {

struct Outcome {
    Findings findings;
    Weight weight;
    std::uint64_t messages = 0;     ///< sent
    std::int64_t lived_ns = 0;      ///< simulated
    std::int64_t traded_ns = 0;     ///< of these, while OPRA sent
    std::uint64_t fingerprint = 0;  ///< of all that the cores were told
};

/// Where to tell what happens, and how much.
struct Trace {
    std::ostream* out = nullptr;
    std::uint16_t line = 0;  ///< all that came and was told of this line; 0: of none
};

[[nodiscard]] Outcome simulate(std::uint64_t seed, const Trace& trace);

}  // namespace pinstrike::sim
