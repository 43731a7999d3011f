// path: cold
//
// What the gateway reports to its log.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pinstrike::actors::gateway {

enum class GatewayNote : std::uint8_t {
    opened,
    missed,
    session_begun,
    login_refused,
    session_ended,
    access_unlogged,
    feed_attached,
    feed_lost,
    keys_read,
    keys_refused,
};

/// Receives an entry of the log on the gateway's thread: its subject and its text.
using NoteGateway =
    std::function<void(GatewayNote note, std::string subject, std::string sentence)>;

}  // namespace pinstrike::actors::gateway
