// path: cold
//
// Listens for peers, accepts those whose address is configured, and runs their sessions. One cold
// thread calls step(), and no call blocks.
#pragma once

#include "actors/peer/peer_config.h"
#include "actors/peer/peer_event.h"
#include "actors/peer/server_session.h"
#include "actors/peer/state_ends.h"
#include "config/counter.h"
#include "config/problem.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace asio::ssl {
class context;
}

namespace pinstrike::actors::peer {

class Server {
  public:
    /// Returns null and adds a problem if the address cannot be bound. If `tls` is null,
    /// connections are not encrypted. If `giver` is null, no state is sent. `identity`, `tls`,
    /// `history`, `giver` and the objects that `listener` uses must outlive the server.
    [[nodiscard]] static std::unique_ptr<Server> open(const PeerConfig& config,
                                                      const Identity& identity,
                                                      asio::ssl::context* tls,
                                                      feed::History& history, StateGiver* giver,
                                                      PeerListener listener, Problems& problems);
    ~Server();

    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Returns how many handlers ran.
    std::size_t step(std::int64_t now_ns);

    // Any thread may call these.

    [[nodiscard]] const ServerCounters& counters() const { return counters_; }

    /// Connections that are open now, including unauthenticated ones.
    [[nodiscard]] std::uint64_t connections() const { return connections_.read(); }

    [[nodiscard]] std::uint16_t port() const { return port_; }

  private:
    class Listener;

    Server();

    ServerCounters counters_;
    Counter connections_;
    std::uint16_t port_ = 0;
    std::unique_ptr<Listener> listener_;
};

}  // namespace pinstrike::actors::peer
