// path: cold
//
// The side of a port's interface that the kernel keeps (AF_XDP, AF_PACKET): its address filter and
// its link.
#pragma once

#include "nic/packet/mac.h"

#include <atomic>
#include <span>
#include <string>

namespace pinstrike::nic::dpdk {

/// A packet socket that receives nothing: it holds group addresses in the interface's filter. They
/// are counted by the kernel and leave with the socket, however the process ends.
class KernelInterface {
  public:
    explicit KernelInterface(std::string name);
    ~KernelInterface();

    KernelInterface(const KernelInterface&) = delete;
    KernelInterface& operator=(const KernelInterface&) = delete;

    /// Filters the addresses in; false if the kernel refuses one.
    [[nodiscard]] bool admit(std::span<const Mac> addresses);

    /// Whether the interface is there, is up and has a carrier. One system call.
    [[nodiscard]] bool link_up() const;

    /// Another interface has its name now, and is up. By one cold thread, link_up() heeds it.
    [[nodiscard]] bool replaced() const;

  private:
    [[nodiscard]] bool is_up() const;

    std::string name_;
    int socket_ = -1;
    unsigned index_ = 0;
    /// Relaxed: nothing else is read by it.
    mutable std::atomic<bool> replaced_ = false;
};

/// The receive queues that an interface of the kernel spreads its frames over; 0 if it does not
/// say.
[[nodiscard]] unsigned receive_queues_of(const std::string& interface);

}  // namespace pinstrike::nic::dpdk
