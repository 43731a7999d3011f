// path: cold
//
// The clients of the gateway: their connections and sessions, the keys, and the access log.
#pragma once

#include "actors/gateway/access_log.h"
#include "actors/gateway/address_limit.h"
#include "actors/gateway/gateway_config.h"
#include "actors/gateway/gateway_note.h"
#include "actors/gateway/session.h"
#include "actors/gateway/socket_server.h"
#include "actors/gateway/users.h"
#include "config/histogram.h"
#include "config/problem.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace pinstrike::actors::gateway {

class ClientSessions final : private SocketEvents, private SessionHost {
  public:
    /// All references must outlive the object.
    ClientSessions(const GatewayConfig& config, Market& market, ReplayHost& replays,
                   const NoteGateway& note);
    ~ClientSessions() override;

    /// Reads the keys, opens the access log, and listens. False, with problems.
    /// `inherited`: as of SocketServer::open().
    [[nodiscard]] bool open(int inherited, Problems& problems);

    /// Moves records to sockets and text from them. Returns the number of events of sockets.
    std::size_t step(std::int64_t now_ns);

    /// The time of records that are made from now on. `received_ns`: the receive time of the oldest
    /// event from which the records are made; 0: no event.
    void set_time(std::int64_t now_ns, std::int64_t received_ns);

    [[nodiscard]] SocketServer& server() { return *server_; }

    /// Reads the keys again, and opens the access log again, which may have been moved. Sessions
    /// whose key was removed or changed end.
    void reload_keys();

    /// An error that does not end the sessions, to all that have started.
    void report(ErrorCode code, std::string_view text);

    /// Reports that the feed is lost, also to sessions that start later; empty: it is back.
    void set_feed_problem(const std::string& text);

    /// Sends all clients the state of the series that they follow. `only`: as of
    /// Session::send_states().
    void send_states(const CoreSeries* only);

    /// Ends all sessions; a client that gets an error text connects again.
    void end_all(SessionEnding why, std::string_view text);

    /// Waits for clients to read the rest, at most until `until_ns`, and closes all connections.
    void close_all(std::int64_t until_ns);

    /// All users that the file of keys has named since the start, by name.
    [[nodiscard]] UserStatuses users();

    // Any thread may read these.

    struct Totals {
        SessionCounters ended;  ///< of sessions that have ended
        SessionEndings endings;
        Counter keys_refused;  ///< 1: the last reload of the keys was refused
        /// From the receipt of an event until its records are given to a socket.
        Histogram writes;
    };

    [[nodiscard]] const Totals& totals() const { return totals_; }

    [[nodiscard]] const Counter& refused() const { return server_->refused(); }

  private:
    struct Client;

    // SocketEvents
    [[nodiscard]] bool accepted(std::uint32_t connection, const std::string& address) override;
    void received(std::uint32_t connection, std::span<const std::byte> bytes) override;
    void sent(std::uint32_t connection, std::size_t count) override;
    void closed(std::uint32_t connection) override;
    [[nodiscard]] bool takes_more(std::uint32_t connection) const override;

    // SessionHost
    [[nodiscard]] const ClientKeys& keys() const override { return users_.keys(); }

    [[nodiscard]] unsigned sessions_of(const std::string& user) const override;

    [[nodiscard]] Market& market() override { return market_; }

    [[nodiscard]] ChunkPool& chunks() override { return chunks_; }

    [[nodiscard]] const GatewayConfig& config() const override { return config_; }

    [[nodiscard]] ReplayHost& replays() override { return replays_; }

    [[nodiscard]] const std::string& feed_problem() const override { return feed_problem_; }

    /// Of the access log.
    struct AccessTimes {
        std::int64_t hour = 0;       ///< since the Unix epoch
        std::int64_t opened_ns = 0;  ///< distinguishes its sessions from those of other processes
    };

    void step_client(Client& client);
    void write_access(Client& client, std::int64_t to_ns);
    void log_open_sessions(std::int64_t until_ns);

    const GatewayConfig& config_;
    Market& market_;
    ReplayHost& replays_;
    const NoteGateway& note_;
    Users users_;
    AccessLog access_;
    ChunkPool chunks_;
    std::unique_ptr<SocketServer> server_;
    std::map<std::uint32_t, std::unique_ptr<Client>> clients_;  ///< by connection
    AddressLimit address_limit_{config_.connections_each_second};
    std::uint64_t next_number_ = 1;
    Totals totals_;
    std::string feed_problem_;
    AccessTimes times_;
    std::int64_t now_ns_ = 0;
};

}  // namespace pinstrike::actors::gateway
