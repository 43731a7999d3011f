// path: cold
//
// Listens for peers, accepts those whose address is configured, and runs their sessions. One cold
// thread calls step(), and no call blocks.
#pragma once

#include "actors/peer/channel.h"
#include "actors/peer/peer_config.h"
#include "actors/peer/peer_event.h"
#include "actors/peer/server_session.h"
#include "actors/peer/state_ends.h"
#include "config/counter.h"
#include "config/problem.h"
#include "nic/file_descriptor.h"
#include "nic/packet/address.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

namespace pinstrike::actors::peer {

class Server {
  public:
    /// Returns null and adds a problem if the address cannot be bound. If `tls` is null,
    /// connections are not encrypted. If `giver` is null, no state is sent. `identity`, `tls`,
    /// `history`, `giver` and the objects that `listener` uses must outlive the server.
    [[nodiscard]] static std::unique_ptr<Server> open(const PeerConfig& config,
                                                      const Identity& identity, ssl_ctx_st* tls,
                                                      feed::History& history, StateGiver* giver,
                                                      PeerListener listener, Problems& problems);
    ~Server();

    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Returns how much it did.
    std::size_t step(std::int64_t now_ns);

    // Any thread may call these.

    [[nodiscard]] const ServerCounters& counters() const { return counters_; }

    /// Connections that are open now, including unauthenticated ones.
    [[nodiscard]] std::uint64_t connections() const { return connections_.read(); }

    [[nodiscard]] std::uint16_t port() const { return port_; }

  private:
    class Connection;

    /// What all connections share.
    struct Shared {
        const Identity& identity;
        SessionLimits limits;
        feed::History& history;
        StateGiver* giver;
        ServerCounters& counters;
        PeerListener listener;
        std::int64_t now_ns = 0;
    };

    Server(const PeerConfig& config, const Identity& identity, ssl_ctx_st* tls,
           feed::History& history, StateGiver* giver, PeerListener listener);

    std::size_t accept();
    void accept(nic::FileDescriptor socket, nic::Ipv4 peer);
    std::size_t pause(int error);
    bool make_way();
    [[nodiscard]] bool is_listed(nic::Ipv4 address) const;

    PeerConfig config_;
    ssl_ctx_st* tls_;
    ServerCounters counters_;
    Shared shared_;
    Counter connections_;
    std::uint16_t port_ = 0;
    nic::FileDescriptor socket_;
    std::int64_t resume_ns_ = 0;  ///< when it accepts connections again
    std::list<Connection> open_;
};

}  // namespace pinstrike::actors::peer
