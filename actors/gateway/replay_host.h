// path: cold
//
// What a replay for a client needs of the gateway.
#pragma once

#include "actors/gateway/client_keys.h"
#include "actors/gateway/live_places.h"
#include "actors/gateway/replay_source.h"
#include "actors/market/instruments.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway {

/// The feed as the gateway reads it.
class LiveFeed {
  public:
    virtual ~LiveFeed() = default;
    /// The id of a series; 0: it has none.
    [[nodiscard]] virtual InstrumentId id_of(const pinstrike_key& key) = 0;
    [[nodiscard]] virtual const LivePlaces& places() const = 0;
    /// The time that the market has reached: it has closed all intervals before.
    [[nodiscard]] virtual std::int64_t market_ns() const = 0;
};

class ReplayHost {
  public:
    virtual ~ReplayHost() = default;
    [[nodiscard]] virtual LiveFeed& feed() = 0;
    /// Whether there is a recording.
    [[nodiscard]] virtual bool has_recording() const = 0;

    struct Started {
        std::unique_ptr<ReplaySource> source;  ///< null: refused
        std::string refusal;
    };

    [[nodiscard]] virtual Started start(const ClientKey& key,
                                        const std::vector<ReplayWanted>& wanted) = 0;
    /// Most bytes of live records that wait until a replay is over.
    [[nodiscard]] virtual std::size_t kept_bytes() const = 0;
};

}  // namespace pinstrike::actors::gateway
