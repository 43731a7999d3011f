// path: cold
#pragma once

#include <cstdint>
#include <optional>

namespace pinstrike::actors {

/// The statistics of jemalloc, in bytes.
struct AllocatorStatistics {
    std::uint64_t allocated = 0;  ///< by the program
    std::uint64_t active = 0;     ///< in pages with allocations
    std::uint64_t metadata = 0;
    std::uint64_t resident = 0;  ///< in physical memory
    std::uint64_t mapped = 0;
    std::uint64_t retained = 0;  ///< kept for later use instead of returned to the system
};

/// nullopt if jemalloc is not linked (tests, sanitizers). The module does not depend on it.
[[nodiscard]] std::optional<AllocatorStatistics> read_allocator();

}  // namespace pinstrike::actors
