// path: cold
//
// Virtual devices by name, and what is known of their drivers. DPDK's own figures cannot tell
// "none" from "not counted": the table here does.
#pragma once

#include "nic/port_config.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::nic::dpdk {

/// "net_af_xdp0,iface=veth1,start_queue=0", taken apart.
struct Vdev {
    std::string name;    ///< "net_af_xdp0"
    std::string driver;  ///< "net_af_xdp"
    std::vector<std::pair<std::string, std::string>> arguments;

    /// The first argument of this name.
    [[nodiscard]] std::optional<std::string> argument(std::string_view key) const;

    /// All arguments of this name, in order.
    [[nodiscard]] std::vector<std::string> arguments_named(std::string_view key) const;

    /// The arguments again as one text, as DPDK takes them.
    [[nodiscard]] std::string arguments_text() const;
};

[[nodiscard]] Vdev parse_vdev(std::string_view text);

/// What a driver counts and needs.
struct DriverTraits {
    bool counts_missed = true;
    bool counts_no_buffer = true;
    bool counts_errors = true;
    bool kernel_interface = false;    ///< works on an interface that the kernel keeps
    bool feeds_queues_apart = false;  ///< each queue has an input of its own: nothing to steer
};

/// Of the driver of a port; a PCI device counts everything and needs nothing.
[[nodiscard]] DriverTraits driver_traits(const PortConfig& port);

/// The kernel interface that a port works on; empty for a device taken from the kernel.
[[nodiscard]] std::string kernel_interface(const PortConfig& port);

/// The name under which DPDK knows the device: the vdev's, or the PCI address.
[[nodiscard]] std::string device_name(const PortConfig& port);

/// net_pcap keeps a whole capture in buffers when it repeats it; the files it does so with, one a
/// queue.
[[nodiscard]] std::vector<std::string> preloaded_captures(const PortConfig& port);

}  // namespace pinstrike::nic::dpdk
