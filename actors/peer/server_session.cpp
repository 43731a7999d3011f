// path: cold
#include "actors/peer/server_session.h"

namespace pinstrike::actors::peer {

namespace {

/// The number of records that one step takes from the books at most. Records of lines that were not
/// requested cost no token, and other connections wait meanwhile.
constexpr std::size_t state_records_each_step = 8192;

}  // namespace

ServerSession::ServerSession(const Identity& identity, const SessionLimits& limits,
                             feed::History& history, ServerCounters& counters, const Nonce& nonce,
                             std::span<const std::byte> channel, std::int64_t now_ns)
    : PeerSession(identity, limits, counters.ends, channel, now_ns),
      history_(history),
      counters_(counters),
      requests_(limits.requests_per_second, 1, now_ns),
      messages_(limits.messages_per_second, feed::repair_messages_max, now_ns),
      series_(limits.state_series_per_second, 1, now_ns) {
    handshake_.server = {nonce, identity.instance};
    writer_.put(handshake_.server);
    counters_.counts.bump(ServerCount::connections);
}

void ServerSession::receive(std::span<const std::byte> bytes, std::int64_t now_ns) {
    if (ended()) {
        return;
    }
    const auto on_each = [&](const Frame& frame) { on_frame(frame, now_ns); };
    if (const auto why = read_frames(bytes, now_ns, on_each)) {
        refuse_connection(*why);
    }
}

void ServerSession::step(std::int64_t now_ns) {
    if (too_late(now_ns)) {
        return refuse_connection(PeerRefusal::late);
    }
    if (fell_silent(now_ns)) {
        return finish(SessionEnd::silent, std::nullopt);
    }
    send_state(now_ns);
    keep_alive(now_ns, limits_.keep_alive_ns);
}

/// Accepts only a proof before authentication, so an unauthenticated client can cause at most the
/// work and memory of one frame.
void ServerSession::on_frame(const Frame& frame, std::int64_t now_ns) {
    if (!open_) {
        const auto proof = frame.type == FrameType::proof ? parse_proof(frame.body) : std::nullopt;
        return proof ? on_proof(*proof) : refuse_connection(PeerRefusal::malformed);
    }
    if (frame.type == FrameType::keep_alive) {
        return;
    }
    if (frame.type == FrameType::state_request) {
        const auto request = parse_state_request(frame.body);
        return request ? on_state_request(*request, now_ns)
                       : refuse_connection(PeerRefusal::malformed);
    }
    const auto request =
        frame.type == FrameType::request ? parse<feed::RepairRequest>(frame.body) : std::nullopt;
    if (!request || request->id == 0) {
        return refuse_connection(PeerRefusal::malformed);
    }
    on_request(*request, now_ns);
}

void ServerSession::on_proof(const Proof& proof) {
    // Checks the secret first, so that a peer that does not know it learns nothing else.
    handshake_.client_nonce = proof.nonce;
    handshake_.client_instance = proof.instance;
    Handshake theirs = handshake_;
    theirs.feed = proof.feed;
    if (!same(proof.mac, prove(identity_.secret, Role::client, theirs))) {
        return refuse_connection(PeerRefusal::not_authenticated);
    }
    if (proof.instance == identity_.instance) {
        return refuse_connection(PeerRefusal::itself);
    }
    if (proof.feed != identity_.feed) {
        return refuse_connection(PeerRefusal::wrong_feed);
    }
    writer_.put(Welcome{prove(identity_.secret, Role::server, handshake_)});
    open_ = true;
    counters_.counts.bump(ServerCount::authenticated);
}

void ServerSession::on_request(const feed::RepairRequest& request, std::int64_t now_ns) {
    counters_.counts.bump(ServerCount::requests);
    if (const auto reason = objection(request, now_ns)) {
        return refuse_request({request.id, *reason, history_.kept(request.line)});
    }
    history_.expire(now_ns);
    const auto blocks = history_.find(request);
    if (blocks.empty()) {
        return refuse_request({request.id, PeerRefusal::not_kept, history_.kept(request.line)});
    }
    std::uint32_t sent = 0;
    for (const feed::KeptBlock& block : blocks) {
        writer_.put(BlockFrame{request.id, request.line, block.bytes});
        counters_.counts.bump(ServerCount::served_bytes, block.bytes.size());
        ++sent;
    }
    writer_.put(Done{request.id, sent});
    counters_.counts.bump(ServerCount::served);
    counters_.counts.bump(ServerCount::served_blocks, sent);
}

std::optional<PeerRefusal> ServerSession::objection(const feed::RepairRequest& request,
                                                    std::int64_t now_ns) {
    if (!requests_.spend(1, now_ns)) {
        return PeerRefusal::over_budget;
    }
    if (request.first == 0 || request.messages == 0 ||
        request.messages > feed::repair_messages_max ||
        request.ts_before_ns > request.ts_behind_ns) {
        return PeerRefusal::malformed;
    }
    if (!history_.knows(request.line)) {
        return PeerRefusal::unknown_line;
    }
    if (writer_.waiting().size() > limits_.queue_bytes_max ||
        !messages_.spend(request.messages, now_ns)) {
        return PeerRefusal::over_budget;
    }
    return std::nullopt;
}

/// Allows one open state request. A second one is refused, whether it comes from the same
/// connection or from another peer.
void ServerSession::on_state_request(const StateRequest& request, std::int64_t now_ns) {
    counters_.counts.bump(ServerCount::state_requests);
    if (const auto why = state_objection(now_ns)) {
        return refuse_request({request.id, *why, std::nullopt});
    }
    giving_.emplace(Giving{request.id, {request.lines.begin(), request.lines.end()}, 0});
}

std::optional<PeerRefusal> ServerSession::state_objection(std::int64_t now_ns) {
    if (giving_ || !requests_.spend(1, now_ns)) {
        return PeerRefusal::over_budget;
    }
    return giver_ == nullptr ? PeerRefusal::no_state : giver_->begin();
}

/// Bounds the number of unsent bytes. Further records stay in the rings of the cores, and a core
/// whose ring is full pauses its walk over the series.
void ServerSession::send_state(std::int64_t now_ns) {
    StateRecord record;
    for (std::size_t count = 0;
         count < state_records_each_step && giving_ && !ended() &&
         writer_.waiting().size() < limits_.state_queue_bytes_max && series_.has(1, now_ns);
         ++count) {
        switch (giver_->next(record)) {
            case StateGiver::Next::record:
                send_state(record, now_ns);
                break;
            case StateGiver::Next::nothing_yet:
                return;
            case StateGiver::Next::end:
                writer_.put(FrameType::state_end, StateEnd{giving_->id, giving_->series});
                counters_.counts.bump(ServerCount::state_served);
                leave_state();
                break;
        }
    }
}

void ServerSession::send_state(const StateRecord& record, std::int64_t now_ns) {
    if (!giving_->lines.empty() && !giving_->lines.contains(record.line)) {
        // The client would take a walk that has no series for it yet for one that stands still.
        return keep_alive(now_ns, limits_.state_keep_alive_ns);
    }
    const bool series = record.kind == StateRecord::Kind::series;
    put(writer_, StateFrame{giving_->id, record});
    static_cast<void>(series_.spend(1, now_ns));
    counters_.counts.bump(ServerCount::state_series, series ? 1 : 0);
    giving_->series += series ? 1 : 0;
}

void ServerSession::leave_state() {
    if (giving_) {
        giving_.reset();
        giver_->leave();
    }
}

void ServerSession::refuse_connection(PeerRefusal reason) {
    writer_.put(Refused{0, reason, std::nullopt});
    counters_.refusals.bump(reason);
    finish(SessionEnd::refused, reason);
}

/// Refuses a request. Ends the connection instead if the peer keeps sending requests without
/// reading the answers.
void ServerSession::refuse_request(const Refused& refused) {
    counters_.refusals.bump(refused.reason);
    if (writer_.waiting().size() > 2 * limits_.queue_bytes_max) {
        return finish(SessionEnd::refused, PeerRefusal::over_budget);
    }
    writer_.put(refused);
}

void ServerSession::finish(SessionEnd end, std::optional<PeerRefusal> why) {
    leave_state();
    end_with(end, why);
}

}  // namespace pinstrike::actors::peer
