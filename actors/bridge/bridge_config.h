// path: cold
//
// The config of a bridge: a YAML file of its own, for the serving or for the joining side.
#pragma once

#include "actors/bridge/joiner.h"
#include "actors/peer/peer_config.h"
#include "actors/publish/publish_config.h"
#include "actors/threads/placement.h"
#include "config/problem.h"
#include "config/section.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors::bridge {

struct BridgeConfig {
    std::string feed;
    std::string listen = "127.0.0.1:9480";
    peer::TlsConfig tls;
    unsigned connections_max = 8;
    std::vector<std::string> underlyings;
    std::vector<std::uint32_t> kinds;  ///< a bit per EventKind each; empty: all
    PublishMemory memory = PublishMemory::shm;
    std::size_t memory_max_bytes = std::size_t{4} << 30;
    std::string metrics_address;
    CpuIndex cpu = -1;
    WaitStrategy wait = WaitStrategy::park;

    friend bool operator==(const BridgeConfig&, const BridgeConfig&) = default;
};

[[nodiscard]] const Section<BridgeConfig>& bridge_section();

/// Loads and checks a file; nullopt, with all problems listed, if anything is wrong. Paths in the
/// result are relative to the working directory.
[[nodiscard]] std::optional<BridgeConfig> load_bridge_config(const std::string& path,
                                                             Problems& problems);

/// Whether a file is the config of a bridge: it names a feed and certificates, and has no lines.
[[nodiscard]] bool is_bridge_config(const std::string& path);

[[nodiscard]] JoinConfig join_config_of(const BridgeConfig& config);

}  // namespace pinstrike::actors::bridge
