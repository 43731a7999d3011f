// path: cold
//
// The joining side with its socket: connects, and connects again. One thread uses it, and no call
// blocks except wait(). Times are of a clock that is never set, such as runtime::steady_ns().
#pragma once

#include "actors/bridge/bridge_counts.h"
#include "actors/bridge/bridge_note.h"
#include "actors/bridge/joiner.h"
#include "actors/peer/channel.h"
#include "actors/peer/tls.h"
#include "config/problem.h"
#include "nic/packet/address.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pinstrike::actors::bridge {

class BridgeClient {
  public:
    BridgeClient(JoinConfig config, NoteBridge note)
        : note_(std::move(note)), joiner_(std::move(config), counters_, note_) {}

    BridgeClient(const BridgeClient&) = delete;
    BridgeClient& operator=(const BridgeClient&) = delete;

    /// `address`: "192.0.2.7:9480". False, with problems.
    [[nodiscard]] bool open(const std::string& address, const peer::TlsConfig& tls,
                            Problems& problems);

    /// Returns how much it did.
    std::size_t step(std::int64_t now_ns);

    /// Sleeps until bytes come, or for `timeout_ns`.
    void wait(std::int64_t timeout_ns);

    /// Ends the connection as agreed, and does not connect again. step() goes on until is_over().
    void leave();

    [[nodiscard]] bool is_over() const { return leaves_ && socket_ == nullptr; }

    /// Whether a connection has ended since the last call, and why the last one did.
    [[nodiscard]] bool take_end(std::string& why);

    [[nodiscard]] const JoinCounters& counters() const { return counters_; }

    [[nodiscard]] const Joiner& joiner() const { return joiner_; }

    // Gauges, which any thread may read.

    [[nodiscard]] bool is_live() const { return gauges_.live.read() != 0; }

    [[nodiscard]] std::uint64_t open_lines() const { return gauges_.open_lines.read(); }

  private:
    struct Times {
        std::int64_t since_ns = 0;  ///< of the connection
        std::int64_t ended_ns = 0;  ///< the joiner has ended; 0: it has not
        std::int64_t connect_due_ns = 0;
    };

    struct Gauges {
        Counter live;
        Counter open_lines;
    };

    void connect(std::int64_t now_ns);
    void move_bytes(std::int64_t now_ns, std::size_t& done);
    void note_failure(const std::string& why);
    void close(std::int64_t now_ns);

    JoinCounters counters_;
    NoteBridge note_;
    Joiner joiner_;
    std::string address_;
    nic::Group at_;
    peer::TlsCertificates tls_;
    std::unique_ptr<peer::Channel> socket_;
    bool joined_ = false;  ///< the joiner has the connection
    bool leaves_ = false;
    bool sent_last_frame_ = false;  ///< by leave(); the other side closes the connection
    bool ended_ = false;            ///< since take_end()
    std::string why_;
    std::string noted_;  ///< the latest reason in the log, which is not repeated
    Times times_;
    Gauges gauges_;
};

}  // namespace pinstrike::actors::bridge
