// path: cold
//
// DPDK's ring, kept in a file of its own: its headers bring their own flags.
#pragma once

#include <cstddef>
#include <memory>

struct rte_ring;

namespace pinstrike::bench {

struct FreeDpdkRing {
    void operator()(rte_ring* ring) const;
};

using DpdkRingPointer = std::unique_ptr<rte_ring, FreeDpdkRing>;

/// A single-producer, single-consumer ring of records of 8 or 64 bytes; holds capacity - 1, as
/// DPDK's do.
DpdkRingPointer make_dpdk_ring(std::size_t capacity, std::size_t record_bytes);

/// All of them or none.
template <std::size_t record_bytes>
std::size_t dpdk_ring_push(rte_ring* ring, const void* records, std::size_t count);

/// At most so many.
template <std::size_t record_bytes>
std::size_t dpdk_ring_pop(rte_ring* ring, void* records, std::size_t count);

}  // namespace pinstrike::bench
