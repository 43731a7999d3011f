// path: cold
#include "tests/bench/ring_dpdk.h"

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <cstdlib>

namespace pinstrike::bench {
namespace {

constexpr auto batch_records = static_cast<unsigned>(std::tuple_size_v<RecordBatch>);

}  // namespace

void FreeDpdkRing::operator()(rte_ring* ring) const {
    std::free(ring);
}

DpdkRingPointer make_dpdk_ring(std::size_t capacity) {
    const auto count = static_cast<unsigned>(capacity);
    const auto bytes = static_cast<std::size_t>(rte_ring_get_memsize_elem(sizeof(Record), count));
    void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    auto* ring = static_cast<rte_ring*>(memory);
    if (ring == nullptr ||
        rte_ring_init(ring, "bench", count, RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
        std::abort();
    }
    return DpdkRingPointer{ring};
}

std::size_t dpdk_ring_free(const rte_ring* ring) {
    return rte_ring_free_count(ring);
}

std::size_t dpdk_ring_push(rte_ring* ring, const RecordBatch& records) {
    return rte_ring_sp_enqueue_bulk_elem(ring, records.data(), sizeof(Record), batch_records,
                                         nullptr);
}

std::size_t dpdk_ring_pop(rte_ring* ring, RecordBatch& records) {
    return rte_ring_sc_dequeue_burst_elem(ring, records.data(), sizeof(Record), batch_records,
                                          nullptr);
}

}  // namespace pinstrike::bench
