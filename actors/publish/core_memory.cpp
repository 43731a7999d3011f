// path: cold
#include "actors/publish/core_memory.h"

#include "config/memory_sizes.h"
#include "feed/event/limits.h"

#include <algorithm>
#include <bit>

namespace pinstrike::actors {
namespace {

constexpr std::size_t group_slots = 64;
constexpr std::size_t roots_max = 32768;

std::uint64_t align_up(std::uint64_t at, std::uint64_t unit) {
    return (at + unit - 1) / unit * unit;
}

}  // namespace

/// The largest array begins at a huge page; each other array at a page.
std::uint64_t lay_out(pinstrike_core& core, const CoreShape& shape, std::uint64_t at) {
    const auto place = [&at](pinstrike_array& array, std::uint64_t count, std::uint64_t each,
                             std::uint64_t unit = ordinary_page_bytes) {
        array = {count == 0 ? 0 : align_up(at, unit), count};
        at = count == 0 ? at : array.at + count * each;
    };
    const std::uint64_t entries_unit = shape.slots * sizeof(pinstrike_entry) < huge_page_bytes
                                           ? ordinary_page_bytes
                                           : huge_page_bytes;
    place(core.entries, shape.slots, sizeof(pinstrike_entry), entries_unit);
    place(core.groups, shape.slots / group_slots, sizeof(pinstrike_group));
    place(core.trades, shape.series + 1, sizeof(pinstrike_trades));
    place(core.series, shape.series + 1, sizeof(pinstrike_series));
    place(core.roots, std::bit_ceil(std::min(2 * shape.series, roots_max)), sizeof(pinstrike_root));
    place(core.lines, feed::line_numbers, sizeof(pinstrike_line));
    place(core.stream, shape.stream_records, sizeof(feed::Event));
    return align_up(at, ordinary_page_bytes);
}

CoreMemory::CoreMemory(const CoreShape& shape) : own_(bytes_for(shape)) {
    file_ = static_cast<std::byte*>(own_.data());
    core_ = static_cast<pinstrike_core*>(own_.data());
    lay_out(*core_, shape, sizeof(pinstrike_core));
}

std::size_t CoreMemory::bytes_for(const CoreShape& shape) {
    pinstrike_core core{};
    return lay_out(core, shape, sizeof core);
}

}  // namespace pinstrike::actors
