// path: cold
//
// Everything of this folder that one instance has: the secret, TLS, a server of its history, and a
// client for each peer it asks.
#pragma once

#include "actors/peer/client.h"
#include "actors/peer/peer_config.h"
#include "actors/peer/server.h"
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
    /// Reads the files, opens the socket. `history` null: nobody is served. Null, with every
    /// problem told, where something cannot be had. The history outlives it, and so do the ends of
    /// state and whatever `tell` uses.
    [[nodiscard]] static std::unique_ptr<Peers> open(const PeerConfig& config,
                                                     const std::string& feed,
                                                     const std::string& venue,
                                                     feed::History* history, StateEnds state,
                                                     TellNews tell, Problems& problems);
    ~Peers();

    Peers(const Peers&) = delete;
    Peers& operator=(const Peers&) = delete;

    /// A source for each peer to be asked, in the order of the config; to be called once. They live
    /// no longer than this.
    [[nodiscard]] std::vector<std::unique_ptr<feed::RepairSource>> sources();

    /// Those of the sources that can be asked for state.
    [[nodiscard]] const std::vector<StateSource*>& state_sources() const { return asked_; }

    /// Serves. How much was done; the sources have steps of their own.
    std::size_t step(std::int64_t now_ns);

    // By any thread.

    /// Null: nobody is served.
    [[nodiscard]] const Server* server() const { return server_.get(); }

    [[nodiscard]] const std::deque<ClientStatus>& clients() const { return clients_; }

  private:
    struct Parts;

    explicit Peers(std::unique_ptr<Parts> parts);

    std::unique_ptr<Parts> parts_;
    std::deque<ClientStatus> clients_;
    std::vector<StateSource*> asked_;  ///< sources(), as long as those who have them step this
    std::unique_ptr<Server> server_;
};

/// What open() would find wrong with the files; opens no socket.
void check_files(const PeerConfig& config, Problems& problems);

}  // namespace pinstrike::actors::peer
