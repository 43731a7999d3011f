// path: cold
#pragma once

#include "actors/gateway/client_keys.h"
#include "actors/gateway/gateway_config.h"
#include "actors/gateway/output_queue.h"
#include "actors/gateway/replay_host.h"
#include "actors/market/market.h"

#include <string>

namespace pinstrike::actors::gateway {

/// What a session needs of the gateway.
class SessionHost {
  public:
    virtual ~SessionHost() = default;
    [[nodiscard]] virtual const ClientKeys& keys() const = 0;
    /// Sessions of a user that are logged in.
    [[nodiscard]] virtual unsigned sessions_of(const std::string& user) const = 0;
    [[nodiscard]] virtual Market& market() = 0;
    [[nodiscard]] virtual ChunkPool& chunks() = 0;
    [[nodiscard]] virtual const GatewayConfig& config() const = 0;
    [[nodiscard]] virtual ReplayHost& replays() = 0;
    /// Why the feed's values are old; empty: they are not.
    [[nodiscard]] virtual const std::string& feed_problem() const = 0;
};

}  // namespace pinstrike::actors::gateway
