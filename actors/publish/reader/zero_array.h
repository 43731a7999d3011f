// path: cold
//
// An array of zeroed memory, on huge pages if the host has them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace pinstrike::reader {

template <class T>
class ZeroArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    ZeroArray() = default;

    explicit ZeroArray(std::size_t count) : count_(count) {
        void* const mapped = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) {
            throw std::bad_alloc{};
        }
        (void)::madvise(mapped, count * sizeof(T), MADV_HUGEPAGE);  // advice only
        data_ = static_cast<T*>(mapped);
    }

    ~ZeroArray() {
        if (data_ != nullptr) {
            ::munmap(data_, count_ * sizeof(T));
        }
    }

    ZeroArray(ZeroArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}

    ZeroArray& operator=(ZeroArray&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }

    [[nodiscard]] std::size_t size() const { return count_; }

    [[nodiscard]] T& operator[](std::size_t index) const { return data_[index]; }

    [[nodiscard]] T* begin() const { return data_; }

    [[nodiscard]] T* end() const { return data_ + count_; }

  private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace pinstrike::reader
