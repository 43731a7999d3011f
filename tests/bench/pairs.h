// Four pairs of actors. Each pinger sends ordered pings in rows of 1000, one row whenever its
// ponger asks for it by a "more". The functions measure one contender each.
#pragma once

#include <cstdint>

namespace pinstrike::bench {

constexpr std::uint64_t pairs_count = 4;
constexpr std::uint64_t row_pings = 1000;
constexpr int rows_asked_ahead = 2;  ///< at the start, so that a pinger need not wait for a "more"

/// Seconds for `each` pings in each pair. Ends the program if pings are lost, repeated or out of
/// order.
double pinstrike_pairs(std::uint64_t each);
double caf_pairs(std::uint64_t each);
double caf_detached_pairs(std::uint64_t each);
double zmq_pairs(std::uint64_t each);

}  // namespace pinstrike::bench
