// path: cold
//
// Memory that is mapped twice in a row, so that byte `data_bytes + i` is byte `i` again. In a ring
// of such memory every range of slots is one contiguous span, also across the end of the ring: a
// message of several records is never split, a batch is one span, and no record is spent on
// padding.
//
// The costs: the size is a multiple of a page, and each page of data takes two TLB entries. Huge
// pages made rings no faster when tried (they did for tables), so rings use normal pages.
#pragma once

#include "config/memory_sizes.h"

#include <cstddef>
#include <memory>

namespace pinstrike::actors {

/// A handle of one mapping, which has a control page, mapped once, and the data, mapped twice. A
/// copy is a second handle. The memory is unmapped with its last handle. It starts as zeros.
class MirroredMemory {
  public:
    /// Size of the control page, for the state that the handles share.
    static constexpr std::size_t control_bytes = ordinary_page_bytes;

    MirroredMemory() = default;
    /// Maps `data_bytes`, a multiple of the page size. Every page is touched, so that no later
    /// access faults. Throws std::bad_alloc if the host has too little memory, and
    /// std::system_error on other errors.
    explicit MirroredMemory(std::size_t data_bytes);

    [[nodiscard]] void* control() const { return base_.get(); }

    [[nodiscard]] void* data() const { return base_.get() + control_bytes; }

    [[nodiscard]] static std::size_t page_bytes();

  private:
    std::shared_ptr<std::byte> base_;
};

}  // namespace pinstrike::actors
