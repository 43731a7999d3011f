// path: cold
//
// The serving side of a connection. It requires the client to prove that it knows the secret, and
// then answers the client's requests from the history, within a budget.
#pragma once

#include "actors/peer/budget.h"
#include "actors/peer/peer_session.h"
#include "actors/peer/state_ends.h"
#include "actors/peer/state_frames.h"
#include "config/counter.h"
#include "feed/recovery/history.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>

namespace pinstrike::actors::peer {

// clang-format off
#define PINSTRIKE_PEER_SERVER_COUNTS(ROW) \
    ROW(connections, connections, "connections of peers accepted") \
    ROW(authenticated, connections, \
        "of these, those on which the peer proved that it knows the secret") \
    ROW(unlisted, connections, "connections closed at once: the address is not configured") \
    ROW(crowded, connections, \
        "connections closed at once: connections_max authenticated connections are open") \
    ROW(untaken, connections, \
        "times that a connection could not be accepted because descriptors or memory ran out; " \
        "the next attempt is a second later") \
    ROW(requests, requests, "requests of peers") \
    ROW(served, requests, "requests answered with blocks") \
    ROW(served_blocks, blocks, "blocks sent to peers") \
    ROW(served_bytes, bytes, "bytes of the blocks sent to peers") \
    ROW(state_requests, requests, "requests of peers for the state of series") \
    ROW(state_served, requests, "of these, those answered completely") \
    ROW(state_series, series, "states of series sent to peers")
// clang-format on

PINSTRIKE_ROWS(ServerCount, PINSTRIKE_PEER_SERVER_COUNTS)

/// Summed over all connections of a server.
struct ServerCounters {
    Counters<ServerCount, ServerCount_count> counts;
    Counters<PeerRefusal, PeerRefusal_count> refusals;
    Counters<SessionEnd, SessionEnd_count> ends;
};

class ServerSession final : public PeerSession {
  public:
    /// The references must outlive the session; `channel` is copied (see Handshake). `nonce` must
    /// be new for each connection.
    ServerSession(const Identity& identity, const SessionLimits& limits, feed::History& history,
                  ServerCounters& counters, const Nonce& nonce, std::span<const std::byte> channel,
                  std::int64_t now_ns);

    ~ServerSession() { leave_state(); }

    ServerSession(const ServerSession&) = delete;
    ServerSession& operator=(const ServerSession&) = delete;

    /// Sets the source of series' state, which must outlive the session; null: there is none.
    void set_state_giver(StateGiver* giver) { giver_ = giver; }

    void receive(std::span<const std::byte> bytes, std::int64_t now_ns);

    void step(std::int64_t now_ns);

    /// Must be called when the connection has ended or is about to end.
    void close(SessionEnd end) { finish(end, std::nullopt); }

  private:
    void on_frame(const Frame& frame, std::int64_t now_ns);
    void on_proof(const Proof& proof);
    void on_request(const feed::RepairRequest& request, std::int64_t now_ns);
    [[nodiscard]] std::optional<PeerRefusal> objection(const feed::RepairRequest& request,
                                                       std::int64_t now_ns);
    void on_state_request(const StateRequest& request, std::int64_t now_ns);
    [[nodiscard]] std::optional<PeerRefusal> state_objection(std::int64_t now_ns);
    void send_state(std::int64_t now_ns);
    void send_state(const StateRecord& record, std::int64_t now_ns);
    void leave_state();
    void refuse_connection(PeerRefusal reason);
    void refuse_request(const Refused& refused);
    void finish(SessionEnd end, std::optional<PeerRefusal> why);

    feed::History& history_;
    ServerCounters& counters_;
    Budget requests_;
    Budget messages_;
    Budget series_;

    /// The open state request.
    struct Giving {
        std::uint64_t id = 0;
        std::set<std::uint16_t> lines;  ///< empty: all
        std::uint64_t series = 0;
    };

    StateGiver* giver_ = nullptr;
    std::optional<Giving> giving_;
};

}  // namespace pinstrike::actors::peer
