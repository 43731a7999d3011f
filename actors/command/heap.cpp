// path: cold
//
// operator new and delete of the executable. They call the linked allocator (jemalloc), and they
// report allocations on hot threads (heap_guard.h).
#include "actors/threads/heap_guard.h"

#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t bytes) {
    pinstrike::actors::note_allocation();
    void* memory = std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}

void* allocate(std::size_t bytes, std::align_val_t alignment) {
    pinstrike::actors::note_allocation();
    const auto align = static_cast<std::size_t>(alignment);
    void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    if (memory == nullptr) {
        throw std::bad_alloc{};
    }
    return memory;
}

}  // namespace

// The array forms and the nothrow forms call these functions (C++20, [new.delete]).
void* operator new(std::size_t bytes) {
    return allocate(bytes);
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate(bytes, alignment);
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
