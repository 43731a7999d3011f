// Ten thousand actors that live as long as the program, in a ring, each with a token at the start:
// who gets one passes it on, until it has made its hops.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinstrike::bench {

constexpr std::size_t many = 10'000;

struct ManyOutcome {
    double make_seconds = 0;
    double run_seconds = 0;
    std::uint64_t make_allocations = 0;
    std::uint64_t run_allocations = 0;  ///< by all threads; known once they have ended
    std::uint64_t run_parks = 0;
};

/// Half of the ring on each core. Ends the program where a token is lost.
ManyOutcome pinstrike_many(std::uint64_t hops);

/// Neighbours on different cores: each message comes from the other one's cache.
ManyOutcome pinstrike_many_across(std::uint64_t hops);

/// Placed by its scheduler, of two threads.
ManyOutcome caf_many(std::uint64_t hops);

}  // namespace pinstrike::bench
