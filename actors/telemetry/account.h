// path: cold
//
// The account: what came in, what went out, and what was dropped on the way, by reason. It is
// filled from the counters once the threads that own them have ended, written as JSON, and checked:
// what one hop gave is compared with what the next took, so an identity that fails is a mistake of
// ours and names itself. (A ring's `pushed` is its routed less its refused; that it is true is seen
// where its core counts what came.)
#pragma once

#include "actors/poller/unknown_groups.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// A name and how often; of reasons.
using NamedCount = std::pair<std::string, std::uint64_t>;

struct PortAccount {
    std::string port;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> missed;  ///< the device's own counts; none: it keeps none
    std::optional<std::uint64_t> no_buffer;
    std::optional<std::uint64_t> errors;
    std::vector<NamedCount> dropped;
    std::vector<UnknownGroup> unknown_groups;  ///< where the most of these were sent
    std::uint64_t handed = 0;                  ///< to lines; not written
};

/// Messages, but for the first.
struct StreamAccount {
    std::uint64_t packets = 0;
    std::uint64_t messages = 0;
    std::uint64_t accepted = 0;
    std::uint64_t duplicate = 0;
    std::uint64_t rejected = 0;
};

/// Messages, but for the number.
struct LineAccount {
    std::uint16_t line = 0;
    std::uint64_t highest = 0;
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;
    std::uint64_t repaired = 0;
    std::uint64_t unasked = 0;
    std::uint64_t filtered = 0;
    /// Lost numbers that `gaps` does not name: the arbiter's list was full.
    std::uint64_t gaps_unlisted = 0;
    /// First and last number of each, both included, in order.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    StreamAccount a;
    StreamAccount b;

    // Not written; the identities need them.
    std::string poller;                        ///< whose line it is
    std::uint64_t controls = 0;                ///< among the delivered
    std::uint64_t retransmission_packets = 0;  ///< datagrams of the retransmission groups
};

/// Messages.
struct RingAccount {
    std::string from;  ///< a poller
    std::string to;    ///< a core
    std::uint64_t routed = 0;
    std::uint64_t pushed = 0;
    std::uint64_t refused = 0;
    std::uint64_t records = 0;  ///< of messages and broadcasts: the ring's own position
};

struct ActorAccount {
    std::string actor;
    std::uint64_t events = 0;
};

struct CoreAccount {
    std::string core;
    std::uint64_t events = 0;          ///< messages from its rings
    std::uint64_t records = 0;         ///< of these, and of what is told to every core
    std::uint64_t gap_events = 0;      ///< told to every core: in no ring's figures
    std::uint64_t control_events = 0;  ///< likewise
    std::vector<NamedCount> rows;      ///< of its actors (ActorReport::account_rows), summed up
    std::vector<ActorAccount> actors;

    /// Of the row; 0 where there is none.
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

/// Every identity that does not hold, in words with its figures; empty if the books balance.
[[nodiscard]] std::vector<std::string> imbalances(const Account& account);

/// One JSON object, ending with a newline; `balanced` says whether imbalances() found nothing.
[[nodiscard]] std::string to_json(const Account& account);

}  // namespace pinstrike::actors
