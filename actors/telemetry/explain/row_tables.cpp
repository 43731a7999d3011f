// path: cold
#include "actors/telemetry/explain/row_tables.h"

#include "actors/bridge/bridge_counts.h"
#include "actors/core/core.h"
#include "actors/gateway/session_counts.h"
#include "actors/kafka/kafka_counts.h"
#include "actors/market/market_counts.h"
#include "actors/peer/client_session.h"
#include "actors/peer/server_session.h"
#include "actors/peer/state_transfer.h"
#include "actors/poller/router.h"
#include "actors/recorder/recorder_counts.h"
#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/metrics/http_server.h"
#include "actors/topology/actor_kinds.h"
#include "actors/topology/reload_counts.h"
#include "actors/topology/series_list.h"
#include "feed/arbitration/line_counts.h"
#include "feed/recovery/history.h"
#include "feed/recovery/recovery.h"
#include "feed/venue_codecs.h"
#include "nic/packet/drops.h"
#include "nic/port.h"

#include <algorithm>
#include <iterator>

namespace pinstrike::actors {

std::vector<ActorTable> counter_tables() {
    std::vector<ActorTable> tables{
        {"a port", "port", nic::PortCount_rows},
        {"a stream of a line", "stream", feed::StreamCount_rows},
        {"a line", "line", feed::LineCount_rows},
        {"a ring", "ring", RingCount_rows},
        {"a core", "core", CoreCount_rows},
        {"recovery", "recovery", feed::RecoveryCount_rows},
        {"history", "history", feed::HistoryCount_rows},
        {"the recorder", "recorder", RecorderCount_rows},
        {"peers: serving requests", "peer_server", peer::ServerCount_rows},
        {"peers: requests to one", "peer_client", peer::ClientCount_rows},
        {"peers: receiving the state of series", "peer_state", peer::StateCount_rows},
        {"the day's list of series", "series_map", SeriesRow_rows},
        {"the log", "log", LogCount_rows},
        {"the config", "config", ReloadCount_rows},
        {"the metrics endpoint", "endpoint", EndpointCount_rows},
        {"the gateway", "gateway", MarketCount_rows},
        {"the Kafka producer", "kafka", MarketCount_rows},
        {"a topic of the Kafka producer", "kafka_topic", kafka::KafkaCount_rows},
        {"sessions of the gateway that have ended", "gateway_session", gateway::SessionCount_rows},
        {"all sessions of a user of the gateway", "gateway_user", gateway::SessionCount_rows},
        {"the serving side of a bridge", "bridge_serve", bridge::ServeCount_rows},
        {"the joining side of a bridge", "bridge_join", bridge::JoinCount_rows},
    };
    for (const ActorKind* kind : actor_kinds()) {
        std::ranges::copy(kind->tables(), std::back_inserter(tables));
    }
    return tables;
}

std::vector<ReasonTable> reason_tables() {
    using enum Metric;
    std::vector<ReasonTable> tables{
        {"a port: why a packet is dropped", nic::Drop_rows, {port_dropped_packets_total}},
        {"recovery: why a source did not deliver requested messages",
         feed::Refusal_rows,
         {recovery_refused_requests_total, peer_client_refused_requests_total}},
        {"the recorder: why a packet is not recorded",
         MissingReason_rows,
         {recorder_missing_packets_total}},
        {"peers: why requests and connections are refused",
         peer::PeerRefusal_rows,
         {peer_server_refusals_total, peer_client_refusals_total}},
        {"peers: how connections end",
         peer::SessionEnd_rows,
         {peer_server_ends_total, peer_client_ends_total}},
        {"peers: why a block is dropped", peer::PeerDrop_rows, {peer_client_dropped_blocks_total}},
        {"the gateway: why sessions ended",
         gateway::SessionEnding_rows,
         {gateway_ended_sessions_total}},
    };
    feed::for_each_venue([&tables]<class Codec>() {
        tables.push_back({"a line: why a block is refused, or accepted with a remark",
                          Codec::reject_rows,
                          {line_rejected_blocks_total}});
    });
    return tables;
}

}  // namespace pinstrike::actors
