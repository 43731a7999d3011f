// path: cold
//
// The kernel's side of the interface of an AF_XDP or AF_PACKET port: its address filter and its
// link.
#pragma once

#include "nic/packet/mac.h"

#include <atomic>
#include <span>
#include <string>

namespace pinstrike::nic::dpdk {

/// A packet socket that receives nothing and adds group addresses to the interface's filter. The
/// kernel counts references to each address and removes the socket's when the socket is closed,
/// even if the process crashes.
class KernelInterface {
  public:
    explicit KernelInterface(std::string name);
    ~KernelInterface();

    KernelInterface(const KernelInterface&) = delete;
    KernelInterface& operator=(const KernelInterface&) = delete;

    /// Adds the addresses to the filter; false if the kernel refuses one.
    [[nodiscard]] bool admit(std::span<const Mac> addresses);

    /// True if the interface exists, is up and has a carrier. One system call.
    [[nodiscard]] bool link_up() const;

    /// True if another interface has its name now, and is up. Called by one cold thread; link_up()
    /// is false then.
    [[nodiscard]] bool replaced() const;

  private:
    [[nodiscard]] bool is_up() const;

    std::string name_;
    int socket_ = -1;
    unsigned index_ = 0;
    /// Relaxed, because it publishes no other data.
    mutable std::atomic<bool> replaced_ = false;
};

/// The number of receive queues over which a kernel interface spreads its frames; 0 if unknown.
[[nodiscard]] unsigned receive_queues_of(const std::string& interface);

}  // namespace pinstrike::nic::dpdk
