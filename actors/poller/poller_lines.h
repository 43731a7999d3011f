// path: mixed, cold: prepare()
//
// The lines of a poller: state and counters of each, and the routes from groups to lines. Lines can
// be added while the poller runs, but not removed.
#pragma once

#include "actors/poller/line_marker.h"
#include "actors/poller/poller_settings.h"
#include "actors/poller/poller_setup.h"
#include "actors/poller/stream_skew.h"
#include "config/cache_line.h"
#include "config/counter.h"
#include "config/growing_list.h"
#include "feed/arbitration/arbiter.h"
#include "feed/arbitration/line_counts.h"
#include "feed/event/block.h"
#include "feed/event/position.h"
#include "feed/lines/line_config.h"
#include "feed/lines/line_day.h"
#include "feed/lines/line_watch.h"
#include "nic/packet/address.h"
#include "nic/packet/datagram.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// The line and stream that arrive at one group and UDP port.
struct LineRoute {
    std::uint32_t line = 0;  ///< index within the poller
    feed::Stream stream = feed::Stream::a;
    bool retransmission = false;  ///< may only fill gaps
};

/// Finds the line for a datagram's destination with one probe of a flat table.
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

/// The state and the counters of a line, as far as no venue determines them. Any thread may read
/// the number, the counters and the watch at any time.
struct alignas(cache_line_bytes) PollerLine {
    /// `hours` must outlive the object.
    PollerLine(std::uint16_t line, bool separate, std::size_t position,
               const feed::Numbering& numbering, const PollerSetup& setup, const LineHours& hours)
        : index(position),
          number(line),
          is_gth(separate),
          day(is_gth ? hours.separate : hours.main),
          arbiter(setup.arbitration, numbering),
          watch(setup.silence, setup.received) {}

    /// Whether the stream ever brought a packet.
    [[nodiscard]] bool heard(feed::Stream stream) {
        return arbiter.counters(stream).read(feed::StreamCount::packets) != 0;
    }

    /// Whether the line is up. A line that was never heard is not up, whatever its watch says in
    /// the first seconds.
    [[nodiscard]] bool up() {
        return !watch.down() && (heard(feed::Stream::a) || heard(feed::Stream::b));
    }

    std::size_t index;  ///< within the poller
    std::uint16_t number;
    bool is_gth;  ///< carries the GTH session, whose series are their own
    feed::LineDay day;
    StreamSkew skew;  ///< the members up to here share one cache line, which every block touches
    feed::Arbiter arbiter;
    feed::LineWatch watch;  ///< which streams are up; only for live packets, not for replays
    LineMarker marker;
    /// Datagrams of the retransmission groups. The figures of the streams do not include them.
    Counter retransmission_packets;
};

/// Cold. Gives the line its numbers of setup.left_out. Not inline, because inlining it would make
/// the compiler inline less of the fast path.
void set_left_out(PollerLine& line, const PollerSetup& setup);

template <class Codec>
struct CodecLine : PollerLine {
    CodecLine(std::uint16_t line, std::size_t position, const PollerSetup& setup,
              const LineHours& hours)
        : PollerLine(line, Codec::is_gth(line), position, Codec::numbering, setup, hours) {}

    [[no_unique_address]] Codec codec;
    Counters<typename Codec::Reject, Codec::reject_rows.size()> rejects;
};

template <class Codec>
class PollerLines {
  public:
    using Line = CodecLine<Codec>;

    /// Lines that the control thread has built and the poller has not added yet.
    struct Prepared final : MoreLines {
        std::vector<std::unique_ptr<Line>> lines;
        LineRoutes routes;  ///< routes of all the poller's lines, the new ones included
    };

    PollerLines(const PollerSetup& setup, std::size_t lines_max)
        : hours_(setup.hours), lines_(lines_max) {
        Prepared all;
        prepare(setup, all);
        adopt(all);
    }

    /// Poll thread. The route for a datagram; nullptr: there is none. If several lines share a
    /// group, the codec reads the line number from the payload.
    [[nodiscard]] const LineRoute* find(const nic::Datagram& datagram) const noexcept {
        return routes_.find(datagram.group_ip, datagram.port, [&](const LineRoute& route) {
            return !Codec::lines_share_groups ||
                   lines_[route.line].number == Codec::line_number(datagram.payload);
        });
    }

    // Any thread may use these for the lines below the size() that it read.

    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }

    [[nodiscard]] Line& operator[](std::size_t i) const noexcept { return lines_[i]; }

    [[nodiscard]] std::unique_ptr<Line>* begin() const noexcept { return lines_.begin(); }

    [[nodiscard]] std::unique_ptr<Line>* end() const noexcept { return lines_.end(); }

    [[nodiscard]] std::size_t room() const noexcept { return lines_.room(); }

    /// Poll thread. Adds the prepared lines. It neither allocates nor frees memory.
    void adopt(Prepared& more) noexcept {
        for (auto& line : more.lines) {
            lines_.add(std::move(line));
        }
        std::swap(routes_, more.routes);
    }

    /// Control thread. Builds the lines of `setup.lines`, with indices behind the existing lines.
    /// Not to be called while other prepared lines wait to be added.
    void prepare(const PollerSetup& setup, Prepared& more) const;

  private:
    LineHours hours_;
    LineRoutes routes_;
    GrowingList<Line> lines_;
};

// --- cold ---

template <class Codec>
void PollerLines<Codec>::prepare(const PollerSetup& setup, Prepared& more) const {
    std::size_t position = lines_.size();
    more.routes = routes_.with(setup.lines, position);
    for (const feed::LineConfig& line : setup.lines) {
        more.lines.push_back(std::make_unique<Line>(line.number, position++, setup, hours_));
        set_left_out(*more.lines.back(), setup);
    }
}

}  // namespace pinstrike::actors
