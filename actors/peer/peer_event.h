// path: cold
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pinstrike::actors::peer {

/// An event of a peer connection or a state transfer, for the log.
struct PeerEvent {
    enum class Kind : std::uint8_t {
        connected,      ///< both sides of a connection are authenticated
        lost,           ///< a connection ended, or could not be established
        refused,        ///< one side refused the other, and an operator has to act
        turned_away,    ///< the server closed an unauthenticated connection
        state_taken,    ///< the state transfer is complete
        state_missing,  ///< the state transfer ended without some or all lines
    };

    Kind kind = Kind::connected;
    std::string peer;  ///< "10.1.0.2:9470"; only the address if the peer connected to us
    std::string text;
};

using PeerListener = std::function<void(const PeerEvent&)>;

}  // namespace pinstrike::actors::peer
