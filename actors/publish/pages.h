// path: cold
//
// Memory mapped from the kernel. It is zeroed, on huge pages if the host has them, and touched
// before the first message.
#pragma once

#include "config/memory_sizes.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace pinstrike::actors {

/// A private anonymous mapping. Throws std::bad_alloc if the host has too little memory.
class Pages {
  public:
    Pages() = default;

    explicit Pages(std::size_t bytes) : bytes_(round_up(bytes)) {
        if (bytes == 0) {
            return;
        }
        // Maps one huge page more than needed, so that the start can be aligned, and unmaps the
        // rest.
        void* const mapped = ::mmap(nullptr, bytes_ + huge_page_bytes, PROT_READ | PROT_WRITE,
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
        // Advice only: without transparent huge pages the memory works, with more TLB misses.
        (void)::madvise(at_, bytes_, MADV_HUGEPAGE);
    }

    ~Pages() {
        if (at_ != nullptr) {
            ::munmap(at_, bytes_);
        }
    }

    Pages(Pages&& other) noexcept
        : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

    Pages& operator=(Pages&& other) noexcept {
        std::swap(at_, other.at_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    /// Touches every page. Called on the thread that uses the pages, so that they are on its NUMA
    /// node.
    void prefault() {
        for (std::size_t offset = 0; offset < bytes_; offset += ordinary_page_bytes) {
            volatile char* const page = static_cast<char*>(at_) + offset;
            *page = *page;
        }
    }

    [[nodiscard]] void* data() const { return at_; }

    [[nodiscard]] std::size_t bytes() const { return bytes_; }

  private:
    /// Small tables (tests, demonstrations) are not worth a huge page.
    static std::size_t round_up(std::size_t bytes) {
        const std::size_t unit = bytes < huge_page_bytes ? ordinary_page_bytes : huge_page_bytes;
        return (bytes + unit - 1) / unit * unit;
    }

    void* at_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A fixed number of T in such memory. The initial state of each T is all zeros.
template <class T>
class PageArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    PageArray() = default;

    explicit PageArray(std::size_t count) : pages_(count * sizeof(T)), count_(count) {}

    void prefault() { pages_.prefault(); }

    [[nodiscard]] T* data() const { return static_cast<T*>(pages_.data()); }

    [[nodiscard]] T& operator[](std::size_t index) const { return data()[index]; }

    [[nodiscard]] std::size_t size() const { return count_; }

  private:
    Pages pages_;
    std::size_t count_ = 0;
};

}  // namespace pinstrike::actors
