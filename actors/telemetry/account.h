// path: cold
//
// The account: packets and messages received, delivered and dropped, by reason. It is filled from
// the counters when their threads have ended, written as JSON, and checked. The check compares the
// output of each hop with the input of the next, so an identity that does not hold is a bug of this
// program, and the message names the identity. (A ring's `pushed` is computed as routed less
// refused; the check compares it with what the ring's core counted.)
#pragma once

#include "actors/poller/unknown_groups.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// A reason and its count.
using NamedCount = std::pair<std::string, std::uint64_t>;

struct PortAccount {
    std::string port;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> missed;  ///< the device's own counters; nullopt: it has none
    std::optional<std::uint64_t> no_buffer;
    std::optional<std::uint64_t> errors;
    std::vector<NamedCount> dropped;
    std::vector<UnknownGroup>
        unknown_groups;        ///< the most frequent destinations of packets without a line
    std::uint64_t handed = 0;  ///< packets given to lines; not written
};

/// In messages, except `packets`.
struct StreamAccount {
    std::uint64_t packets = 0;
    std::uint64_t messages = 0;
    std::uint64_t accepted = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t rejected = 0;
};

/// In messages, except `line`.
struct LineAccount {
    std::uint16_t line = 0;
    std::uint64_t highest = 0;
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;
    std::uint64_t repaired = 0;
    std::uint64_t unasked = 0;
    std::uint64_t filtered = 0;
    /// Lost numbers that are not in `gaps`, because the arbiter's list was full.
    std::uint64_t gaps_unlisted = 0;
    /// First and last number of each gap, both included, in order.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    StreamAccount a;
    StreamAccount b;

    // Not written, but needed by the identities.
    std::string poller;                        ///< the poller of the line
    std::uint64_t controls = 0;                ///< included in `delivered`
    std::uint64_t retransmission_packets = 0;  ///< datagrams of the retransmission groups
};

/// In messages, except `records`.
struct RingAccount {
    std::string from;  ///< a poller
    std::string to;    ///< a core
    std::uint64_t routed = 0;
    std::uint64_t pushed = 0;
    std::uint64_t refused = 0;
    std::uint64_t records = 0;  ///< messages and broadcasts, from the ring's own position
};

struct ActorAccount {
    std::string actor;
    std::uint64_t events = 0;
};

struct CoreAccount {
    std::string core;
    std::uint64_t events = 0;          ///< messages from its rings
    std::uint64_t records = 0;         ///< records of these messages and of broadcasts
    std::uint64_t gap_events = 0;      ///< broadcast to every core, so not in the counts of rings
    std::uint64_t control_events = 0;  ///< likewise
    std::vector<NamedCount> rows;      ///< sums over its actors (ActorReport::account_rows)
    std::vector<ActorAccount> actors;

    /// The count of the row; 0 if there is none.
    [[nodiscard]] std::uint64_t count(std::string_view row) const {
        for (const auto& [name, count] : rows) {
            if (name == row) {
                return count;
            }
        }
        return 0;
    }
};

struct Account {
    std::string feed;
    double seconds = 0;
    std::vector<PortAccount> ports;
    std::vector<LineAccount> lines;
    std::vector<RingAccount> rings;
    std::vector<CoreAccount> cores;
    std::vector<NamedCount> rejects;  ///< blocks, by reason
};

/// A sentence with figures for every identity that does not hold; empty if the account balances.
[[nodiscard]] std::vector<std::string> imbalances(const Account& account);

/// One JSON object, ending with a newline; `balanced` says whether imbalances() found nothing.
[[nodiscard]] std::string to_json(const Account& account);

}  // namespace pinstrike::actors
