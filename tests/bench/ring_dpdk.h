// path: cold
//
// DPDK's ring, kept in a file of its own: its headers bring their own flags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

struct rte_ring;

namespace pinstrike::bench {

struct alignas(64) Record {
    std::array<std::uint64_t, 8> words;
};

struct FreeDpdkRing {
    void operator()(rte_ring* ring) const;
};

using DpdkRingPointer = std::unique_ptr<rte_ring, FreeDpdkRing>;
using RecordBatch = std::array<Record, 32>;

/// A single-producer, single-consumer ring of records; holds capacity - 1, as DPDK's do.
DpdkRingPointer make_dpdk_ring(std::size_t capacity);

std::size_t dpdk_ring_free(const rte_ring* ring);
std::size_t dpdk_ring_push(rte_ring* ring, const RecordBatch& records);
std::size_t dpdk_ring_pop(rte_ring* ring, RecordBatch& records);

}  // namespace pinstrike::bench
