// path: cold
#include "actors/peer/server.h"

#include "actors/peer/link.h"
#include "nic/packet/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <utility>

namespace pinstrike::actors::peer {

namespace {

using Tcp = asio::ip::tcp;

/// The time that the peer has to read the last frames after a session has ended.
constexpr std::int64_t farewell_ns = 1'000'000'000;
/// The time in which the server accepts no connection after accept() failed.
constexpr std::int64_t pause_ns = 1'000'000'000;

/// State that all connections of a server share.
struct Shared {
    const Identity& identity;
    SessionLimits limits;
    feed::History& history;
    StateGiver* giver;
    ServerCounters& counters;
    std::int64_t now_ns = 0;
};

class Connection final : public LinkEnd {
  public:
    Connection(Tcp::socket socket, asio::ssl::context* tls, nic::Ipv4 peer, Shared& shared)
        : shared_(shared),
          peer_(peer),
          begun_ns_(shared.now_ns),
          link_(std::make_shared<Link>(make_channel(std::move(socket), tls), *this)) {
        link_->start(Role::server);
    }

    ~Connection() override { link_->leave(); }

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    void begun(std::vector<std::byte> keying_material) override {
        Nonce nonce{};
        if (!draw(nonce)) {
            return link_->close();
        }
        session_.emplace(shared_.identity, shared_.limits, shared_.history, shared_.counters, nonce,
                         keying_material, shared_.now_ns);
        session_->set_state_giver(shared_.giver);
    }

    void received(std::span<const std::byte> bytes) override {
        session_->receive(bytes, shared_.now_ns);
    }

    std::span<const std::byte> output() const override { return session_->output(); }

    void sent(std::size_t count) override { session_->sent(count, shared_.now_ns); }

    bool ended() const override { return session_->ended(); }

    /// Returns false if the connection has ended and can be dropped.
    bool step(const PeerListener& listener) {
        const std::int64_t now_ns = shared_.now_ns;
        if (!session_) {  // the TLS handshake is in progress
            const bool late = now_ns - begun_ns_ >= shared_.limits.authenticate_within_ns;
            if (link_->closed() || late) {
                listener({PeerEvent::Kind::turned_away, nic::text_of(peer_),
                          "the TLS handshake failed: " + (late ? "too slow" : link_->fault())});
                return false;
            }
            return true;
        }
        session_->step(now_ns);
        link_->flush();
        if (link_->closed()) {
            session_->close(SessionEnd::closed);
        }
        report_changes(listener);
        if (!session_->ended()) {
            return true;
        }
        ended_ns_ = ended_ns_ == 0 ? now_ns : ended_ns_;
        return !link_->closed() && now_ns - ended_ns_ < farewell_ns;
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
    void give_way(const PeerListener& listener) {
        if (session_ && !session_->ended()) {
            session_->close(SessionEnd::gave_way);
            return report_changes(listener);
        }
        if (!session_) {
            shared_.counters.ends.bump(SessionEnd::gave_way);
            listener({PeerEvent::Kind::turned_away, nic::text_of(peer_),
                      std::string{row_of(SessionEnd::gave_way).sentence}});
        }
    }

  private:
    void report_changes(const PeerListener& listener) {
        if (session_->open() && !reported_open_) {
            reported_open_ = true;
            listener({PeerEvent::Kind::connected, nic::text_of(peer_),
                      "it can request missing messages"});
        }
        if (!session_->ended() || reported_end_) {
            return;
        }
        reported_end_ = true;
        if (const auto why = session_->why()) {
            listener({reported_open_ ? PeerEvent::Kind::refused : PeerEvent::Kind::turned_away,
                      nic::text_of(peer_),
                      fmt::format("refused, {}: {}", row_of(*why).name, row_of(*why).sentence)});
        } else {
            listener({reported_open_ ? PeerEvent::Kind::lost : PeerEvent::Kind::turned_away,
                      nic::text_of(peer_), link_->with_fault(row_of(*session_->end()).sentence)});
        }
    }

    Shared& shared_;
    nic::Ipv4 peer_;
    std::int64_t begun_ns_;
    std::int64_t ended_ns_ = 0;
    bool reported_open_ = false;
    bool reported_end_ = false;
    std::optional<ServerSession> session_;
    std::shared_ptr<Link> link_;
};

}  // namespace

class Server::Listener {
  public:
    Listener(const PeerConfig& config, const Identity& identity, asio::ssl::context* tls,
             feed::History& history, StateGiver* giver, PeerListener listener, Server& server)
        : config_(config),
          tls_(tls),
          listener_(std::move(listener)),
          shared_{identity, limits_of(config), history, giver, server.counters_},
          server_(server),
          acceptor_(io_) {}

    /// Binds the address, listens and starts to accept. Returns the first error.
    asio::error_code listen() {
        asio::error_code error;
        const Tcp::endpoint at = endpoint_of(config_.listen);
        acceptor_.open(at.protocol(), error);
        if (!error) {
            acceptor_.set_option(Tcp::acceptor::reuse_address(true), error);
        }
        if (!error) {
            acceptor_.bind(at, error);
        }
        if (!error) {
            acceptor_.listen(Tcp::acceptor::max_listen_connections, error);
        }
        if (!error) {
            server_.port_ = acceptor_.local_endpoint(error).port();
            accept();
        }
        return error;
    }

