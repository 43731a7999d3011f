// path: cold
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pinstrike::actors::peer {

/// What people should hear of a peer.
struct News {
    enum class Kind : std::uint8_t {
        connected,      ///< a connection on which both sides proved themselves
        lost,           ///< it ended, or did not come about
        refused,        ///< one side refused the other: somebody has to mend something
        turned_away,    ///< a stranger
        state_taken,    ///< every series' state was taken from it
        state_missing,  ///< it was not, or not of all lines
    };

    Kind kind = Kind::connected;
    std::string peer;  ///< "10.1.0.2:9470"; of one that connects here the address alone
    std::string text;
};

using TellNews = std::function<void(const News&)>;

}  // namespace pinstrike::actors::peer
