// path: cold
#include "actors/peer/client.h"

#include "actors/peer/tcp.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pinstrike::actors::peer {

Client::Client(const nic::Group& at, const Identity& identity, ssl_ctx_st* tls,
               BlockReader read_block, PeerListener listener, ClientStatus& status)
    : name_("peer " + status.peer),
      at_(at),
      identity_(identity),
      tls_(tls),
      read_block_(std::move(read_block)),
      listener_(std::move(listener)),
      status_(status) {}

std::optional<feed::Refusal> Client::request(const feed::RepairRequest& request,
                                             std::int64_t now_ns) {
    if (!session_) {
        return feed::Refusal::not_connected;
    }
    const auto refusal = session_->request(request, now_ns);
    channel_->write_output(*session_, now_ns);
    return refusal;
}

bool Client::request_state(const std::vector<std::uint16_t>& lines) {
    return taker_ != nullptr && session_ && session_->request_state(lines, *taker_);
}

void Client::cancel(std::uint64_t id) {
    if (session_) {
        session_->cancel(id);
    }
}

std::size_t Client::step(std::int64_t now_ns, feed::RepairAnswers& answers) {
    times_.now_ns = now_ns;
    std::size_t done = 0;
    if (session_) {
        done = channel_->pass(*session_, now_ns, [&](std::span<const std::byte> bytes) {
            session_->receive(bytes, now_ns, answers);
        });
        session_->step(now_ns, answers);
        done += channel_->write_output(*session_, now_ns);
        look_after_session(answers);
    } else if (socket_.valid() || channel_) {
        look_after_attempt();
    } else if (now_ns >= times_.try_ns) {
        connect();
    }
    status_.connected.set(session_ && session_->open() ? 1 : 0);
    return done;
}

void Client::connect() {
    times_.begun_ns = times_.now_ns;
    socket_ = connect_to(at_);
    if (!socket_.valid()) {
        give_up(std::strerror(errno));
    }
}

/// Called while the TCP connection or the TLS handshake is in progress.
void Client::look_after_attempt() {
    if (!channel_) {
        pollfd waits{socket_.get(), POLLOUT, 0};
        if (::poll(&waits, 1, 0) > 0) {
            if (const int error = error_of(socket_.get()); error != 0) {
                return give_up(std::strerror(error));
            }
            channel_.emplace(std::move(socket_), tls_, false);
        }
    }
    Nonce nonce{};
    if (channel_ && channel_->advance() == Channel::State::open && draw(nonce)) {
        session_.emplace(identity_, limits_, read_block_, status_.counters, nonce,
                         channel_->keying_material(), times_.now_ns);
    } else if (channel_ && channel_->is_over()) {
        give_up("TLS: " + channel_->fault());
    } else if (times_.now_ns - times_.begun_ns >= limits_.authenticate_within_ns) {
        give_up("no answer");
    }
}

void Client::look_after_session(feed::RepairAnswers& answers) {
    if (channel_->is_over()) {
        session_->close(SessionEnd::closed, answers);
    }
    if (session_->open() && !reported_open_) {
        reported_open_ = true;
        times_.pause_ns = pause_least_ns;
        notify(PeerEvent::Kind::connected, "missing messages can be requested from it");
    }
    if (!session_->ended()) {
        return;
    }
    if (const auto why = session_->why()) {
        const bool by_peer = session_->end() == SessionEnd::was_refused;
        times_.pause_ns = pause_most_ns;  // because an operator has to fix something first
        notify(PeerEvent::Kind::refused,
               fmt::format("{}, {}: {}", by_peer ? "it refused" : "refused", row_of(*why).name,
                           row_of(*why).sentence));
    } else if (reported_open_) {
        notify(PeerEvent::Kind::lost, channel_->with_fault(row_of(*session_->end()).sentence));
    } else if (!channel_->fault().empty()) {
        // With TLS 1.3 the peer's refusal of the certificate comes after the handshake here.
        notify(PeerEvent::Kind::lost,
               channel_->with_fault("the connection ended before both sides were authenticated"));
    } else {
        notify(PeerEvent::Kind::lost,
               "it closed the connection at once: does it have this address in its config, and "
               "TLS?");
    }
    drop();
}

void Client::give_up(const std::string& reason) {
    notify(PeerEvent::Kind::lost, "it cannot be reached: " + reason);
    drop();
}

void Client::drop() {
    socket_ = nic::FileDescriptor{};
    session_.reset();
    channel_.reset();
    reported_open_ = false;
    times_.try_ns = times_.now_ns + times_.pause_ns;
    times_.pause_ns = std::min(2 * times_.pause_ns, pause_most_ns);
}

void Client::notify(PeerEvent::Kind kind, std::string text) {
    listener_({kind, status_.peer, std::move(text)});
}

}  // namespace pinstrike::actors::peer