    std::size_t step(std::int64_t now_ns) {
        shared_.now_ns = now_ns;
        if (paused_ && now_ns >= resume_ns_) {
            paused_ = false;
            accept();
        }
        const std::size_t done = poll(io_);
        connections_.remove_if([this](Connection& each) { return !each.step(listener_); });
        server_.connections_.set(connections_.size());
        return done;
    }

    void stop() {
        for (Connection& each : connections_) {
            each.stop();
        }
    }

  private:
    static SessionLimits limits_of(const PeerConfig& config) {
        SessionLimits limits;
        limits.requests_per_second = config.requests_per_second;
        limits.messages_per_second = config.messages_per_second;
        return limits;
    }

    void accept() {
        acceptor_.async_accept([this](const asio::error_code& error, Tcp::socket socket) {
            if (error == asio::error::operation_aborted) {
                return;
            }
            if (error) {
                return pause(error);
            }
            accept(std::move(socket));
            accept();
        });
    }

    /// Pauses because the connection stays in the kernel's backlog, and accept() would fail again
    /// at once.
    void pause(const asio::error_code& error) {
        paused_ = true;
        resume_ns_ = shared_.now_ns + pause_ns;
        server_.counters_.counts.bump(ServerCount::untaken);
        listener_({PeerEvent::Kind::turned_away, nic::text_of(config_.listen),
                   fmt::format("peer.listen: connections cannot be accepted for 1 s: {}",
                               error.message())});
    }

    void accept(Tcp::socket socket) {
        asio::error_code error;
        const auto remote = socket.remote_endpoint(error);
        if (error) {
            return;  // the peer has already closed the connection
        }
        const nic::Ipv4 peer{remote.address().to_v4().to_uint()};
        if (!is_listed(peer)) {
            server_.counters_.counts.bump(ServerCount::unlisted);
            listener_({PeerEvent::Kind::turned_away, nic::text_of(peer),
                       "its address is not configured"});
        } else if (connections_.size() >= config_.connections_max && !make_way()) {
            server_.counters_.counts.bump(ServerCount::crowded);
            listener_({PeerEvent::Kind::turned_away, nic::text_of(peer),
                       "connections_max connections are open, and all are authenticated"});
        } else {
            connections_.emplace_back(std::move(socket), tls_, peer, shared_);
        }
    }

    /// Drops the oldest unproven connection of the address that has the most of them, so that one
    /// address with many connections cannot keep others out. Returns false if all connections are
    /// proven.
    bool make_way() {
        std::map<std::uint32_t, std::size_t> unproven;
        for (const Connection& each : connections_) {
            unproven[each.peer().value] += each.proven() ? 0 : 1;
        }
        const auto most = std::max_element(
            unproven.begin(), unproven.end(),
            [](const auto& one, const auto& other) { return one.second < other.second; });
        const auto oldest =
            std::find_if(connections_.begin(), connections_.end(), [&most](const Connection& each) {
                return !each.proven() && each.peer().value == most->first;
            });
        if (oldest == connections_.end()) {
            return false;
        }
        oldest->give_way(listener_);
        connections_.erase(oldest);
        return true;
    }

    bool is_listed(nic::Ipv4 address) const {
        return std::any_of(config_.connect.begin(), config_.connect.end(),
                           [&](const nic::Group& at) { return at.address == address; }) ||
               std::any_of(config_.allow.begin(), config_.allow.end(),
                           [&](const nic::Subnet& in) { return in.contains(address.value); });
    }

    PeerConfig config_;
    asio::ssl::context* tls_;
    PeerListener listener_;
    Shared shared_;
    Server& server_;
    asio::io_context io_{1};
    Tcp::acceptor acceptor_;
    bool paused_ = false;
    std::int64_t resume_ns_ = 0;
    std::list<Connection> connections_;
};

Server::Server() = default;

Server::~Server() {
    if (listener_) {  // null if the constructor of Listener threw
        listener_->stop();
    }
}

std::unique_ptr<Server> Server::open(const PeerConfig& config, const Identity& identity,
                                     asio::ssl::context* tls, feed::History& history,
                                     StateGiver* giver, PeerListener listener, Problems& problems) {
    std::unique_ptr<Server> server(new Server);
    server->listener_ = std::make_unique<Listener>(config, identity, tls, history, giver,
                                                   std::move(listener), *server);
    if (const asio::error_code error = server->listener_->listen()) {
        pinstrike::add_problem(
            problems, Place{},
            fmt::format("peer.listen: {}: {}", nic::text_of(config.listen), error.message()),
            remedy_of(error.value()));
        return nullptr;
    }
    return server;
}

std::size_t Server::step(std::int64_t now_ns) {
    return listener_->step(now_ns);
}

}  // namespace pinstrike::actors::peer
