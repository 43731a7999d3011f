// path: cold
//
// Memory mapped twice, back to back: byte `data_bytes + i` is byte `i` again. Whatever lies in a
// ring of such memory is one contiguous span, also across the ring's end: a message of several
// records is never torn, a batch never comes in two pieces, and no record is spent on padding.
//
// The price: the size is a multiple of the page, and each page of data takes two entries of the
// TLB. Huge pages brought a ring nothing when tried (they did for tables), so plain ones serve.
#pragma once

#include <cstddef>

namespace pinstrike::actors {

/// A handle of one mapping: a control page mapped once, then the data, twice. The mapping ends
/// with its last handle. Memory starts as zeros.
class MirroredMemory {
  public:
    /// Bytes of the control area: room for whatever the sharers agree on.
    static constexpr std::size_t control_bytes = 4096;

    MirroredMemory() = default;
    /// Maps `data_bytes`, a multiple of the page; every page is touched, so that no later access
    /// faults. std::bad_alloc where the host has no memory for it.
    explicit MirroredMemory(std::size_t data_bytes);
    MirroredMemory(MirroredMemory&& other) noexcept;
    MirroredMemory& operator=(MirroredMemory&& other) noexcept;
    ~MirroredMemory();

    /// A second handle of the same memory.
    [[nodiscard]] MirroredMemory share() const;

    [[nodiscard]] void* control() const;
    [[nodiscard]] void* data() const;

    [[nodiscard]] static std::size_t page_bytes();

  private:
    void release() noexcept;

    std::byte* base_ = nullptr;
    std::size_t data_bytes_ = 0;
};

}  // namespace pinstrike::actors
