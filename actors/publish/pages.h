// path: cold
//
// Memory mapped from the kernel. It is zeroed, on huge pages if the host has them, and touched
// before the first message.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace pinstrike::actors {

/// A private anonymous mapping. Throws std::bad_alloc if the host has too little memory.
class Pages {
  public:
    Pages() = default;
    explicit Pages(std::size_t bytes);
    ~Pages();

    Pages(Pages&& other) noexcept
        : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

    Pages& operator=(Pages&& other) noexcept {
        std::swap(at_, other.at_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    /// Touches every page. Called on the thread that uses the pages, so that they are on its NUMA
    /// node.
    void prefault();

    [[nodiscard]] void* data() const { return at_; }

    [[nodiscard]] std::size_t bytes() const { return bytes_; }

  private:
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

    [[nodiscard]] std::size_t bytes() const { return pages_.bytes(); }

  private:
    Pages pages_;
    std::size_t count_ = 0;
};

}  // namespace pinstrike::actors
