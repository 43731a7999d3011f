// path: hot
//
// From a datagram's destination to the line whose data it carries: one probe of a flat table.
#pragma once

#include "config/check.h"
#include "feed/block.h"
#include "feed/line_config.h"
#include "nic/port_config.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::actors {

/// What arrives at one group and UDP port.
struct LineRoute {
    std::uint32_t line = 0;  ///< counted from 0 among the poller's
    feed::Stream stream = feed::Stream::a;
    bool retransmission = false;  ///< may only fill what is missing
};

class LineRoutes {
  public:
    struct Entry {
        nic::Group group;
        LineRoute route;
    };

    LineRoutes() : LineRoutes(std::vector<Entry>{}) {}

    /// Cold. `entries` name each group once.
    explicit LineRoutes(const std::vector<Entry>& entries)
        : slots_(std::bit_ceil(4 * std::max<std::size_t>(entries.size(), 1))),
          shift_(64 - static_cast<unsigned>(std::countr_zero(slots_.size()))) {
        for (const Entry& entry : entries) {
            const std::uint64_t key = key_of(entry.group.address.value, entry.group.port);
            PINSTRIKE_CHECK(key != empty &&
                            find(entry.group.address.value, entry.group.port) == nullptr);
            std::size_t at = home_of(key);
            while (slots_[at].key != empty) {
                at = (at + 1) & (slots_.size() - 1);
            }
            slots_[at] = {key, entry.route};
        }
    }

    /// Cold: what it was made of, in any order.
    [[nodiscard]] std::vector<Entry> entries() const;

    /// Nullptr where no line listens. The table is never more than a quarter full.
    [[nodiscard]] const LineRoute* find(std::uint32_t address, std::uint16_t port) const noexcept {
        const std::uint64_t key = key_of(address, port);
        std::size_t at = home_of(key);
        while (slots_[at].key != key) {
            if (slots_[at].key == empty) {
                return nullptr;
            }
            at = (at + 1) & (slots_.size() - 1);
        }
        return &slots_[at].route;
    }

  private:
    static constexpr std::uint64_t empty = 0;

    struct Slot {
        std::uint64_t key = empty;
        LineRoute route;
    };

    static std::uint64_t key_of(std::uint32_t address, std::uint16_t port) noexcept {
        return std::uint64_t{address} << 16 | port;
    }

    [[nodiscard]] std::size_t home_of(std::uint64_t key) const noexcept {
        return static_cast<std::size_t>((key * 0x9E37'79B9'7F4A'7C15ULL) >> shift_);
    }

    std::vector<Slot> slots_;
    unsigned shift_;
};

// --- cold ---

inline std::vector<LineRoutes::Entry> LineRoutes::entries() const {
    std::vector<Entry> all;
    for (const Slot& slot : slots_) {
        if (slot.key != empty) {
            all.push_back({{{static_cast<std::uint32_t>(slot.key >> 16)},
                            static_cast<std::uint16_t>(slot.key)},
                           slot.route});
        }
    }
    return all;
}

/// The groups at which a line arrives.
inline void add_routes(const feed::LineConfig& line, std::uint32_t index,
                       std::vector<LineRoutes::Entry>& entries) {
    for (std::size_t stream = 0; stream < feed::streams_count; ++stream) {
        const auto which = static_cast<feed::Stream>(stream);
        entries.push_back({line.streams[stream], {index, which, false}});
        if (line.retransmission[stream].port != 0) {
            entries.push_back({line.retransmission[stream], {index, which, true}});
        }
    }
}

}  // namespace pinstrike::actors
