// path: cold
//
// The arrays in which one core keeps the state of its series, in the layout of pinstrike.h: in
// private memory, or in the memory file of the feed.
#pragma once

#include "actors/publish/pages.h"
#include "actors/publish/pinstrike.h"
#include "feed/event/event.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::actors {

/// The sizes of a core's arrays.
struct CoreShape {
    std::size_t series = 0;          ///< most series
    std::size_t slots = 0;           ///< of the table, a multiple of 64
    std::size_t stream_records = 0;  ///< a power of two; 0: no stream
};

/// Sets the arrays of `core` for a shape, from the offset `at` on. Returns the offset behind them.
std::uint64_t lay_out(pinstrike_core& core, const CoreShape& shape, std::uint64_t at);

class CoreMemory {
  public:
    CoreMemory() = default;

    /// Private memory. Throws std::bad_alloc if the host has too little.
    explicit CoreMemory(const CoreShape& shape);

    /// Memory of a file that is mapped at `file`, and of which lay_out() set `core`.
    CoreMemory(pinstrike_core& core, std::byte* file) : file_(file), core_(&core) {}

    /// Bytes of private memory of a shape.
    [[nodiscard]] static std::size_t bytes_for(const CoreShape& shape);

    /// Touches every page of private memory, on the thread that uses it, so that the pages are on
    /// its NUMA node.
    void prefault() { own_.prefault(); }

    [[nodiscard]] pinstrike_core& core() const { return *core_; }

    /// The elements of an array of core(); T is a struct of its layout, or derived from it.
    template <class T>
    [[nodiscard]] std::span<T> span(const pinstrike_array& array) const {
        return {reinterpret_cast<T*>(file_ + array.at), array.count};  // tidy: mapped memory
    }

  private:
    Pages own_;
    std::byte* file_ = nullptr;
    pinstrike_core* core_ = nullptr;
};

}  // namespace pinstrike::actors
