// path: hot
//
// Finds the line for a datagram's destination with one probe of a flat table.
#pragma once

#include "feed/event/block.h"
#include "feed/lines/line_config.h"
#include "nic/packet/address.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::actors {

/// The line and stream that arrive at one group and UDP port.
struct LineRoute {
    std::uint32_t line = 0;  ///< index within the poller
    feed::Stream stream = feed::Stream::a;
    bool retransmission = false;  ///< may only fill gaps
};

class LineRoutes {
  public:
    struct Entry {
        nic::Group group;
        LineRoute route;
    };

    LineRoutes() : LineRoutes(std::vector<Entry>{}) {}

    /// Cold. Several lines may share a group.
    explicit LineRoutes(const std::vector<Entry>& entries);

    /// Cold. Returns a table with the routes of this one and those of `lines`, whose indices start
    /// at `known`.
    [[nodiscard]] LineRoutes with(const std::vector<feed::LineConfig>& lines,
                                  std::size_t known) const;

    /// The first route of the group for which `fits(route)` holds; nullptr: none. The table is
    /// never more than a quarter full.
    template <class Fits>
    [[nodiscard]] const LineRoute* find(std::uint32_t address, std::uint16_t port,
                                        Fits&& fits) const noexcept {
        const std::uint64_t key = key_of(address, port);
        std::size_t at = home_of(key);
        while (slots_[at].key != key || !fits(slots_[at].route)) {
            if (slots_[at].key == empty) {
                return nullptr;
            }
            at = (at + 1) & (slots_.size() - 1);
        }
        return &slots_[at].route;
    }

  private:
    /// Marks an empty slot. Keys have 48 bits, so no key has this value. Key 0 is address 0.0.0.0,
    /// port 0.
    static constexpr std::uint64_t empty = ~std::uint64_t{0};

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

}  // namespace pinstrike::actors
