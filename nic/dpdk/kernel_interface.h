// path: cold
//
// Access to the kernel interface of an AF_XDP or AF_PACKET port: its address filter and its link.
#pragma once

#include "nic/file_descriptor.h"
#include "nic/packet/mac.h"

#include <atomic>
#include <span>
#include <string>

namespace pinstrike::nic::dpdk {

/// A packet socket that receives nothing and adds group addresses to the interface's filter. The
/// kernel counts references to each address, and drops those of the socket when the socket is
/// closed, even if the process crashes.
class KernelInterface {
  public:
    explicit KernelInterface(std::string name);

    /// Adds the addresses to the filter; false if the kernel refuses one.
    [[nodiscard]] bool admit(std::span<const Mac> addresses);

    /// True if the interface exists, is up and has a carrier. One system call.
    [[nodiscard]] bool link_up() const;

    /// True if another interface now has the name, and is up. link_up() then returns false. Called
    /// by one cold thread.
    [[nodiscard]] bool replaced() const;

  private:
    [[nodiscard]] bool is_up() const;

    std::string name_;
    FileDescriptor socket_;
    unsigned index_ = 0;
    /// Relaxed order is enough because it publishes no other data.
    mutable std::atomic<bool> replaced_ = false;
};

/// The number of receive queues over which a kernel interface spreads its frames; 0 if unknown.
[[nodiscard]] unsigned receive_queues_of(const std::string& interface);

}  // namespace pinstrike::nic::dpdk
