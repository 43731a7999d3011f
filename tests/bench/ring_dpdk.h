// path: cold
//
// Declares DPDK's ring for the benchmark. It is compiled separately, because DPDK's headers need
// compiler flags of their own.
#pragma once

#include <cstddef>
#include <memory>

struct rte_ring;

namespace pinstrike::bench {

struct FreeDpdkRing {
    void operator()(rte_ring* ring) const;
};

using DpdkRingPointer = std::unique_ptr<rte_ring, FreeDpdkRing>;

/// A single-producer, single-consumer ring of records of 8 or 64 bytes. It holds capacity - 1
/// records, as DPDK's rings do.
DpdkRingPointer make_dpdk_ring(std::size_t capacity, std::size_t record_bytes);

/// Pushes all records or none. Returns their number.
template <std::size_t record_bytes>
std::size_t dpdk_ring_push(rte_ring* ring, const void* records, std::size_t count);

/// Pops at most `count` records. Returns their number.
template <std::size_t record_bytes>
std::size_t dpdk_ring_pop(rte_ring* ring, void* records, std::size_t count);

}  // namespace pinstrike::bench
