// path: cold
//
// The config of a gateway: a YAML file of its own.
#pragma once

#include "actors/threads/placement.h"
#include "config/problem.h"
#include "config/section.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway {

struct GatewayConfig {
    std::string feed;
    std::string address = "127.0.0.1:13000";
    std::string keys;  ///< path; relative to the config's folder
    std::vector<std::string> underlyings;
    std::string metrics_address;
    std::string access_log;
    std::string record{};         ///< folder of the feed's recording; empty: no replays
    std::string record_config{};  ///< path of the feed's config; empty: all published lines
    unsigned replays_max = 2;     ///< of all clients
    std::size_t replay_kept_bytes = std::size_t{64} << 20;  ///< of live records, for each replay
    std::size_t queue_bytes = std::size_t{16} << 20;
    unsigned connections_max = 1000;
    unsigned connections_each_second = 20;  ///< from one address
    CpuIndex cpu = -1;
    WaitStrategy wait = WaitStrategy::park;

    friend bool operator==(const GatewayConfig&, const GatewayConfig&) = default;
};

[[nodiscard]] const Section<GatewayConfig>& gateway_section();

/// Loads and checks a file; nullopt, with all problems listed, if anything is wrong. Paths in the
/// result are relative to the working directory.
[[nodiscard]] std::optional<GatewayConfig> load_gateway_config(const std::string& path,
                                                               Problems& problems);

/// Whether a file is the config of a gateway, not of a feed: it names a feed and has no lines.
[[nodiscard]] bool is_gateway_config(const std::string& path);

/// Things that are allowed and should be known: a sentence each.
[[nodiscard]] std::vector<std::string> gateway_remarks(const GatewayConfig& config);

}  // namespace pinstrike::actors::gateway
