// Ten thousand actors in a ring, which live as long as the program. Each has a token at the start.
// An actor that gets a token passes it on, until the token has made its hops.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinstrike::bench {

constexpr std::size_t many = 10'000;

struct ManyOutcome {
    double make_seconds = 0;
    double run_seconds = 0;
    std::uint64_t make_allocations = 0;
    std::uint64_t run_allocations = 0;  ///< by all threads; complete once they have ended
    std::uint64_t run_parks = 0;
};

/// Half of the ring is on each core. Ends the program if a token is lost.
ManyOutcome pinstrike_many(std::uint64_t hops);

/// Neighbours are on different cores, so each message comes from the other core's cache.
ManyOutcome pinstrike_many_across(std::uint64_t hops);

/// CAF's scheduler places the actors on its two threads.
ManyOutcome caf_many(std::uint64_t hops);

}  // namespace pinstrike::bench
