// path: mixed, cold: add_core() and add()
//
// How far the gateway has read the feed: for each line the latest event of each core, so that a
// replay of the recording ends where the live records begin.
#pragma once

#include "actors/gateway/replay_frames.h"
#include "actors/publish/pinstrike.h"
#include "feed/event/limits.h"

#include <cstdint>
#include <vector>

namespace pinstrike::actors::gateway {

struct LivePlace {
    std::uint16_t core = 0;
    EventPlace place;
};

class LivePlaces {
  public:
    /// Notes an event of a series that came in order.
    void note(const pinstrike_record& record) {
        constexpr unsigned late = PINSTRIKE_IS_LATE | PINSTRIKE_BEFORE_DAY | PINSTRIKE_BEFORE_FLUSH;
        if (record.has_key == 0 || (record.flags & late) != 0 || record.receive_ns == 0 ||
            record.kind == PINSTRIKE_SERIES_MAP) {
            return;
        }
        if (record.core >= rows_.size() || rows_[record.core].empty()) [[unlikely]] {
            add_core(record.core);
        }
        std::uint32_t& row = rows_[record.core][record.line];
        if (row == 0) [[unlikely]] {
            row = add(record.core);
        }
        places_[row - 1].place = {record.line, static_cast<std::uint32_t>(record.sequence),
                                  record.receive_ns};
    }

    /// In no order.
    [[nodiscard]] const std::vector<LivePlace>& all() const { return places_; }

    void clear() {
        rows_.clear();
        places_.clear();
    }

  private:
    void add_core(std::uint16_t core);
    [[nodiscard]] std::uint32_t add(std::uint16_t core);

    std::vector<std::vector<std::uint32_t>> rows_;  ///< by core and line: 1 + index; 0: none
    std::vector<LivePlace> places_;
};

// --- cold: the first event of a core, and of a line ---

inline void LivePlaces::add_core(std::uint16_t core) {
    if (core >= rows_.size()) {
        rows_.resize(core + std::size_t{1});
    }
    rows_[core].resize(feed::line_numbers);
}

inline std::uint32_t LivePlaces::add(std::uint16_t core) {
    places_.push_back({core, {}});
    return static_cast<std::uint32_t>(places_.size());
}

}  // namespace pinstrike::actors::gateway
