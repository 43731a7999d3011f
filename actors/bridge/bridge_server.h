// path: cold
//
// The serving side: the listener and its connections. One thread uses it, and no call blocks except
// wait(). Times are of a clock that is never set, such as runtime::steady_ns().
#pragma once

#include "actors/bridge/bridge_counts.h"
#include "actors/bridge/bridge_note.h"
#include "actors/bridge/serve_session.h"
#include "actors/peer/channel.h"
#include "actors/peer/tls.h"
#include "config/problem.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::actors::bridge {

class BridgeServer {
  public:
    BridgeServer(std::string feed, std::size_t connections_max, NoteBridge note)
        : feed_(std::move(feed)), connections_max_(connections_max), note_(std::move(note)) {}

    BridgeServer(const BridgeServer&) = delete;
    BridgeServer& operator=(const BridgeServer&) = delete;

    /// `address`: "127.0.0.1:9480"; port 0: any. False, with problems.
    [[nodiscard]] bool open(const std::string& address, const peer::TlsConfig& tls,
                            Problems& problems);

    [[nodiscard]] std::uint16_t port() const;

    /// Returns how much it did.
    std::size_t step(std::int64_t now_ns);

    /// Sleeps until bytes come, or for `timeout_ns`.
    void wait(std::int64_t timeout_ns);

    /// Ends all connections as agreed. step() goes on until connections() is 0.
    void leave();

    [[nodiscard]] std::size_t connections() const { return connections_.size(); }

    [[nodiscard]] const ServeCounters& counters() const { return counters_; }

    // Gauges, which any thread may read.

    [[nodiscard]] std::uint64_t current() const { return current_.read(); }

    [[nodiscard]] std::uint64_t open_connections() const { return open_.read(); }

    [[nodiscard]] std::uint64_t untaken_bytes() const { return untaken_.read(); }

  private:
    struct Connection {
        Connection(nic::FileDescriptor descriptor, const peer::TlsCertificates& tls,
                   std::string from, std::string feed, ServeCounters& counters, std::int64_t now_ns)
            : socket(std::move(descriptor), tls.get(), true),
              session(std::move(feed), counters),
              address(std::move(from)),
              since_ns(now_ns) {}

        peer::Channel socket;
        ServeSession session;
        std::string address;
        std::int64_t since_ns;
        std::int64_t ended_ns = 0;  ///< of the session; 0: it has not ended
        bool greeted = false;
        std::string obstacle;  ///< the last one in the log
    };

    std::size_t accept(std::int64_t now_ns);
    std::size_t step(Connection& connection, std::int64_t now_ns);
    [[nodiscard]] bool is_over(const Connection& connection, std::int64_t now_ns) const;
    void note_obstacle(Connection& connection);
    void note_end(const Connection& connection);
    void take_gauges();

    std::string feed_;
    std::size_t connections_max_;
    NoteBridge note_;
    peer::TlsCertificates tls_;
    nic::FileDescriptor listener_;
    std::int64_t accept_due_ns_ = 0;
    std::vector<std::unique_ptr<Connection>> connections_;
    bool leaves_ = false;
    ServeCounters counters_;
    Counter current_;
    Counter open_;
    Counter untaken_;
};

}  // namespace pinstrike::actors::bridge
