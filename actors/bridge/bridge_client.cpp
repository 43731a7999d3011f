// path: cold
#include "actors/bridge/bridge_client.h"

#include "actors/peer/tcp.h"
#include "config/time_units.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace pinstrike::actors::bridge {
namespace {

constexpr std::int64_t connect_every_ns = 500'000'000;
constexpr std::int64_t open_within_ns = 5 * second_ns;

}  // namespace

bool BridgeClient::open(const std::string& address, const peer::TlsConfig& tls,
                        Problems& problems) {
    const auto at = nic::parse_group(address);
    if (!at) {
        add_problem(problems, "",
                    "\"" + address + "\" is no IPv4 address and port such as 192.0.2.7:9480");
        return false;
    }
    address_ = address;
    at_ = *at;
    tls_ = peer::open_tls(tls, "tls", problems);
    return tls_ != nullptr;
}

std::size_t BridgeClient::step(std::int64_t now_ns) {
    std::size_t done = 0;
    if (socket_ == nullptr && !leaves_ && now_ns >= times_.connect_due_ns) {
        connect(now_ns);
    }
    if (socket_ != nullptr && (joined_ || !leaves_)) {  // no handshake is completed for leaving
        move_bytes(now_ns, done);
    }
    done += joiner_.step(now_ns);
    if (socket_ != nullptr) {
        using State = peer::Channel::State;
        const State state = socket_->state();
        const bool broken = socket_->is_over();
        const bool late =
            state == State::opening && (now_ns - times_.since_ns > open_within_ns || leaves_);
        if (broken && joined_) {
            joiner_.lose(state == State::closed ? "the serving host closed the connection"
                                                : socket_->fault());
        }
        const bool ends = joined_ && joiner_.end() != Joiner::End::none;
        if (ends && times_.ended_ns == 0) {
            times_.ended_ns = now_ns;
        }
        const bool flushed = !ends || broken || joiner_.end() == Joiner::End::down ||
                             (joiner_.output().empty() && !sent_last_frame_) ||
                             now_ns - times_.ended_ns > leave_within_ns;
        if (late || (broken && !joined_) || (ends && flushed)) {
            close(now_ns);
        }
    }
    gauges_.live.set(joiner_.is_live() ? 1 : 0);
    gauges_.open_lines.set(joiner_.carried().open_lines());
    return done;
}

void BridgeClient::connect(std::int64_t now_ns) {
    nic::FileDescriptor socket = peer::connect_to(at_);
    if (!socket.valid()) {
        note_failure(std::strerror(errno));
        times_.connect_due_ns = now_ns + connect_every_ns;
        return;
    }
    socket_ = std::make_unique<peer::Channel>(std::move(socket), tls_.get(), false);
    times_.since_ns = now_ns;
    times_.ended_ns = 0;
}

void BridgeClient::move_bytes(std::int64_t now_ns, std::size_t& done) {
    if (socket_->advance() != peer::Channel::State::open) {
        return;
    }
    if (!joined_) {
        joined_ = true;
        joiner_.connect(address_, now_ns);
        note_(BridgeNote::up, address_, "connected, with a certificate of the authority");
        noted_.clear();
    }
    if (joiner_.end() == Joiner::End::none) {
        if (const std::size_t received = socket_->read(joiner_.space()); received != 0) {
            joiner_.receive(received, now_ns);
            done += received;
        }
    } else if (sent_last_frame_) {
        done += socket_->skip();
    }
    if (!joiner_.output().empty()) {
        const std::size_t sent = socket_->write(joiner_.output());
        joiner_.sent(sent);
        done += sent;
    }
}

/// Notes why an attempt to connect failed. The same reason is noted once.
void BridgeClient::note_failure(const std::string& why) {
    if (why != noted_) {
        note_(BridgeNote::down, address_, why);
    }
    why_ = noted_ = why;
}

void BridgeClient::close(std::int64_t now_ns) {
    if (joined_) {
        why_ = noted_ = joiner_.why();
        note_(joiner_.end() == Joiner::End::down      ? BridgeNote::down
              : joiner_.end() == Joiner::End::refused ? BridgeNote::refused
                                                      : BridgeNote::left,
              address_, why_);
    } else if (!leaves_) {
        note_failure(socket_->fault().empty() ? "no connection, or no handshake, within 5 s"
                                              : socket_->fault());
    }
    socket_.reset();
    if (std::exchange(joined_, false)) {
        joiner_.disconnect();
        ended_ = true;
    }
    times_.connect_due_ns = now_ns + connect_every_ns;
}

bool BridgeClient::take_end(std::string& why) {
    why = why_;
    return std::exchange(ended_, false);
}

void BridgeClient::wait(std::int64_t timeout_ns) {
    pollfd waits{-1, POLLIN, 0};
    if (socket_ != nullptr) {
        const bool reads = !joined_ || joiner_.end() == Joiner::End::none;
        const bool writes = socket_->waits_to_write() || (joined_ && !joiner_.output().empty());
        waits = {socket_->descriptor(),
                 static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
    }
    const timespec time{.tv_sec = timeout_ns / second_ns, .tv_nsec = timeout_ns % second_ns};
    ::ppoll(&waits, 1, &time, nullptr);
}

void BridgeClient::leave() {
    leaves_ = true;
    if (joined_) {
        sent_last_frame_ = sent_last_frame_ || joiner_.end() == Joiner::End::none;
        joiner_.leave("the joining side ended");
    }
}

}  // namespace pinstrike::actors::bridge
