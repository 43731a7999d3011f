// path: cold
//
// Listens, lets those in who are listed, and carries their sessions. One cold thread calls step();
// nothing here waits.
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
    /// Null, with a problem, where nobody can listen there. `tls` null: connections are plain.
    /// `giver` null: no state is given. All but the config outlive the server.
    [[nodiscard]] static std::unique_ptr<Server> open(const PeerConfig& config,
                                                      const Identity& identity,
                                                      asio::ssl::context* tls,
                                                      feed::History& history, StateGiver* giver,
                                                      TellNews tell, Problems& problems);
    ~Server();

    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// How much was done.
    std::size_t step(std::int64_t now_ns);

    // By any thread.

    [[nodiscard]] const ServerCounters& counters() const { return counters_; }

    /// Open now, strangers included.
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
