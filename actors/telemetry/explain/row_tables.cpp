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

namespace pinstrike::actors {

std::vector<RowTable> row_tables() {
    std::vector<RowTable> tables{
        {"a port", nic::PortCount_rows, "port", {}},
        {"a port: why a packet is dropped",
         nic::Drop_rows,
         "",
         {Metric::port_dropped_packets_total}},
        {"a stream of a line", feed::StreamCount_rows, "stream", {}},
        {"a line", feed::LineCount_rows, "line", {}},
        {"a ring", RingCount_rows, "ring", {}},
        {"a core", CoreCount_rows, "core", {}},
        {"recovery", feed::RecoveryCount_rows, "recovery", {}},
        {"recovery: why a source did not deliver requested messages",
         feed::Refusal_rows,
         "",
         {Metric::recovery_refused_requests_total, Metric::peer_client_refused_requests_total}},
        {"history", feed::HistoryCount_rows, "history", {}},
        {"the recorder", RecorderCount_rows, "recorder", {}},
        {"the recorder: why a packet is not recorded",
         MissingReason_rows,
         "",
         {Metric::recorder_missing_packets_total}},
        {"peers: serving requests", peer::ServerCount_rows, "peer_server", {}},
        {"peers: why requests and connections are refused",
         peer::PeerRefusal_rows,
         "",
         {Metric::peer_server_refusals_total, Metric::peer_client_refusals_total}},
        {"peers: how connections end",
         peer::SessionEnd_rows,
         "",
         {Metric::peer_server_ends_total, Metric::peer_client_ends_total}},
        {"peers: requests to one", peer::ClientCount_rows, "peer_client", {}},
        {"peers: why a block is dropped",
         peer::PeerDrop_rows,
         "",
         {Metric::peer_client_dropped_blocks_total}},
        {"peers: receiving the state of series", peer::StateCount_rows, "peer_state", {}},
        {"the day's list of series", SeriesRow_rows, "series_map", {}},
        {"the log", LogCount_rows, "log", {}},
        {"the config", ReloadCount_rows, "config", {}},
        {"the metrics endpoint", EndpointCount_rows, "endpoint", {}},
        {"the gateway", MarketCount_rows, "gateway", {}},
        {"the Kafka producer", MarketCount_rows, "kafka", {}},
        {"a topic of the Kafka producer", kafka::KafkaCount_rows, "kafka_topic", {}},
        {"sessions of the gateway that have ended",
         gateway::SessionCount_rows,
         "gateway_session",
         {}},
        {"all sessions of a user of the gateway", gateway::SessionCount_rows, "gateway_user", {}},
        {"the gateway: why sessions ended",
         gateway::SessionEnding_rows,
         "",
         {Metric::gateway_ended_sessions_total}},
        {"the serving side of a bridge", bridge::ServeCount_rows, "bridge_serve", {}},
        {"the joining side of a bridge", bridge::JoinCount_rows, "bridge_join", {}},
    };
    for (const ActorKind* kind : actor_kinds()) {
        for (const ActorTable& table : kind->tables()) {
            tables.push_back({table.of, table.rows, table.subject, {}, table.gauges});
        }
    }
    feed::for_each_venue([&tables]<class Codec>() {
        tables.push_back({"a line: why a block is refused, or accepted with a remark",
                          Codec::reject_rows,
                          "",
                          {Metric::line_rejected_blocks_total}});
    });
    return tables;
}

}  // namespace pinstrike::actors
