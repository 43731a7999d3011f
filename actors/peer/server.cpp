// path: cold
#include "actors/peer/server.h"

#include "actors/peer/tcp.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace pinstrike::actors::peer {

namespace {

/// The time that the peer has to read the last frames after a session has ended.
constexpr std::int64_t farewell_ns = 1'000'000'000;
/// The time in which the server accepts no connection after accept() failed.
constexpr std::int64_t pause_ns = 1'000'000'000;
constexpr std::size_t connections_each_step = 64;

SessionLimits limits_of(const PeerConfig& config) {
    SessionLimits limits;
    limits.requests_per_second = config.requests_per_second;
    limits.messages_per_second = config.messages_per_second;
    return limits;
}

}  // namespace

class Server::Connection {
  public:
    Connection(nic::FileDescriptor socket, ssl_ctx_st* tls, nic::Ipv4 peer, Shared& shared)
        : shared_(shared),
          peer_(peer),
          begun_ns_(shared.now_ns),
          channel_(std::move(socket), tls, true) {}

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Adds to `done` how many bytes it moved. Returns false if the connection has ended and can be
    /// dropped.
    bool step(std::size_t& done) {
        const std::int64_t now_ns = shared_.now_ns;
        if (!session_ && !begin()) {
            const bool late = now_ns - begun_ns_ >= shared_.limits.authenticate_within_ns;
            if (channel_.is_over() || late) {
                report(PeerEvent::Kind::turned_away,
                       "the TLS handshake failed: " + (late ? "too slow" : channel_.fault()));
            }
            return !channel_.is_over() && !late;
        }
        done += channel_.pass(*session_, now_ns, [&](std::span<const std::byte> bytes) {
            session_->receive(bytes, now_ns);
        });
        session_->step(now_ns);
        done += channel_.write_output(*session_, now_ns);
        if (channel_.is_over()) {
            session_->close(SessionEnd::closed);
        }
        report_changes();
        if (!session_->ended()) {
            return true;
        }
        ended_ns_ = ended_ns_ == 0 ? now_ns : ended_ns_;
        return !channel_.is_over() && now_ns - ended_ns_ < farewell_ns;
    }

    void stop() {
        if (session_) {
            session_->close(SessionEnd::stopped);
        }
    }

    [[nodiscard]] nic::Ipv4 peer() const { return peer_; }

    /// True if the other side has proved that it knows the secret.
    [[nodiscard]] bool proven() const { return session_ && session_->open(); }

    /// Called before the server drops the connection for a newer one.
    void give_way() {
        if (session_ && !session_->ended()) {
            session_->close(SessionEnd::gave_way);
            report_changes();
        } else if (!session_) {
            shared_.counters.ends.bump(SessionEnd::gave_way);
            report(PeerEvent::Kind::turned_away,
                   std::string{row_of(SessionEnd::gave_way).sentence});
        }
    }

  private:
    /// Begins the session. Returns false while the TLS handshake is in progress.
    bool begin() {
        Nonce nonce{};
        if (channel_.advance() != Channel::State::open || !draw(nonce)) {
            return false;
        }
        session_.emplace(shared_.identity, shared_.limits, shared_.history, shared_.counters, nonce,
                         channel_.keying_material(), shared_.now_ns);
        session_->set_state_giver(shared_.giver);
        return true;
    }

    void report(PeerEvent::Kind kind, std::string text) {
        shared_.listener({kind, nic::text_of(peer_), std::move(text)});
    }

    void report_changes() {
        if (session_->open() && !reported_open_) {
            reported_open_ = true;
            report(PeerEvent::Kind::connected, "it can request missing messages");
        }
        if (!session_->ended() || reported_end_) {
            return;
        }
        reported_end_ = true;
        if (const auto why = session_->why()) {
            report(reported_open_ ? PeerEvent::Kind::refused : PeerEvent::Kind::turned_away,
                   fmt::format("refused, {}: {}", row_of(*why).name, row_of(*why).sentence));
        } else {
            report(reported_open_ ? PeerEvent::Kind::lost : PeerEvent::Kind::turned_away,
                   channel_.with_fault(row_of(*session_->end()).sentence));
        }
    }

    Shared& shared_;
    nic::Ipv4 peer_;
    std::int64_t begun_ns_;
    std::int64_t ended_ns_ = 0;
    bool reported_open_ = false;
    bool reported_end_ = false;
    Channel channel_;
    std::optional<ServerSession> session_;
};

