// path: cold
#include "tests/bench/ring_dpdk.h"

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <cstdlib>

namespace pinstrike::bench {

void FreeDpdkRing::operator()(rte_ring* ring) const {
    std::free(ring);
}

DpdkRingPointer make_dpdk_ring(std::size_t capacity, std::size_t record_bytes) {
    const auto count = static_cast<unsigned>(capacity);
    const auto bytes = static_cast<std::size_t>(
        rte_ring_get_memsize_elem(static_cast<unsigned>(record_bytes), count));
    void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    auto* ring = static_cast<rte_ring*>(memory);
    if (ring == nullptr ||
        rte_ring_init(ring, "bench", count, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
        std::abort();
    }
    return DpdkRingPointer{ring};
}

template <std::size_t record_bytes>
std::size_t dpdk_ring_push(rte_ring* ring, const void* records, std::size_t count) {
    return rte_ring_sp_enqueue_bulk_elem(ring, records, record_bytes, static_cast<unsigned>(count),
                                         nullptr);
}

template <std::size_t record_bytes>
std::size_t dpdk_ring_pop(rte_ring* ring, void* records, std::size_t count) {
    return rte_ring_sc_dequeue_burst_elem(ring, records, record_bytes, static_cast<unsigned>(count),
                                          nullptr);
}

template std::size_t dpdk_ring_push<8>(rte_ring*, const void*, std::size_t);
template std::size_t dpdk_ring_push<64>(rte_ring*, const void*, std::size_t);
template std::size_t dpdk_ring_pop<8>(rte_ring*, void*, std::size_t);
template std::size_t dpdk_ring_pop<64>(rte_ring*, void*, std::size_t);

}  // namespace pinstrike::bench
