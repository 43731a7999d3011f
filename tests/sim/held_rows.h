// path: cold
//
// Which rows of the program's tables of counters a run compared with a value that the simulation
// knows. A run of many seeds must hold every row, or excuse it with a reason.
#pragma once

#include "actors/book/book_counts.h"
#include "actors/core/core.h"
#include "actors/peer/client_session.h"
#include "actors/peer/server_session.h"
#include "actors/peer/state_transfer.h"
#include "actors/poller/router.h"
#include "config/rows.h"
#include "feed/arbitration/line_counts.h"
#include "feed/opra/rejects.h"
#include "feed/recovery/history.h"
#include "feed/recovery/recovery.h"
#include "nic/packet/drops.h"
#include "nic/port.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::sim {

// The names of the tables in findings.

constexpr std::string_view table_of(nic::PortCount /*row*/) {
    return "port";
}

constexpr std::string_view table_of(actors::RingCount /*row*/) {
    return "ring";
}

constexpr std::string_view table_of(actors::CoreCount /*row*/) {
    return "core";
}

constexpr std::string_view table_of(nic::Drop /*row*/) {
    return "drops";
}

constexpr std::string_view table_of(feed::opra::BlockReject /*row*/) {
    return "block rejects";
}

constexpr std::string_view table_of(feed::StreamCount /*row*/) {
    return "stream";
}

constexpr std::string_view table_of(feed::LineCount /*row*/) {
    return "line";
}

constexpr std::string_view table_of(feed::RecoveryCount /*row*/) {
    return "recovery";
}

constexpr std::string_view table_of(feed::Refusal /*row*/) {
    return "refusals";
}

constexpr std::string_view table_of(feed::HistoryCount /*row*/) {
    return "history";
}

constexpr std::string_view table_of(actors::BookCount /*row*/) {
    return "book";
}

constexpr std::string_view table_of(actors::BookGauge /*row*/) {
    return "book gauges";
}

constexpr std::string_view table_of(actors::peer::ServerCount /*row*/) {
    return "server";
}

constexpr std::string_view table_of(actors::peer::ClientCount /*row*/) {
    return "client";
}

constexpr std::string_view table_of(actors::peer::PeerDrop /*row*/) {
    return "peer drops";
}

constexpr std::string_view table_of(actors::peer::PeerRefusal /*row*/) {
    return "peer refusals";
}

constexpr std::string_view table_of(actors::peer::SessionEnd /*row*/) {
    return "session ends";
}

constexpr std::string_view table_of(actors::peer::StateCount /*row*/) {
    return "state";
}

/// The name of a row, for example "line: resets".
template <class Table>
[[nodiscard]] std::string name_of(Table row) {
    return fmt::format("{}: {}", table_of(row), row_of(row).name);
}

class HeldRows {
  public:
    template <class Table>
    void note(Table row) {
        names_.insert(name_of(row));
    }

    void add(const HeldRows& other) { names_.insert(other.names_.begin(), other.names_.end()); }

    /// Rows that are neither held nor excused, and rows that are held although they are excused.
    [[nodiscard]] std::vector<std::string> faults() const;

  private:
    std::set<std::string> names_;
};

}  // namespace pinstrike::sim
