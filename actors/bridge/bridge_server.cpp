// path: cold
#include "actors/bridge/bridge_server.h"

#include "actors/market/reader_keys.h"
#include "actors/peer/tcp.h"
#include "config/time_units.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

namespace pinstrike::actors::bridge {
namespace {

/// Handshake and first frame of a connection must come in this time.
constexpr std::int64_t greet_within_ns = 5 * second_ns;
constexpr std::int64_t accept_every_ns = ms_ns;

}  // namespace

bool BridgeServer::open(const std::string& address, const peer::TlsConfig& tls,
                        Problems& problems) {
    tls_ = peer::open_tls(tls, "tls", problems);
    if (tls_ == nullptr) {
        return false;
    }
    listener_ = peer::listen_at(endpoint_of(address), 16);
    if (!listener_.valid()) {
        add_problem(problems, "",
                    fmt::format("listen: cannot listen at {}: {}", address, std::strerror(errno)),
                    remedy_of(errno));
        return false;
    }
    note_(BridgeNote::open, "bridge", fmt::format("serves feed {} at {}", feed_, address));
    return true;
}

std::uint16_t BridgeServer::port() const {
    return peer::local_address(listener_.get()).port;
}

std::size_t BridgeServer::step(std::int64_t now_ns) {
    std::size_t done = leaves_ ? 0 : accept(now_ns);
    for (const auto& connection : connections_) {
        done += step(*connection, now_ns);
    }
    std::erase_if(connections_, [&](const auto& connection) {
        const bool over = is_over(*connection, now_ns);
        if (over) {
            note_end(*connection);
        }
        return over;
    });
    take_gauges();
    return done;
}

/// Looks for a connection at most once a millisecond, because accept4() allocates a socket also if
/// no connection waits.
std::size_t BridgeServer::accept(std::int64_t now_ns) {
    if (now_ns < accept_due_ns_) {
        return 0;
    }
    accept_due_ns_ = now_ns + accept_every_ns;
    nic::Group from;
    nic::FileDescriptor socket = peer::accept_from(listener_.get(), from);
    if (!socket.valid()) {
        return 0;
    }
    std::string text = nic::text_of(from);
    counters_.bump(ServeCount::connections);
    if (connections_.size() >= connections_max_) {
        counters_.bump(ServeCount::refused);
        note_(BridgeNote::refused, text,
              fmt::format("{} connections are open (connections_max)", connections_.size()));
        return 1;
    }
    connections_.push_back(std::make_unique<Connection>(std::move(socket), tls_, std::move(text),
                                                        feed_, counters_, now_ns));
    return 1;
}

std::size_t BridgeServer::step(Connection& connection, std::int64_t now_ns) {
    using State = peer::Channel::State;
    peer::Channel& socket = connection.socket;
    ServeSession& session = connection.session;
    if (socket.advance() == State::opening) {
        return 0;
    }
    std::size_t done = 0;
    if (session.end() == ServeSession::End::none) {
        const std::size_t received = socket.read(session.space());
        if (received != 0) {
            session.receive(received, now_ns);
            done += received;
        }
        done += session.produce(now_ns);
        if (!std::exchange(connection.greeted, session.is_greeted()) && connection.greeted) {
            note_(BridgeNote::up, connection.address,
                  "joined, with a certificate of the authority");
        }
        note_obstacle(connection);
    } else if (session.sent_last_frame()) {
        done += socket.skip();
    }
    if (session.end() != ServeSession::End::down && !session.output().empty()) {
        const std::size_t sent = socket.write(session.output());
        session.sent(sent);
        done += sent;
    }
    if (socket.is_over()) {
        session.lose(socket.state() == State::closed ? "the joining host closed the connection"
                                                     : socket.fault());
    }
    if (session.end() != ServeSession::End::none && connection.ended_ns == 0) {
        connection.ended_ns = now_ns;
    }
    return done;
}

bool BridgeServer::is_over(const Connection& connection, std::int64_t now_ns) const {
    const ServeSession& session = connection.session;
    if (session.end() == ServeSession::End::none) {
        return connection.socket.is_over() ||
               (!connection.greeted && (now_ns - connection.since_ns > greet_within_ns || leaves_));
    }
    const bool broken = connection.socket.state() != peer::Channel::State::open;
    const bool flushed = session.output().empty() && !session.sent_last_frame();
    return session.end() == ServeSession::End::down || flushed || broken ||
           now_ns - connection.ended_ns > leave_within_ns;
}

/// Each reason once: the session tries again until the feed can be followed.
void BridgeServer::note_obstacle(Connection& connection) {
    const std::string& obstacle = connection.session.obstacle();
    if (obstacle == connection.obstacle) {
        return;
    }
    connection.obstacle = obstacle;
    note_(BridgeNote::feed, connection.address,
          obstacle.empty() ? fmt::format("gets feed {}", feed_)
                           : fmt::format("does not get feed {}: {}", feed_, obstacle));
}

void BridgeServer::note_end(const Connection& connection) {
    const ServeSession& session = connection.session;
    if (!connection.greeted) {
        counters_.bump(ServeCount::refused);
        const std::string& fault = connection.socket.fault();
        return note_(BridgeNote::refused, connection.address,
                     !session.why().empty() && fault.empty() ? session.why()
                     : fault.empty() ? "no handshake, or no first frame, within 5 s"
                                     : fault);
    }
    switch (session.end()) {
        case ServeSession::End::left:
            counters_.bump(ServeCount::left);
            return note_(BridgeNote::left, connection.address, session.why());
        case ServeSession::End::refused:
            counters_.bump(ServeCount::refused);
            return note_(BridgeNote::refused, connection.address, session.why());
        default:
            counters_.bump(ServeCount::downs);
            return note_(BridgeNote::down, connection.address, session.why());
    }
}

void BridgeServer::take_gauges() {
    std::uint64_t current = 0;
    std::uint64_t untaken = 0;
    for (const auto& connection : connections_) {
        current += connection->session.is_current() ? 1 : 0;
        untaken += connection->session.untaken();
    }
    current_.set(current);
    open_.set(connections_.size());
    untaken_.set(untaken);
}

/// Bytes that come on a connection whose session has ended are not wanted, so nothing waits for
/// them.
void BridgeServer::wait(std::int64_t timeout_ns) {
    std::vector<pollfd> waits{{leaves_ ? -1 : listener_.get(), POLLIN, 0}};
    for (const auto& connection : connections_) {
        const bool reads = connection->session.end() == ServeSession::End::none;
        const bool writes =
            connection->socket.waits_to_write() || !connection->session.output().empty();
        waits.push_back({connection->socket.descriptor(),
                         static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0});
    }
    const timespec time{.tv_sec = timeout_ns / second_ns, .tv_nsec = timeout_ns % second_ns};
    ::ppoll(waits.data(), waits.size(), &time, nullptr);
}

void BridgeServer::leave() {
    leaves_ = true;
    for (const auto& connection : connections_) {
        connection->session.leave("the serving side ended");
    }
}

}  // namespace pinstrike::actors::bridge
