// path: cold
//
// The gateway: reads one feed and serves its clients, in one thread. Nothing that happens here can
// reach the feed, which it reads as any other program on the host does.
#pragma once

#include "actors/gateway/client_sessions.h"
#include "actors/gateway/gateway_config.h"
#include "actors/gateway/gateway_note.h"
#include "actors/gateway/live_places.h"
#include "actors/gateway/replays.h"
#include "actors/market/feed_source.h"
#include "actors/market/market.h"
#include "actors/market/market_time.h"
#include "actors/threads/nap.h"
#include "config/problem.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace pinstrike::actors::gateway {

/// Figures of the gateway at one moment.
struct GatewayStatus {
    UserStatuses users;
    std::uint64_t sessions = 0;  ///< that are logged in
    std::uint64_t connections = 0;
    std::uint64_t instruments = 0;
    std::uint64_t waiting_events = 0;  ///< of series without an id
    bool feed_live = false;
    std::int64_t stepped_ns = 0;  ///< when the thread last took it
};

class Gateway final : private FeedEvents, private LiveFeed {
  public:
    Gateway(GatewayConfig config, NoteGateway note);

    /// Reads the keys, opens the access log, and listens. False, with problems.
    /// `inherited`: a listening socket of an earlier process; -1: none.
    [[nodiscard]] bool open(int inherited, Problems& problems) {
        return clients_.open(inherited, problems);
    }

    /// The socket that listens, which a later process can inherit.
    [[nodiscard]] int listener() { return clients_.server().listener(); }

    /// What other threads ask of the gateway. Relaxed: no data depends on these.
    struct Requests {
        std::atomic<bool> stop = false;
        std::atomic<bool> reload = false;    ///< the keys are read again
        std::atomic<bool> restarts = false;  ///< with `stop`: clients are to connect again
        bool socket_is_kept = false;         ///< the next process inherits the listening socket
    };

    /// Serves until `stop`, and then ends all sessions.
    void run(Requests& requests);

    // Any thread may call these.

    [[nodiscard]] GatewayStatus status() const;

    [[nodiscard]] const MarketCounters& counters() const { return market_.counters(); }

    [[nodiscard]] const ClientSessions& clients() const { return clients_; }

    [[nodiscard]] const GatewayConfig& config() const { return config_; }

  private:
    // FeedEvents
    void on_state(std::span<const pinstrike_value> values, StatePart part) override;
    void on_event(const pinstrike_record& record) override;
    void on_batch(std::int64_t received_ns) override;
    void on_dropped() override;

    void prefetch_ahead(std::uint32_t id) override { market_.instruments().prefetch(id); }

    void on_missed(std::uint64_t records) override;
    void on_lost(const std::string& why) override;

    void on_found() override { clients_.set_feed_problem(""); }

    // LiveFeed
    [[nodiscard]] InstrumentId id_of(const pinstrike_key& key) override {
        return source_.id_of(key);
    }

    [[nodiscard]] const LivePlaces& places() const override { return places_; }

    [[nodiscard]] std::int64_t market_ns() const override { return time_.market_ns(); }

    std::size_t step();
    void rest();
    void forget_series();
    void take_status();

    GatewayConfig config_;
    NoteGateway note_;
    Market market_;
    MarketTime time_{market_};
    FeedSource source_;
    LivePlaces places_;
    Replays replays_;
    ClientSessions clients_;
    std::int64_t now_ns_ = 0;
    Nap nap_;
    std::int64_t status_ns_ = 0;  ///< when the status was taken
    mutable std::mutex status_mutex_;
    GatewayStatus status_;
};

}  // namespace pinstrike::actors::gateway
