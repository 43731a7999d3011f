// path: cold
#include "actors/telemetry/metrics/allocator_statistics.h"

#include <cstddef>

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

std::optional<AllocatorStatistics> read_allocator() {
    if (::mallctl == nullptr) {
        return std::nullopt;
    }
    refresh();
    return AllocatorStatistics{.allocated = read("stats.allocated"),
                               .active = read("stats.active"),
                               .metadata = read("stats.metadata"),
                               .resident = read("stats.resident"),
                               .mapped = read("stats.mapped"),
                               .retained = read("stats.retained")};
}

}  // namespace pinstrike::actors
