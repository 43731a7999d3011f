// path: cold
#include "actors/peer/client.h"

#include "actors/peer/link.h"
#include "nic/packet/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace pinstrike::actors::peer {

using Tcp = asio::ip::tcp;

/// The connections of a client, of which at most one is open at a time.
class Client::Connection final : public LinkEnd {
  public:
    Connection(const nic::Group& at, const Identity& identity, asio::ssl::context* tls,
               BlockReader read_block, PeerListener listener, ClientStatus& status)
        : at_(at),
          identity_(identity),
          tls_(tls),
          read_block_(std::move(read_block)),
          listener_(std::move(listener)),
          status_(status) {
        // Opens the descriptors of the io_context now, because the caller can report a failure
        // here.
        const Tcp::socket first{io_};
    }

    ~Connection() override {
        if (link_) {
            link_->leave();
        }
    }

    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    std::optional<feed::Refusal> request(const feed::RepairRequest& request, std::int64_t now_ns) {
        if (!session_) {
            return feed::Refusal::not_connected;
        }
        const auto refusal = session_->request(request, now_ns);
        link_->flush();
        return refusal;
    }

    bool request_state(const std::vector<std::uint16_t>& lines, StateTaker& taker) {
        if (!session_ || !session_->request_state(lines, taker)) {
            return false;
        }
        link_->flush();
        return true;
    }

    void cancel(std::uint64_t id) {
        if (session_) {
            session_->cancel(id);
        }
    }

    std::size_t step(std::int64_t now_ns, feed::RepairAnswers& answers) {
        now_ns_ = now_ns;
        answers_ = &answers;
        const std::size_t done = poll(io_);
        if (session_) {
            session_->step(now_ns, answers);
            link_->flush();
            look_after_session();
        } else if (socket_ || link_) {
            look_after_attempt();
        } else if (now_ns >= try_ns_) {
            connect();
        }
        answers_ = nullptr;
        status_.connected.set(session_ && session_->open() ? 1 : 0);
        return done;
    }

    // LinkEnd. The link calls these functions only within step().

    void begun(std::vector<std::byte> keying_material) override {
        Nonce nonce{};
        if (!draw(nonce)) {
            return link_->close();
        }
        session_.emplace(identity_, limits_, read_block_, status_.counters, nonce, keying_material,
                         now_ns_);
    }

    void received(std::span<const std::byte> bytes) override {
        session_->receive(bytes, now_ns_, *answers_);
    }

    std::span<const std::byte> output() const override { return session_->output(); }

    void sent(std::size_t count) override { session_->sent(count, now_ns_); }

    bool ended() const override { return session_->ended(); }

  private:
    void connect() {
        begun_ns_ = now_ns_;
        socket_.emplace(io_);
        // The handler ignores the result of an attempt that was given up, because socket_ may
        // belong to a later attempt by then.
        socket_->async_connect(
            endpoint_of(at_), [this, attempt = ++attempt_](const asio::error_code& error) {
                if (attempt != attempt_ || !socket_) {
                    return;
                }
                if (error) {
                    return give_up(error.message());
                }
                link_ = std::make_shared<Link>(make_channel(std::move(*socket_), tls_), *this);
                socket_.reset();
                link_->start(Role::client);
            });
    }

    /// Called while the TCP connection or the TLS handshake is in progress.
    void look_after_attempt() {
        if (link_ && link_->closed()) {
            give_up("TLS: " + link_->fault());
        } else if (now_ns_ - begun_ns_ >= limits_.authenticate_within_ns) {
            give_up("no answer");
        }
    }

    void look_after_session() {
        if (link_->closed()) {
            session_->close(SessionEnd::closed, *answers_);
        }
        if (session_->open() && !reported_open_) {
            reported_open_ = true;
            pause_ns_ = pause_least_ns;
            notify(PeerEvent::Kind::connected, "missing messages can be requested from it");
        }
        if (!session_->ended()) {
            return;
        }
        if (const auto why = session_->why()) {
            const bool by_peer = session_->end() == SessionEnd::was_refused;
            pause_ns_ = pause_most_ns;  // because an operator has to fix something first
            notify(PeerEvent::Kind::refused,
                   fmt::format("{}, {}: {}", by_peer ? "it refused" : "refused", row_of(*why).name,
                               row_of(*why).sentence));
        } else if (reported_open_) {
            notify(PeerEvent::Kind::lost, link_->with_fault(row_of(*session_->end()).sentence));
        } else if (!link_->fault().empty()) {
            // With TLS 1.3 the peer's refusal of the certificate comes after the handshake here.
            notify(PeerEvent::Kind::lost,
                   link_->with_fault("the connection ended before both sides were authenticated"));
        } else {
            notify(PeerEvent::Kind::lost,
                   "it closed the connection at once: does it have this address in its config, and "
                   "TLS?");
        }
        drop();
    }

    void give_up(const std::string& reason) {
        notify(PeerEvent::Kind::lost, "it cannot be reached: " + reason);
        drop();
    }

    void drop() {
        if (link_) {
            link_->leave();
            link_.reset();
        }
        socket_.reset();
        session_.reset();
        reported_open_ = false;
        try_ns_ = now_ns_ + pause_ns_;
        pause_ns_ = std::min(2 * pause_ns_, pause_most_ns);
    }

    void notify(PeerEvent::Kind kind, std::string text) {
        listener_({kind, status_.peer, std::move(text)});
    }

    nic::Group at_;
    const Identity& identity_;
    SessionLimits limits_;
    asio::ssl::context* tls_;
    BlockReader read_block_;
    PeerListener listener_;
    ClientStatus& status_;
    std::int64_t now_ns_ = 0;
    feed::RepairAnswers* answers_ = nullptr;  // not null only within step()
    std::int64_t try_ns_ = 0;
    std::int64_t pause_ns_ = pause_least_ns;
    std::int64_t begun_ns_ = 0;
    std::uint64_t attempt_ = 0;
    bool reported_open_ = false;
    asio::io_context io_{1};
    std::optional<Tcp::socket> socket_;  // only while the TCP connect is in progress
    std::shared_ptr<Link> link_;
    std::optional<ClientSession> session_;
};

Client::Client(const nic::Group& at, const Identity& identity, asio::ssl::context* tls,
               BlockReader read_block, PeerListener listener, ClientStatus& status)
    : name_("peer " + status.peer),
      status_(status),
      connection_(std::make_unique<Connection>(at, identity, tls, std::move(read_block),
                                               std::move(listener), status)) {}

Client::~Client() {
    status_.connected.set(0);
}

std::optional<feed::Refusal> Client::request(const feed::RepairRequest& request,
                                             std::int64_t now_ns) {
    return connection_->request(request, now_ns);
}

bool Client::request_state(const std::vector<std::uint16_t>& lines) {
    return taker_ != nullptr && connection_->request_state(lines, *taker_);
}

void Client::cancel(std::uint64_t id) {
    connection_->cancel(id);
}

std::size_t Client::step(std::int64_t now_ns, feed::RepairAnswers& answers) {
    return connection_->step(now_ns, answers);
}

}  // namespace pinstrike::actors::peer
