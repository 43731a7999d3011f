// path: cold
//
// Notifies systemd's service manager by the datagrams of sd_notify(3), whose format is stable and
// documented for programs that do not link libsystemd. Does nothing if no service manager started
// this program.
#pragma once

#include "nic/file_descriptor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors {

class ServiceManager {
  public:
    /// Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and connects the socket. Must be called
    /// before rights are dropped.
    static ServiceManager of_environment();

    [[nodiscard]] bool listens() const { return socket_.valid(); }

    /// Why the socket named by NOTIFY_SOCKET cannot be used; empty: it can, or none is named.
    [[nodiscard]] const std::string& obstacle() const { return obstacle_; }

    /// The time without "WATCHDOG=1" after which systemd ends the program; nothing: no watchdog.
    [[nodiscard]] std::optional<std::int64_t> watchdog_ns() const { return watchdog_ns_; }

    /// Gives the service manager a copy of a descriptor, which it passes to the next start of this
    /// service (FileDescriptorStoreMax in the unit). The name has letters only.
    void keep_descriptor(int descriptor, const std::string& name) const;

    /// A descriptor of that name that the service manager passed to this process (LISTEN_FDS); -1:
    /// none.
    [[nodiscard]] static int kept_descriptor(std::string_view name);

    /// Sends assignments, one per line: "READY=1", "STATUS=...", "WATCHDOG=1", "STOPPING=1". Never
    /// blocks: the datagram is lost if the socket's buffer is full.
    void notify(std::string_view assignments) const;

  private:
    nic::FileDescriptor socket_;
    std::string obstacle_;
    std::optional<std::int64_t> watchdog_ns_;
};

}  // namespace pinstrike::actors