Server::Server(const PeerConfig& config, const Identity& identity, ssl_ctx_st* tls,
               feed::History& history, StateGiver* giver, PeerListener listener)
    : config_(config),
      tls_(tls),
      shared_{identity, limits_of(config), history, giver, counters_, std::move(listener)},
      socket_(listen_at(config.listen, SOMAXCONN)) {}

Server::~Server() {
    for (Connection& each : open_) {
        each.stop();
    }
}

std::unique_ptr<Server> Server::open(const PeerConfig& config, const Identity& identity,
                                     ssl_ctx_st* tls, feed::History& history, StateGiver* giver,
                                     PeerListener listener, Problems& problems) {
    std::unique_ptr<Server> server(
        new Server(config, identity, tls, history, giver, std::move(listener)));
    if (!server->socket_.valid()) {
        const int error = errno;
        add_problem(
            problems, Place{},
            fmt::format("peer.listen: {}: {}", nic::text_of(config.listen), std::strerror(error)),
            remedy_of(error));
        return nullptr;
    }
    server->port_ = local_address(server->socket_.get()).port;
    return server;
}

std::size_t Server::step(std::int64_t now_ns) {
    shared_.now_ns = now_ns;
    std::size_t done = now_ns >= resume_ns_ ? accept() : 0;
    open_.remove_if([&done](Connection& each) { return !each.step(done); });
    connections_.set(open_.size());
    return done;
}

/// Takes the connections that wait. Asks first, because accept4() allocates a socket also if no
/// connection waits.
std::size_t Server::accept() {
    pollfd waits{socket_.get(), POLLIN, 0};
    if (::poll(&waits, 1, 0) <= 0) {
        return 0;
    }
    std::size_t taken = 0;
    for (; taken < connections_each_step; ++taken) {
        nic::Group from;
        nic::FileDescriptor socket = accept_from(socket_.get(), from);
        const int error = errno;
        if (socket.valid()) {
            accept(std::move(socket), from.address);
        } else if (error == EAGAIN) {
            break;
        } else if (error != ECONNABORTED && error != EINTR) {
            return pause(error);
        }
    }
    return taken;
}

/// Pauses because the connection stays in the kernel's backlog, and accept() would fail again at
/// once.
std::size_t Server::pause(int error) {
    resume_ns_ = shared_.now_ns + pause_ns;
    counters_.counts.bump(ServerCount::untaken);
    shared_.listener({PeerEvent::Kind::turned_away, nic::text_of(config_.listen),
                      fmt::format("peer.listen: connections cannot be accepted for 1 s: {}",
                                  std::strerror(error))});
    return 0;
}

void Server::accept(nic::FileDescriptor socket, nic::Ipv4 peer) {
    const auto turn_away = [&](ServerCount which, const char* why) {
        counters_.counts.bump(which);
        shared_.listener({PeerEvent::Kind::turned_away, nic::text_of(peer), why});
    };
    if (!is_listed(peer)) {
        turn_away(ServerCount::unlisted, "its address is not configured");
    } else if (open_.size() >= config_.connections_max && !make_way()) {
        turn_away(ServerCount::crowded,
                  "connections_max connections are open, and all are authenticated");
    } else {
        open_.emplace_back(std::move(socket), tls_, peer, shared_);
    }
}

/// Drops the oldest unproven connection of the address that has the most of them, so that one
/// address with many connections cannot keep others out. Returns false if all connections are
/// proven.
bool Server::make_way() {
    std::map<std::uint32_t, std::size_t> unproven;
    for (const Connection& each : open_) {
        unproven[each.peer().value] += each.proven() ? 0 : 1;
    }
    const auto most = std::max_element(
        unproven.begin(), unproven.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    const auto oldest = std::find_if(open_.begin(), open_.end(), [&most](const Connection& each) {
        return !each.proven() && each.peer().value == most->first;
    });
    if (oldest == open_.end()) {
        return false;
    }
    oldest->give_way();
    open_.erase(oldest);
    return true;
}

bool Server::is_listed(nic::Ipv4 address) const {
    return std::any_of(config_.connect.begin(), config_.connect.end(),
                       [&](const nic::Group& at) { return at.address == address; }) ||
           std::any_of(config_.allow.begin(), config_.allow.end(),
                       [&](const nic::Subnet& in) { return in.contains(address.value); });
}

}  // namespace pinstrike::actors::peer
