// path: cold
//
// Systemd's service manager, where it started this program: it is told by the datagrams of
// sd_notify(3), whose few words are stable and documented there for those who do without its
// library. Where nobody listens, all of it does nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors {

class ServiceManager {
  public:
    /// By NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. Open it before rights are dropped.
    static ServiceManager of_environment();

    ServiceManager() = default;
    ServiceManager(ServiceManager&& other) noexcept;
    ServiceManager& operator=(ServiceManager&&) = delete;
    ServiceManager(const ServiceManager&) = delete;
    ServiceManager& operator=(const ServiceManager&) = delete;
    ~ServiceManager();

    [[nodiscard]] bool listens() const { return socket_ >= 0; }

    /// Why it cannot be told though it asked to be; empty: it can, or did not ask.
    [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

    /// How long it waits for "WATCHDOG=1" before it ends the program; none: it does not wait.
    [[nodiscard]] std::optional<std::int64_t> watchdog_ns() const { return watchdog_ns_; }

    /// Assignments, one a line: "READY=1", "STATUS=...", "WATCHDOG=1", "STOPPING=1". Never waits: a
    /// word that finds no room is lost, and the next one follows.
    void tell(std::string_view assignments) const;

  private:
    int socket_ = -1;
    std::string obstacle_;
    std::optional<std::int64_t> watchdog_ns_;
};

}  // namespace pinstrike::actors
