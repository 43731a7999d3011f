// path: cold
#include "actors/publish/pages.h"

#include "config/memory_sizes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace pinstrike::actors {

namespace {

std::size_t round_up(std::size_t bytes) {
    // Small tables (tests, demonstrations) are not worth a huge page.
    const std::size_t unit = bytes < huge_page_bytes
                                 ? static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))
                                 : huge_page_bytes;
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(round_up(bytes)) {
    if (bytes == 0) {
        return;
    }
    // Maps one huge page more than needed, so that the start can be aligned, and unmaps the rest.
    const std::size_t mapped_bytes = bytes_ + huge_page_bytes;
    void* const mapped = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
        throw std::bad_alloc{};
    }
    char* const first = static_cast<char*>(mapped);
    const std::size_t into =
        reinterpret_cast<std::uintptr_t>(first) % huge_page_bytes;  // tidy: mmap
    const std::size_t skipped = into == 0 ? 0 : huge_page_bytes - into;
    at_ = first + skipped;
    if (skipped > 0) {
        ::munmap(first, skipped);
    }
    ::munmap(first + skipped + bytes_, huge_page_bytes - skipped);
    // Advice only: without transparent huge pages the table works, with more TLB misses.
    (void)::madvise(at_, bytes_, MADV_HUGEPAGE);
}

Pages::~Pages() {
    if (at_ != nullptr) {
        ::munmap(at_, bytes_);
    }
}

void Pages::prefault() {
    for (std::size_t offset = 0; offset < bytes_; offset += ordinary_page_bytes) {
        volatile char* const page = static_cast<char*>(at_) + offset;
        *page = *page;
    }
}

}  // namespace pinstrike::actors
