// path: cold
//
// A hash over the sizes and offsets of the published layout. It differs between two builds whose
// compilers lay out a struct differently, or whose headers differ without a new version.
#pragma once

#include "actors/publish/pinstrike.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

[[nodiscard]] constexpr std::uint64_t layout_hash() {
    constexpr std::uint64_t parts[]{sizeof(pinstrike_header),
                                    offsetof(pinstrike_header, state),
                                    offsetof(pinstrike_header, start_ns),
                                    offsetof(pinstrike_header, number_last),
                                    offsetof(pinstrike_header, wake),
                                    sizeof(pinstrike_core),
                                    offsetof(pinstrike_core, lines),
                                    offsetof(pinstrike_core, stream),
                                    offsetof(pinstrike_core, base_ms),
                                    offsetof(pinstrike_core, alive_ns),
                                    offsetof(pinstrike_core, series_count),
                                    offsetof(pinstrike_core, intent),
                                    offsetof(pinstrike_core, tail_version),
                                    offsetof(pinstrike_core, tail_ms),
                                    offsetof(pinstrike_core, tail_changes),
                                    sizeof(pinstrike_entry),
                                    offsetof(pinstrike_entry, bid),
                                    offsetof(pinstrike_entry, stamp),
                                    offsetof(pinstrike_entry, record),
                                    sizeof(pinstrike_side),
                                    offsetof(pinstrike_side, said),
                                    sizeof(pinstrike_trades),
                                    offsetof(pinstrike_trades, flags),
                                    offsetof(pinstrike_trades, covered_sequence),
                                    sizeof(pinstrike_line),
                                    offsetof(pinstrike_line, changed),
                                    offsetof(pinstrike_line, gap),
                                    offsetof(pinstrike_line, missing),
                                    sizeof(pinstrike_group),
                                    sizeof(pinstrike_series),
                                    offsetof(pinstrike_series, id),
                                    offsetof(pinstrike_series, previous),
                                    sizeof(pinstrike_root),
                                    offsetof(pinstrike_root, removals)};
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325ULL;  // FNV-1a
    for (const std::uint64_t part : parts) {
        hash = (hash ^ part) * 0x0000'0100'0000'01B3ULL;
    }
    return hash;
}

}  // namespace pinstrike::actors
