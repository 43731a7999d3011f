// path: hot
//
// The lines of a poller: what is known of each, what it counts, and the way to it from a group.
// More can be added while the poller runs; none goes.
#pragma once

#include "actors/poller/line_marker.h"
#include "actors/poller/line_routes.h"
#include "actors/poller/poller_task.h"
#include "actors/poller/stream_skew.h"
#include "config/counter.h"
#include "config/growing_list.h"
#include "feed/arbitration/arbiter.h"
#include "feed/lines/line_day.h"
#include "feed/lines/line_watch.h"
#include "nic/packet/datagram.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pinstrike::actors {

template <class Codec>
struct alignas(64) PollerLine {
    using RejectCounters = Counters<typename Codec::Reject, Codec::reject_rows.size()>;

    /// `hours` outlives it.
    PollerLine(std::uint16_t line, std::size_t position, const PollerSetup& setup,
               const LineHours& hours)
        : index(position),
          number(line),
          is_gth(Codec::is_gth(line)),
          day(is_gth ? hours.separate : hours.main),
          arbiter(setup.arbitration, Codec::numbering),
          watch(setup.silence, setup.received) {}

    std::size_t index;  ///< among the poller's
    std::uint16_t number;
    bool is_gth;  ///< its series are their own
    [[no_unique_address]] Codec codec;
    feed::LineDay day;
    StreamLead lead;  ///< up to here one cache line, touched by every block
    feed::Arbiter arbiter;
    feed::LineWatch watch;
    LineMarker marker;
    RejectCounters rejects;
    Counter retransmission_packets;
};

template <class Codec>
class PollerLines {
  public:
    using Line = PollerLine<Codec>;

    /// Made ready, and not yet the poller's.
    struct Prepared final : MoreLines {
        std::vector<std::unique_ptr<Line>> lines;
        LineRoutes routes;  ///< of all the poller's lines, these among them
    };

    PollerLines(const PollerSetup& setup, std::size_t lines_max)
        : hours_(setup.hours), lines_(lines_max) {
        Prepared all;
        prepare(setup, all);
        take(all);
    }

    /// Poll thread: the line that the datagram is for; nullptr: none. Where lines share a group,
    /// the codec reads the number of the line from the payload.
    [[nodiscard]] const LineRoute* find(const nic::Datagram& datagram) const noexcept {
        return routes_.find(datagram.group_ip, datagram.port, [&](const LineRoute& route) {
            return !Codec::lines_share_groups ||
                   lines_[route.line].number == Codec::line_number(datagram.payload);
        });
    }

    // Any thread, up to the size that it saw.

    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }

    [[nodiscard]] Line& operator[](std::size_t i) const noexcept { return lines_[i]; }

    [[nodiscard]] std::unique_ptr<Line>* begin() const noexcept { return lines_.begin(); }

    [[nodiscard]] std::unique_ptr<Line>* end() const noexcept { return lines_.end(); }

    [[nodiscard]] std::size_t room() const noexcept { return lines_.room(); }

    /// Poll thread: neither allocates nor frees.
    void take(Prepared& more) noexcept {
        for (auto& line : more.lines) {
            lines_.add(std::move(line));
        }
        std::swap(routes_, more.routes);
    }

    /// Control thread, while none that were prepared wait to be taken: `setup.lines` behind those
    /// that there are.
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
    }
}

}  // namespace pinstrike::actors
