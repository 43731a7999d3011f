// path: cold
#include "actors/peer/server.h"

#include "feed/recovery/history.h"
#include "nic/packet/address.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <span>
#include <string_view>

namespace pinstrike::actors::peer {
namespace {

constexpr std::array<std::uint16_t, 1> one_line{1};

std::unique_ptr<Server> open_server(feed::History& history, Problems& problems) {
    static constexpr std::string_view secret = "0123456789abcdef0123456789abcdef";
    static const Identity identity{"opra", Secret{std::as_bytes(std::span{secret})}, {}};
    static PeerConfig config;
    config.listen = {nic::Ipv4{0x7F00'0001}, 0};
    return Server::open(
        config, identity, nullptr, history, nullptr, [](const PeerEvent&) {}, problems);
}

/// A half-built server is destroyed.
TEST(PeerServer, MissesADescriptorWithoutACrash) {
    feed::History history{one_line, {}, {}};
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const int lowest_free = ::fcntl(STDIN_FILENO, F_DUPFD, 0);
    ::close(lowest_free);
    unsigned refused = 0;
    std::unique_ptr<Server> server;
    for (int more = 0; server == nullptr && more < 16; ++more) {
        const rlimit few{static_cast<rlim_t>(lowest_free + more), before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
        Problems problems;
        server = open_server(history, problems);
        refused += server == nullptr ? 1 : 0;
        EXPECT_EQ(problems.empty(), server != nullptr);
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    }
    ASSERT_NE(server, nullptr);
    EXPECT_NE(server->port(), 0);
    EXPECT_GT(refused, 0U) << "the socket needs a descriptor";
}

}  // namespace
}  // namespace pinstrike::actors::peer
