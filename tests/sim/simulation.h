// path: cold
//
// Runs and checks one seed.
#pragma once

#include "tests/sim/findings.h"
#include "tests/sim/oracle.h"

#include <cstdint>
#include <iosfwd>

namespace pinstrike::sim {

struct Outcome {
    Findings findings;
    Coverage coverage;
    std::uint64_t messages = 0;     ///< sent
    std::int64_t lived_ns = 0;      ///< simulated
    std::int64_t traded_ns = 0;     ///< the part of it in which OPRA sent
    std::uint64_t fingerprint = 0;  ///< hash of all events of the cores
};

/// Where to print the course of a run, and in how much detail.
struct Trace {
    std::ostream* out = nullptr;
    std::uint16_t line = 0;  ///< prints all packets and events of this line; 0: none
};

[[nodiscard]] Outcome simulate(std::uint64_t seed, const Trace& trace);

}  // namespace pinstrike::sim
