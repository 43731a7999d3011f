// path: cold
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pinstrike::actors::bridge {

/// What a bridge reports to its log.
enum class BridgeNote : std::uint8_t {
    open,     ///< the serving side listens
    up,       ///< a connection was opened
    down,     ///< it broke, or its other side fell silent
    left,     ///< it ended as agreed
    refused,  ///< it was refused
    state,    ///< a state is complete, and the joining side publishes
    missed,   ///< records were not carried
    feed,     ///< the feed has ended, cannot be read, or is back
};

/// `subject`: the address of the other side.
using NoteBridge =
    std::function<void(BridgeNote note, const std::string& subject, const std::string& sentence)>;

}  // namespace pinstrike::actors::bridge
