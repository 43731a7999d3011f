// path: cold
//
// The replays of one client: one runs, and requests that come meanwhile wait for its end.
#pragma once

#include "actors/gateway/session_host.h"
#include "actors/gateway/session_output.h"
#include "actors/gateway/session_replay.h"
#include "actors/gateway/subscriptions.h"
#include "feed/dbn/schema.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace pinstrike::actors::gateway {

/// Whether the recording answers a request: state answers others with a start.
[[nodiscard]] bool is_recorded(const Request& request);

class SessionReplays {
  public:
    /// All must outlive the object. `map`: sends the symbol of a series, unless that was done.
    SessionReplays(SessionHost& host, SessionOutput& output, const ClientKey& key,
                   Subscriptions& subscriptions, std::function<void(InstrumentId)> map)
        : host_(host), key_(key), client_{output, subscriptions, std::move(map)} {}

    SessionReplays(const SessionReplays&) = delete;
    SessionReplays& operator=(const SessionReplays&) = delete;

    /// A replay for a request, which starts with the next step. Requests that come before that
    /// belong to the same one.
    void add(const Request& request);

    /// Why the session has to end.
    struct End {
        SessionEnding why = SessionEnding::replay;
        ErrorCode code = ErrorCode::internal;
        std::string text;
    };

    /// Sends records. To be called often.
    [[nodiscard]] std::optional<End> work(std::int64_t now_ns);

    // The live feed. True: it belongs to a replay.

    [[nodiscard]] bool receive(feed::dbn::Schema schema, InstrumentId id,
                               std::span<const std::byte> record);
    [[nodiscard]] bool interval_ended(feed::dbn::Schema schema, std::int64_t end_ns);

    /// Live events are missing.
    void live_missed();

    /// Subscriptions have changed.
    void look_again();

    /// Whether a replay brings records of the schema.
    [[nodiscard]] bool has(feed::dbn::Schema schema) const { return find(schema) != nullptr; }

    void clear() { replays_.clear(); }

  private:
    [[nodiscard]] SessionReplay* find(feed::dbn::Schema schema) const;
    [[nodiscard]] std::optional<End> start(SessionReplay& replay);
    void report_joined(SessionReplay& replay);

    SessionHost& host_;
    const ClientKey& key_;
    ReplayClient client_;
    std::deque<std::unique_ptr<SessionReplay>> replays_;  ///< the first may run, others wait
    bool is_whole_ = true;  ///< false: more lines of the last request follow
};

}  // namespace pinstrike::actors::gateway
