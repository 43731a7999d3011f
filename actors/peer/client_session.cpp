// path: cold
#include "actors/peer/client_session.h"

#include <utility>

namespace pinstrike::actors::peer {

namespace {

feed::Refusal refusal_of(PeerRefusal reason) {
    switch (reason) {
        case PeerRefusal::unknown_line:
            return feed::Refusal::unknown_line;
        case PeerRefusal::not_kept:
            return feed::Refusal::not_kept;
        case PeerRefusal::over_budget:
            return feed::Refusal::over_budget;
        default:
            return feed::Refusal::malformed;
    }
}

}  // namespace

ClientSession::ClientSession(const Identity& identity, const SessionLimits& limits,
                             const BlockReader& read_block, ClientCounters& counters,
                             const Nonce& nonce, std::span<const std::byte> channel,
                             std::int64_t now_ns)
    : PeerSession(identity, limits, counters.ends, channel, now_ns),
      read_block_(read_block),
      counters_(counters) {
    handshake_.client_nonce = nonce;
    handshake_.client_instance = identity.instance;
    counters_.counts.bump(ClientCount::connections);
}

std::optional<feed::Refusal> ClientSession::request(const feed::RepairRequest& request,
                                                    std::int64_t now_ns) {
    if (!open()) {
        return feed::Refusal::not_connected;
    }
    if (in_flight_.size() >= limits_.in_flight_max) {
        return feed::Refusal::busy;
    }
    in_flight_[request.id] = {request, now_ns + limits_.answer_within_ns, 0};
    writer_.put(request);
    counters_.counts.bump(ClientCount::requests);
    return std::nullopt;
}

void ClientSession::cancel(std::uint64_t id) {
    in_flight_.erase(id);
}

bool ClientSession::request_state(const std::vector<std::uint16_t>& lines, StateTaker& taker) {
    if (!open() || taker_ != nullptr) {
        return false;
    }
    taker_ = &taker;
    state_heard_ns_ = std::max(stepped_ns_, received_ns_);
    put(writer_, StateRequest{++state_id_, lines});
    return true;
}

void ClientSession::receive(std::span<const std::byte> bytes, std::int64_t now_ns,
                            feed::RepairAnswers& answers) {
    if (ended()) {
        return;
    }
    const auto on_each = [&](const Frame& frame) { on_frame(frame, answers); };
    if (const auto why = read_frames(bytes, now_ns, on_each)) {
        refuse(*why);
    }
    if (ended()) {
        fail_all(answers);
    }
}

void ClientSession::step(std::int64_t now_ns, feed::RepairAnswers& answers) {
    stepped_ns_ = now_ns;
    if (too_late(now_ns)) {
        refuse(PeerRefusal::late);
    } else if (fell_silent(now_ns)) {
        close(SessionEnd::silent, answers);
    }
    if (taker_ != nullptr && now_ns - state_heard_ns_ >= limits_.state_silent_ns) {
        end_state(StateOutcome::broken);
    }
    keep_alive(now_ns, limits_.keep_alive_ns);
    for (auto each = in_flight_.begin(); each != in_flight_.end();) {
        const auto [id, to] = *each++;
        if (now_ns >= to.deadline_ns) {
            fail(id, feed::Refusal::no_answer, answers);
        }
    }
}

void ClientSession::close(SessionEnd end, feed::RepairAnswers& answers) {
    finish(end, std::nullopt);
    fail_all(answers);
}

void ClientSession::on_frame(const Frame& frame, feed::RepairAnswers& answers) {
    if (frame.type == FrameType::refused) {
        const auto refused = parse_refused(frame.body);
        return refused ? on_refused(*refused, answers) : refuse(PeerRefusal::malformed);
    }
    if (open_) {
        return on_answer(frame, answers);
    }
    if (!challenged_ && frame.type == FrameType::challenge) {
        const auto challenge = parse<Challenge>(frame.body);
        return challenge ? on_challenge(*challenge) : refuse(PeerRefusal::malformed);
    }
    if (challenged_ && frame.type == FrameType::welcome) {
        const auto welcome = parse<Welcome>(frame.body);
        return welcome ? on_welcome(*welcome) : refuse(PeerRefusal::malformed);
    }
    refuse(PeerRefusal::malformed);
}

void ClientSession::on_challenge(const Challenge& challenge) {
    // Does not answer a challenge from this process itself, because an attacker in the middle could
    // forward the proof.
    if (challenge.instance == identity_.instance) {
        return refuse(PeerRefusal::itself);
    }
    challenged_ = true;
    handshake_.server = challenge;
    writer_.put(Proof{handshake_.client_nonce, identity_.instance,
                      prove(identity_.secret, Role::client, handshake_), identity_.feed});
}

void ClientSession::on_welcome(const Welcome& welcome) {
    if (!same(welcome.mac, prove(identity_.secret, Role::server, handshake_))) {
        return refuse(PeerRefusal::not_authenticated);
    }
    open_ = true;
    counters_.counts.bump(ClientCount::authenticated);
}

void ClientSession::on_answer(const Frame& frame, feed::RepairAnswers& answers) {
    if (frame.type == FrameType::keep_alive) {
        state_heard_ns_ = received_ns_;
        return;
    }
    if (frame.type == FrameType::block) {
        if (const auto block = parse_block(frame.body)) {
            return on_block(*block, answers);
        }
    } else if (frame.type == FrameType::done) {
        if (const auto done = parse<Done>(frame.body)) {
            return on_done(*done, answers);
        }
    } else if (on_state(frame)) {
        return;
    }
    refuse(PeerRefusal::malformed);
}

/// Returns false if the frame is not a state frame, or if it is malformed. Ignores frames of an
/// earlier request.
bool ClientSession::on_state(const Frame& frame) {
    const auto current = [this](std::uint64_t id) { return taker_ != nullptr && id == state_id_; };
    if (frame.type == FrameType::state_end) {
        const auto end = parse<StateEnd>(frame.body);
        if (end && current(end->id)) {
            end_state(StateOutcome::whole);
        }
        return end.has_value();
    }
    const auto state = parse_state(frame);
    if (!state || !current(state->id)) {
        return state.has_value();
    }
    state_heard_ns_ = received_ns_;
    if (state->record.kind == StateRecord::Kind::series && !is_possible(state->record)) {
        // The feed may have such values, so the other series are still worth taking.
        taker_->impossible();
    } else {
        taker_->record(state->record);
    }
    return true;
}

void ClientSession::end_state(StateOutcome outcome) {
    if (taker_ != nullptr) {
        std::exchange(taker_, nullptr)->ended(outcome);
    }
}

void ClientSession::on_block(const BlockFrame& block, feed::RepairAnswers& answers) {
    const auto to = in_flight_.find(block.id);
    if (to == in_flight_.end()) {
        return counters_.drops.bump(PeerDrop::late);
    }
    if (const auto drop = objection(block, to->second)) {
        return counters_.drops.bump(*drop);
    }
    counters_.counts.bump(ClientCount::blocks);
    counters_.counts.bump(ClientCount::bytes, block.bytes.size());
    answers.block(block.line, block.bytes);
}

std::optional<PeerDrop> ClientSession::objection(const BlockFrame& block, Pending& to) const {
    if (block.line != to.request.line) {
        return PeerDrop::wrong_line;
    }
    if (++to.blocks > to.request.messages) {
        return PeerDrop::too_many;
    }
    feed::Block read;
    if (!read_block_.read(block.bytes, read) || read.role != feed::BlockRole::data ||
        read.sequence == 0 || read.messages == 0) {
        return PeerDrop::unreadable;
    }
    if (!feed::concerns(to.request, read.sequence, read.messages, read.ts_exchange_ns,
                        read_block_.numbering)) {
        return PeerDrop::outside;
    }
    return std::nullopt;
}

void ClientSession::on_done(const Done& done, feed::RepairAnswers& answers) {
    if (in_flight_.erase(done.id) != 0) {
        counters_.counts.bump(ClientCount::finished);
        answers.finished(done.id);
    }
}

void ClientSession::on_refused(const Refused& refused, feed::RepairAnswers& answers) {
    if (refused.id == 0) {
        counters_.why.bump(refused.reason);
        return finish(SessionEnd::was_refused, refused.reason);
    }
    if (!open_) {
        return refuse(PeerRefusal::malformed);
    }
    if (refused.id == state_id_) {
        return end_state(refused.reason == PeerRefusal::no_state ? StateOutcome::has_none
                                                                 : StateOutcome::broken);
    }
    fail(refused.id, refusal_of(refused.reason), answers);
}

void ClientSession::refuse(PeerRefusal why) {
    counters_.why.bump(why);
    finish(SessionEnd::refused, why);
}

void ClientSession::finish(SessionEnd end, std::optional<PeerRefusal> why) {
    end_state(StateOutcome::broken);
    end_with(end, why);
}

void ClientSession::fail(std::uint64_t id, feed::Refusal reason, feed::RepairAnswers& answers) {
    if (in_flight_.erase(id) != 0) {
        counters_.refusals.bump(reason);
        answers.refused(id, reason);
    }
}

void ClientSession::fail_all(feed::RepairAnswers& answers) {
    while (!in_flight_.empty()) {
        fail(in_flight_.begin()->first, feed::Refusal::disconnected, answers);
    }
}

}  // namespace pinstrike::actors::peer
