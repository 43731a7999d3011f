// path: cold
//
// The whole of one YAML file: one feed. The structs of a room stand in that room; this one joins
// them. Defaults are the members' initialisers, and the tables of keys repeat none of them.
#pragma once

#include "actors/core/actor_configs.h"
#include "actors/peer/peer_config.h"
#include "actors/poller/sharding.h"
#include "actors/poller/when_full.h"
#include "actors/threads/placement.h"
#include "config/log_level.h"
#include "config/problem.h"
#include "feed/arbitration/arbiter.h"
#include "feed/lines/calendar_config.h"
#include "feed/lines/line_config.h"
#include "feed/lines/line_watch.h"
#include "feed/recovery/history_config.h"
#include "feed/recovery/recovery_config.h"
#include "nic/port_config.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::feed {
class Traffic;  // feed/traffic_generator.h
}

namespace pinstrike::actors {

enum class SystemCalls : std::uint8_t { filtered, free };

struct PollerConfig {
    std::string name;
    CpuIndex cpu = -1;
    std::vector<std::uint16_t> lines;        ///< numbers
    std::vector<std::string> ports;          ///< names
    WaitStrategy wait = WaitStrategy::spin;  ///< park: sleeps briefly when idle (demos, uring)
};

struct CoreConfig {
    std::string name;
    CpuIndex cpu = -1;
    WaitStrategy wait = WaitStrategy::spin;
    std::vector<std::string> actors{"book"};  ///< kinds
};

struct FeedConfig {
    std::string name = "opra";
    std::string kind = "opra";
    std::vector<nic::PortConfig> ports;
    std::vector<feed::LineConfig> lines;
    bool retransmission = false;  ///< also the lines' published retransmission groups
    std::vector<PollerConfig> pollers;
    std::vector<CoreConfig> cores;
    Sharding sharding = Sharding::series;
    std::size_t ring_slots = 1 << 18;  ///< records of 64 bytes, a power of two: >= 5 ms
    WhenFull when_full = WhenFull::refuse;
    feed::ArbitrationConfig arbitration;
    feed::RecoveryConfig recovery;
    feed::SilenceConfig silence;
    feed::CalendarConfig calendar;
    feed::HistoryConfig history;  ///< memory 0: none is kept
    peer::PeerConfig peer;        ///< without a secret: no peers
    bool block_checksum = true;
    bool test_symbols = false;  ///< true: tests reach the cores
    ActorConfigs actors;        ///< a section of each kind of actor that has keys
    std::string series_map;  ///< the day's list of series: a file, or a folder of them; empty: none
    /// Of that key, for what turns out to be wrong with the file; none in a config made by hand.
    std::optional<pinstrike::Place> series_map_place;
    std::shared_ptr<const feed::Traffic> traffic;  ///< of sim ports; null: the generator's defaults
    CpuIndex control_cpu = -1;                     ///< of all that is not hot
    std::string metrics_address;                   ///< "127.0.0.1:9464"; empty: no endpoint
    LogLevel log_level = LogLevel::info;
    SystemCalls system_calls = SystemCalls::filtered;  ///< of hot threads
};

}  // namespace pinstrike::actors
