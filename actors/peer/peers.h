// path: cold
//
// The peer connections of one instance: the secret, TLS, a server that serves the instance's
// history, and one client per configured peer.
#pragma once

#include "actors/peer/client.h"
#include "actors/peer/peer_config.h"
#include "actors/peer/server.h"
#include "actors/peer/state_ends.h"
#include "actors/peer/tls.h"
#include "config/problem.h"
#include "feed/recovery/repair.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::actors::peer {

class Peers {
  public:
    /// Reads the files and opens the socket. If `history` is null, there is no server. If a file or
    /// the socket cannot be used, returns null and adds every problem to `problems`. The history,
    /// the ends of `state`, and the objects that `listener` uses must outlive the result.
    [[nodiscard]] static std::unique_ptr<Peers> open(const PeerConfig& config,
                                                     const std::string& feed,
                                                     const std::string& venue,
                                                     feed::History* history, StateEnds state,
                                                     PeerListener listener, Problems& problems);
    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    /// Returns one source per peer of the config, in its order. Must be called once. The sources
    /// must not outlive this object.
    [[nodiscard]] std::vector<std::unique_ptr<feed::RepairSource>> sources();

    /// The same sources, as sources of state.
    [[nodiscard]] const std::vector<StateSource*>& state_sources() const { return asked_; }

    /// Runs the server. It does not step the sources, because their owner does. Returns how much it
    /// did: connections and bytes.
    std::size_t step(std::int64_t now_ns);

    // Any thread may call these.

    /// Null: no server.
    [[nodiscard]] const Server* server() const { return server_.get(); }

    [[nodiscard]] const std::deque<ClientStatus>& clients() const { return clients_; }

  private:
    Peers() = default;

    PeerConfig config_;
    std::string venue_;
    Identity identity_;
    TlsCertificates tls_;  ///< null: no TLS
    PeerListener listener_;
    StateEnds state_;
    std::deque<ClientStatus> clients_;
    std::vector<StateSource*> asked_;  ///< the sources that sources() returned
    std::unique_ptr<Server> server_;
};

/// Adds the problems that open() would find in the files. Opens no socket.
void check_files(const PeerConfig& config, Problems& problems);

}  // namespace pinstrike::actors::peer
