// Four pairs, a "more" every 1000: each pinger sends ordered pings, a row at a time, when its
// ponger asks for more. Who measures it, and how long it took.
#pragma once

#include <cstdint>

namespace pinstrike::bench {

constexpr std::uint64_t pairs_count = 4;
constexpr std::uint64_t row_pings = 1000;
constexpr int rows_asked_ahead =
    2;  ///< at the start, so that the way of a "more" is not waited for

/// Seconds for `each` pings in each pair, in order, each once; the program ends where they are not.
double pinstrike_pairs(std::uint64_t each);
double caf_pairs(std::uint64_t each);
double caf_detached_pairs(std::uint64_t each);
double zmq_pairs(std::uint64_t each);

}  // namespace pinstrike::bench
