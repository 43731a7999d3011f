// path: cold
//
// The requesting side of a connection. It does not trust the other side, because a peer that knows
// the secret can still be faulty or compromised. Each block must be valid for the venue's codec and
// hold numbers of a request that is still open. Other blocks are counted and dropped.
#pragma once

#include "actors/peer/peer_session.h"
#include "actors/peer/state_ends.h"
#include "actors/peer/state_frames.h"
#include "config/counter.h"
#include "feed/event/block.h"
#include "feed/recovery/repair.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace pinstrike::actors::peer {

// clang-format off
#define PINSTRIKE_PEER_CLIENT_COUNTS(ROW) \
    ROW(connections, connections, "connections to the peer that were established") \
    ROW(authenticated, connections, \
        "of these, those on which both sides proved that they know the secret") \
    ROW(requests, requests, "requests sent to the peer") \
    ROW(finished, requests, "requests that the peer answered") \
    ROW(blocks, blocks, "blocks received from the peer and passed to the poller") \
    ROW(bytes, bytes, "bytes of the blocks received from the peer and passed to the poller")

#define PINSTRIKE_PEER_DROPS(ROW) \
    ROW(late, blocks, "blocks that belong to no request in flight") \
    ROW(wrong_line, blocks, "blocks of another line than requested") \
    ROW(unreadable, blocks, "blocks that the venue cannot have sent") \
    ROW(outside, blocks, "blocks without a requested number, or with a timestamp out of bounds") \
    ROW(too_many, blocks, "blocks beyond one for each requested number")
// clang-format on

PINSTRIKE_ROWS(ClientCount, PINSTRIKE_PEER_CLIENT_COUNTS)

/// The reason why a block from a peer was dropped.
PINSTRIKE_ROWS(PeerDrop, PINSTRIKE_PEER_DROPS)

/// Summed over all connections to one peer.
struct ClientCounters {
    Counters<ClientCount, ClientCount_count> counts;
    Counters<PeerDrop, PeerDrop_count> drops;
    Counters<feed::Refusal, feed::Refusal_count> refusals;  ///< why requests failed
    Counters<PeerRefusal, PeerRefusal_count> why;           ///< why a side refused a connection
    Counters<SessionEnd, SessionEnd_count> ends;
};

/// Decodes and checks the blocks of one venue.
struct BlockReader {
    /// Decodes a block and checks it with the venue's codec. Returns false if the bytes are not a
    /// valid block.
    std::function<bool(std::span<const std::byte>, feed::Block&)> read;
    feed::Numbering numbering;
};

class ClientSession final : public PeerSession {
  public:
    /// The references must outlive the session; `channel` is copied (see Handshake). `nonce` must
    /// be new for each connection.
    ClientSession(const Identity& identity, const SessionLimits& limits,
                  const BlockReader& read_block, ClientCounters& counters, const Nonce& nonce,
                  std::span<const std::byte> channel, std::int64_t now_ns);

    // feed::RepairSource describes these two functions.

    [[nodiscard]] std::optional<feed::Refusal> request(const feed::RepairRequest& request,
                                                       std::int64_t now_ns);
    void cancel(std::uint64_t id);

    /// Requests the state of series. `taker` receives the answer and must outlive the session.
    /// Returns false if the connection is not open, or if a request for state is still open.
    [[nodiscard]] bool request_state(const std::vector<std::uint16_t>& lines, StateTaker& taker);

    void receive(std::span<const std::byte> bytes, std::int64_t now_ns,
                 feed::RepairAnswers& answers);

    void step(std::int64_t now_ns, feed::RepairAnswers& answers);

    /// Must be called when the connection has ended or is about to end. All open requests fail.
    void close(SessionEnd end, feed::RepairAnswers& answers);

  private:
    /// Ids of state requests are above this value, and ids of recovery are below it.
    static constexpr std::uint64_t state_ids = std::uint64_t{1} << 63;

    struct Pending {
        feed::RepairRequest request;
        std::int64_t deadline_ns = 0;
        std::uint32_t blocks = 0;
    };

    void on_frame(const Frame& frame, feed::RepairAnswers& answers);
    void on_challenge(const Challenge& challenge);
    void on_welcome(const Welcome& welcome);
    void on_answer(const Frame& frame, feed::RepairAnswers& answers);
    void on_block(const BlockFrame& block, feed::RepairAnswers& answers);
    [[nodiscard]] bool on_state(const Frame& frame);
    void end_state(StateOutcome outcome);
    void on_done(const Done& done, feed::RepairAnswers& answers);
    void on_refused(const Refused& refused, feed::RepairAnswers& answers);
    [[nodiscard]] std::optional<PeerDrop> objection(const BlockFrame& block, Pending& to) const;
    void refuse(PeerRefusal why);
    void finish(SessionEnd end, std::optional<PeerRefusal> why);
    void fail(std::uint64_t id, feed::Refusal reason, feed::RepairAnswers& answers);
    void fail_all(feed::RepairAnswers& answers);

    const BlockReader& read_block_;
    ClientCounters& counters_;
    bool challenged_ = false;
    std::map<std::uint64_t, Pending> in_flight_;  // by id
    StateTaker* taker_ = nullptr;                 // null: no state request is open
    std::uint64_t state_id_ = state_ids;          // id of the last state request
    std::int64_t stepped_ns_ = 0;
    std::int64_t state_heard_ns_ = 0;
};

}  // namespace pinstrike::actors::peer
