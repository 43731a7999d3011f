// path: cold
#include "actors/host/service/heartbeat.h"
#include "actors/host/service/service_manager.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

namespace pinstrike::actors {
namespace {

TEST(Heartbeat, beatsOnlyWhenAllHaveGoneOn) {
    Heartbeat heart;
    EXPECT_FALSE(heart.beats(std::array<std::uint64_t, 2>{5, 0}));
    EXPECT_TRUE(heart.beats(std::array<std::uint64_t, 2>{6, 1}));
    EXPECT_FALSE(heart.beats(std::array<std::uint64_t, 2>{9, 1}));
    EXPECT_FALSE(heart.beats(std::array<std::uint64_t, 2>{9, 1}));
    EXPECT_TRUE(heart.beats(std::array<std::uint64_t, 2>{9, 2}));
}

/// A service manager that listens at an abstract address, and the environment of its service.
class ServiceManagerTest : public testing::Test {
  public:
    ~ServiceManagerTest() override {
        ::close(socket_);
        for (const char* variable : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
            ::unsetenv(variable);
        }
    }

  protected:
    ServiceManagerTest() {
        name_ = fmt::format("@pinstrike-test-{}", ::getpid());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path + 1, name_.data() + 1, name_.size() - 1);
        socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
        EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length), 0);
        ::setenv("NOTIFY_SOCKET", name_.c_str(), 1);
    }

    /// The next datagram; empty: none.
    [[nodiscard]] std::string heard() const {
        std::array<char, 256> text{};
        const ssize_t bytes = ::recv(socket_, text.data(), text.size(), 0);
        return bytes > 0 ? std::string(text.data(), static_cast<std::size_t>(bytes)) : "";
    }

    std::string name_;
    int socket_ = -1;
};

TEST_F(ServiceManagerTest, isReported) {
    const ServiceManager manager = ServiceManager::of_environment();
    EXPECT_TRUE(manager.listens());
    EXPECT_EQ(manager.obstacle(), "");
    manager.notify("READY=1\nSTATUS=well");
    EXPECT_EQ(heard(), "READY=1\nSTATUS=well");
}

TEST_F(ServiceManagerTest, neverWaitsForOneThatDoesNotListen) {
    const ServiceManager manager = ServiceManager::of_environment();
    for (int i = 0; i < 100'000; ++i) {
        manager.notify("WATCHDOG=1");
    }
    EXPECT_EQ(heard(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, hasAWatchdogOfItsOwnProcessOnly) {
    EXPECT_EQ(ServiceManager::of_environment().watchdog_ns(), std::nullopt);
    ::setenv("WATCHDOG_USEC", "10000000", 1);
    EXPECT_EQ(ServiceManager::of_environment().watchdog_ns(), 10'000'000'000);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    EXPECT_EQ(ServiceManager::of_environment().watchdog_ns(), 10'000'000'000);
    ::setenv("WATCHDOG_PID", "1", 1);
    EXPECT_EQ(ServiceManager::of_environment().watchdog_ns(), std::nullopt);
    ::unsetenv("WATCHDOG_PID");
    for (const char* no_time :
         {"", "0", "-5", "10s", "99999999999999999999", "9000000000000000000"}) {
        ::setenv("WATCHDOG_USEC", no_time, 1);
        EXPECT_EQ(ServiceManager::of_environment().watchdog_ns(), std::nullopt) << no_time;
    }
}

TEST_F(ServiceManagerTest, saysWhyItIsNotReported) {
    ::setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
    const ServiceManager missing = ServiceManager::of_environment();
    EXPECT_FALSE(missing.listens());
    EXPECT_NE(missing.obstacle().find("/nowhere/at/all"), std::string::npos);
    ::setenv("NOTIFY_SOCKET", std::string(500, 'x').c_str(), 1);
    EXPECT_NE(ServiceManager::of_environment().obstacle(), "");
    ::unsetenv("NOTIFY_SOCKET");
    const ServiceManager none = ServiceManager::of_environment();
    EXPECT_FALSE(none.listens());
    EXPECT_EQ(none.obstacle(), "");
    none.notify("READY=1");  // no service manager: does nothing
}

}  // namespace
}  // namespace pinstrike::actors
