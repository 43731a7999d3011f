// path: cold
#include "actors/telemetry/metrics/allocator_statistics.h"

#include <cstddef>
#include <cstdint>

// The linker finds this only in executables with jemalloc.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old_value, std::size_t* old_bytes,
                                     void* new_value, std::size_t new_bytes);

namespace pinstrike::actors {

namespace {

/// jemalloc updates its statistics when a new epoch begins.
void refresh() {
    std::uint64_t epoch = 1;
    std::size_t bytes = sizeof(epoch);
    (void)::mallctl("epoch", &epoch, &bytes, &epoch, bytes);
}

std::uint64_t read(const char* name) {
    std::size_t value = 0;
    std::size_t bytes = sizeof(value);
    return ::mallctl(name, &value, &bytes, nullptr, 0) == 0 ? value : 0;
}

}  // namespace

void add_allocator_statistics(Families& out) {
    if (::mallctl == nullptr) {
        return;
    }
    refresh();
    out.value(Metric::allocator_allocated_bytes, {}, read("stats.allocated"));
    out.value(Metric::allocator_active_bytes, {}, read("stats.active"));
    out.value(Metric::allocator_metadata_bytes, {}, read("stats.metadata"));
    out.value(Metric::allocator_resident_bytes, {}, read("stats.resident"));
    out.value(Metric::allocator_mapped_bytes, {}, read("stats.mapped"));
    out.value(Metric::allocator_retained_bytes, {}, read("stats.retained"));
}

}  // namespace pinstrike::actors
