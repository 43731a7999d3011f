// path: cold
//
// What a poller is made from.
#pragma once

#include "actors/poller/history_ring.h"
#include "actors/poller/packet_recorder.h"
#include "actors/poller/packet_tap.h"
#include "actors/recovery/repair_rings.h"
#include "feed/arbitration/arbitration_config.h"
#include "feed/lines/line_config.h"
#include "feed/lines/line_watch.h"
#include "feed/lines/session_hours.h"
#include "feed/recording/left_out.h"
#include "nic/capture/replay_gate.h"
#include "nic/capture/replay_start.h"
#include "nic/port.h"
#include "nic/port_config.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// A port of a poller: one receive queue, which no other poller reads.
struct PollerPort {
    std::string config_name;  ///< name of the port in the config whose queue this is
    std::unique_ptr<nic::Port> port;
    nic::ChecksumCheck udp_checksum = nic::ChecksumCheck::offload;
    std::vector<nic::Subnet> sources;  ///< allowed senders; empty: all
    std::size_t burst_packets = 64;
};

/// When lines are expected to send: the lines of the venue's main session, and the lines whose
/// session has series of its own (GTH). Without any hours: always.
struct LineHours {
    feed::SessionHours main;
    feed::SessionHours separate;
};

struct PollerSetup {
    std::string name;
    std::vector<PollerPort> ports;
    std::vector<feed::LineConfig> lines;
    feed::ArbitrationConfig arbitration;
    feed::SilenceConfig silence;
    feed::StreamsReceived received = feed::both_streams;
    LineHours hours;
    bool block_checksum = true;
    bool test_symbols = false;
    bool marks = false;  ///< cores get marks that say how far each line has come
    /// Numbers that replayed cuts of recordings left out; null: none.
    const feed::LeftOutByLine* left_out = nullptr;
    nic::DueTimes due{};  ///< for captures that are replayed at a pace
    std::unique_ptr<PollerRepairRings>
        repair_rings;  ///< to and from the recovery task; null: no recovery
    std::unique_ptr<HistoryRingWriter> history;  ///< null: no history is kept
    std::unique_ptr<PacketTap> tap;              ///< null: packets cannot be tapped
    std::unique_ptr<PacketRecorder> recorder;    ///< null: packets are not recorded
    const nic::ReplayGate* gate = nullptr;       ///< holds back packets of a replay; null: none
};

}  // namespace pinstrike::actors
