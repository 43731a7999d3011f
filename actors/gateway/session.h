// path: cold
//
// One client: its login, its subscriptions, and the records on their way to it. The session gets
// text and records, and fills its queue; the gateway moves bytes between it and a socket. Times are
// passed in.
#pragma once

#include "actors/gateway/client_keys.h"
#include "actors/gateway/protocol.h"
#include "actors/gateway/session_host.h"
#include "actors/gateway/session_output.h"
#include "actors/gateway/session_replays.h"
#include "actors/gateway/state_jobs.h"
#include "actors/gateway/subscriptions.h"
#include "actors/market/market.h"
#include "feed/dbn/schema.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::gateway {

/// Lines that one call reads, so that it is short; the others wait.
inline constexpr unsigned lines_each_step = 8;
/// How long a fatal error waits for the start of the session, before which some clients read
/// nothing.
inline constexpr std::int64_t start_ns_max = 3'000'000'000;

/// Where a session comes from.
struct SessionOrigin {
    std::uint64_t number = 0;
    std::string address;
    std::int64_t began_ns = 0;
};

class Session final : private RecordReceiver {
  public:
    enum class Phase : std::uint8_t { login, subscribing, started, ended };

    /// Greets the client. `host` must outlive the session.
    Session(SessionHost& host, SessionOrigin origin);

    /// Text from the client. Reads some lines, and step() the others.
    void read(std::string_view text, std::int64_t now_ns);

    /// Whether lines wait, so that no more text should come.
    [[nodiscard]] bool has_lines() const { return input_.has_lines; }

    /// To be called often: state that was asked for, heartbeats, time limits.
    void step(std::int64_t now_ns);

    /// Ends the session, with an error record if `text` is not empty. What is in the queue is still
    /// to be sent.
    void end(SessionEnding why, ErrorCode code, std::string_view text);

    /// Tells a client that has started of an error that does not end the session.
    void report(ErrorCode code, std::string_view text);

    /// The feed's state was read anew: sends the state of the series that the client follows, and
    /// what it asked for before there was any. `only`: the series whose state was read; null: all.
    void send_states(const CoreSeries* only);

    [[nodiscard]] SessionOutput& output() { return output_; }

    [[nodiscard]] Phase phase() const { return phase_; }

    /// Null before the login.
    [[nodiscard]] const Subscriptions* subscriptions() const { return subscriptions_.get(); }

    /// Without a user before a key was recognised.
    [[nodiscard]] const ClientKey& key() const { return key_; }

    [[nodiscard]] const SessionOrigin& origin() const { return origin_; }

    [[nodiscard]] const std::string& client() const { return login_.request.client; }

    [[nodiscard]] SessionEnding ending() const { return ending_; }

  private:
    /// Lines that wait, and an incomplete one.
    struct Input {
        std::string text;
        std::size_t searched = 0;  ///< so many bytes of it have no end of a line
        bool has_lines = false;
    };

    struct Login {
        std::string challenge;
        LoginRequest request;
    };

    struct HeldError {
        SessionEnding why;
        ErrorCode code;
        std::string text;
        std::int64_t since_ns;
    };

    // RecordReceiver
    void receive(feed::dbn::Schema schema, InstrumentId id,
                 std::span<const std::byte> record) override;
    void interval_ended(feed::dbn::Schema schema, std::int64_t end_ns) override;

    void read_lines();
    void read_line(std::string_view line);
    void read_login(std::string_view line);
    void refuse_login(SessionEnding why, std::string_view text);
    void read_request(std::string_view line);
    void start();
    void put_metadata();
    void apply(const Request& request);
    void unsubscribe(const Request& request);
    void put_objections(const SymbolList& list);
    [[nodiscard]] std::string objection_to(const Request& request) const;
    void work_on_states();
    void send_state(feed::dbn::Schema schema, InstrumentId id);
    void map(InstrumentId id);

    SessionHost& host_;
    SessionOrigin origin_;
    Phase phase_ = Phase::login;
    Input input_;
    ClientKey key_;
    Login login_;
    SessionOutput output_;
    std::unique_ptr<Subscriptions> subscriptions_;
    std::unique_ptr<SessionReplays> replays_;  ///< null before the login
    std::vector<Request> early_requests_;      ///< apply with the start
    std::optional<HeldError> held_error_;
    SessionEnding ending_ = SessionEnding::client;
    StateJobs jobs_;
    std::vector<bool> mapped_;  ///< by id: its symbol mapping was sent
    std::int64_t now_ns_;
};

}  // namespace pinstrike::actors::gateway
