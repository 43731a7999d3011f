// path: cold
//
// The config of one feed, which is the content of one YAML file. Each module defines the structs of
// its own part, and this struct combines them. The members' initialisers are the defaults; the
// tables of keys do not repeat them.
#pragma once

#include "actors/peer/peer_config.h"
#include "actors/poller/sharding.h"
#include "actors/publish/publish_config.h"
#include "actors/recorder/record_config.h"
#include "actors/snapshot/replay_from.h"
#include "actors/threads/placement.h"
#include "actors/threads/when_full.h"
#include "config/log_level.h"
#include "config/problem.h"
#include "config/type_map.h"
#include "feed/arbitration/arbitration_config.h"
#include "feed/lines/calendar_config.h"
#include "feed/lines/line_config.h"
#include "feed/lines/line_watch.h"
#include "feed/recovery/history_config.h"
#include "feed/recovery/recovery_config.h"
#include "nic/port_config.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::feed {
class Traffic;  // feed/traffic/traffic_generator.h
}

namespace pinstrike::actors {

class Actor;

enum class SystemCalls : std::uint8_t { filtered, free };

struct PollerConfig {
    std::string name;
    CpuIndex cpu = -1;
    std::vector<std::uint16_t> lines;        ///< line numbers
    std::vector<std::string> ports;          ///< port names
    WaitStrategy wait = WaitStrategy::spin;  ///< park: sleeps briefly when idle (demos, uring)
};

/// The kinds of actors of a core whose config names none.
[[nodiscard]] std::vector<std::string> default_actors();

struct CoreConfig {
    std::string name;
    CpuIndex cpu = -1;
    WaitStrategy wait = WaitStrategy::spin;
    std::vector<std::string> actors = default_actors();  ///< kinds of actors
    /// Makes one more actor, of a command, which no config file can name; empty: there is none.
    std::function<std::unique_ptr<Actor>()> make_own{};
    /// Memory for the state that this actor takes; 0: it takes none.
    std::size_t own_transfer_bytes = 0;
};

struct FeedConfig {
    std::string name = "opra";
    std::string kind = "opra";
    std::vector<nic::PortConfig> ports;
    std::vector<feed::LineConfig> lines;
    bool retransmission =
        false;  ///< whether to receive the lines' published retransmission groups too
    std::vector<PollerConfig> pollers;
    std::vector<CoreConfig> cores;
    Sharding sharding = Sharding::series;
    std::size_t ring_slots = 1 << 18;  ///< records of 64 bytes, a power of two: >= 5 ms
    WhenFull when_full = WhenFull::refuse;
    feed::ArbitrationConfig arbitration;
    feed::RecoveryConfig recovery;
    feed::SilenceConfig silence;
    feed::CalendarConfig calendar;
    feed::HistoryConfig history;  ///< memory 0: no history is kept
    peer::PeerConfig peer;        ///< no secret: no peers
    PublishConfig publish;
    RecordConfig record;
    bool block_checksum = true;
    bool test_symbols = false;  ///< true: tests reach the cores
    TypeMap actors;             ///< a config struct for each kind of actor that has keys
    std::string
        series_map;  ///< the day's list of series: a file, or a folder of such files; empty: none
    /// The key's place in the config file, for problems with the series map. None if the config was
    /// not loaded from a file.
    std::optional<pinstrike::Place> series_map_place;
    std::shared_ptr<const feed::Traffic>
        traffic;                  ///< for sim ports; null: the generator's defaults
    CpuIndex control_cpu = -1;    ///< CPU of all threads that are not hot
    std::string metrics_address;  ///< "127.0.0.1:9464"; empty: no endpoint
    LogLevel log_level = LogLevel::info;
    SystemCalls system_calls = SystemCalls::filtered;  ///< of the hot threads
    /// A replay of a recording from a moment, which no config file can name; nullopt: the books
    /// begin empty.
    std::optional<ReplayFrom> replay_from{};
    /// Likewise: the symbols whose data actors get; empty: all.
    std::vector<std::string> replayed_underlyings{};
};

}  // namespace pinstrike::actors
