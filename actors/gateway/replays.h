// path: cold
//
// The replays of all clients, within the limits of the gateway and of each key.
#pragma once

#include "actors/gateway/gateway_config.h"
#include "actors/gateway/replay_host.h"
#include "actors/gateway/replay_processes.h"

#include <cstddef>
#include <map>
#include <memory>
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
    const GatewayConfig& config_;
    LiveFeed& feed_;
    ReplayProcesses processes_;
    /// By user: what the sources of its replays keep, so that its use count is one above them.
    std::map<std::string, std::shared_ptr<void>> of_users_;
};

}  // namespace pinstrike::actors::gateway
