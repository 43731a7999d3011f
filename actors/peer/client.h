// path: cold
//
// The client of one peer, from which it requests missing messages. It connects, authenticates, and
// reconnects after a growing pause when the connection has ended. One cold thread uses it, and no
// call blocks.
#pragma once

#include "actors/peer/channel.h"
#include "actors/peer/client_session.h"
#include "actors/peer/peer_event.h"
#include "actors/peer/state_transfer.h"
#include "config/counter.h"
#include "feed/recovery/repair.h"
#include "nic/file_descriptor.h"
#include "nic/packet/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::peer {

/// The metrics of a client. They must outlive it.
struct ClientStatus {
    std::string peer;  ///< for example "10.1.0.2:9470"
    ClientCounters counters;
    Counter connected;  ///< 1: both sides are authenticated, and requests can be sent
};

class Client final : public feed::RepairSource, public StateSource {
  public:
    static constexpr std::int64_t pause_least_ns = 100'000'000;
    static constexpr std::int64_t pause_most_ns = 10'000'000'000;

    /// `identity`, `tls` and `status` must outlive the client. If `tls` is null, the connection is
    /// not encrypted.
    Client(const nic::Group& at, const Identity& identity, ssl_ctx_st* tls, BlockReader read_block,
           PeerListener listener, ClientStatus& status);

    ~Client() override { status_.connected.set(0); }

    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    [[nodiscard]] std::string_view name() const override { return name_; }

    /// Sets the receiver of the answers to request_state(), which must outlive the client.
    void set_state_taker(StateTaker* taker) { taker_ = taker; }

    [[nodiscard]] std::string_view peer() const override { return status_.peer; }

    [[nodiscard]] bool request_state(const std::vector<std::uint16_t>& lines) override;

    [[nodiscard]] std::optional<feed::Refusal> request(const feed::RepairRequest& request,
                                                       std::int64_t now_ns) override;
    void cancel(std::uint64_t id) override;
    std::size_t step(std::int64_t now_ns, feed::RepairAnswers& answers) override;

  private:
    struct Times {
        std::int64_t now_ns = 0;
        std::int64_t begun_ns = 0;  ///< of the present attempt
        std::int64_t try_ns = 0;    ///< of the next one
        std::int64_t pause_ns = pause_least_ns;
    };

    void connect();
    void look_after_attempt();
    void look_after_session(feed::RepairAnswers& answers);
    void give_up(const std::string& reason);
    void drop();
    void notify(PeerEvent::Kind kind, std::string text);

    std::string name_;
    nic::Group at_;
    const Identity& identity_;
    SessionLimits limits_;
    ssl_ctx_st* tls_;
    BlockReader read_block_;
    PeerListener listener_;
    ClientStatus& status_;
    StateTaker* taker_ = nullptr;
    Times times_;
    bool reported_open_ = false;
    nic::FileDescriptor socket_;  ///< only while the TCP connect is in progress
    std::optional<Channel> channel_;
    std::optional<ClientSession> session_;
};

}  // namespace pinstrike::actors::peer
