#include "tests/bench/allocations.h"

#include <sys/resource.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace pinstrike::bench {
namespace {

std::atomic<std::uint64_t> of_ended_threads{0};  // relaxed, because joining the threads orders it

struct OfThread {
    std::uint64_t count = 0;

    OfThread() = default;
    OfThread(const OfThread&) = delete;
    OfThread& operator=(const OfThread&) = delete;

    ~OfThread() { of_ended_threads.fetch_add(count, std::memory_order_relaxed); }
};

thread_local OfThread of_thread;

}  // namespace

std::uint64_t allocations() noexcept {
    return of_ended_threads.load(std::memory_order_relaxed) + of_thread.count;
}

std::uint64_t parks() noexcept {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::uint64_t>(usage.ru_nvcsw);
}

void* counted(void* memory) {
    ++of_thread.count;
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}

}  // namespace pinstrike::bench

void* operator new(std::size_t bytes) {
    return pinstrike::bench::counted(std::malloc(bytes == 0 ? 1 : bytes));
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
    const auto align = static_cast<std::size_t>(alignment);
    return pinstrike::bench::counted(
        std::aligned_alloc(align, (bytes + align - 1) / align * align));
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
