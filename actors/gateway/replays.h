// path: cold
//
// The replays of all clients, within the limits of the gateway and of each key.
#pragma once

#include "actors/gateway/gateway_config.h"
#include "actors/gateway/replay_host.h"
#include "actors/gateway/replay_processes.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway {

class Replays final : public ReplayHost {
  public:
    /// Both must outlive the object.
    Replays(const GatewayConfig& config, LiveFeed& feed)
        : config_(config), feed_(feed), processes_({"/proc/self/exe", "gateway", "replay"}) {}

    [[nodiscard]] LiveFeed& feed() override { return feed_; }

    [[nodiscard]] bool has_recording() const override { return !config_.record.empty(); }

    [[nodiscard]] Started start(const ClientKey& key,
                                const std::vector<ReplayWanted>& wanted) override;

    [[nodiscard]] std::size_t kept_bytes() const override { return config_.replay_kept_bytes; }

  private:
    class CountedSource;

    const GatewayConfig& config_;
    LiveFeed& feed_;
    ReplayProcesses processes_;
    std::map<std::string, unsigned> of_users_;  ///< by user: replays that count against the limit
                                                ///< of its key, until their processes have ended
};

}  // namespace pinstrike::actors::gateway
