// path: cold
//
// Parses virtual devices, and lists properties of their drivers. DPDK's statistics do not
// distinguish "no loss" from "not counted"; DriverTraits does.
#pragma once

#include "nic/port_config.h"
#include "nic/port_needs.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::nic::dpdk {

/// "net_af_xdp0,iface=veth1,start_queue=0", parsed.
struct Vdev {
    std::string name;            ///< "net_af_xdp0"
    std::string driver;          ///< "net_af_xdp"
    std::string arguments_text;  ///< "iface=veth1,start_queue=0"
    std::vector<std::pair<std::string, std::string>> arguments;

    /// The first argument with this name.
    [[nodiscard]] std::optional<std::string> argument(std::string_view key) const;

    /// All arguments with this name, in order.
    [[nodiscard]] std::vector<std::string> arguments_named(std::string_view key) const;
};

[[nodiscard]] Vdev parse_vdev(std::string_view text);

/// Which losses a driver counts, and how it receives.
struct DriverTraits {
    bool counts_missed = true;
    bool counts_no_buffer = true;
    bool counts_errors = true;
    bool kernel_interface = false;    ///< uses an interface that the kernel keeps
    bool feeds_queues_apart = false;  ///< each queue has its own input and needs no steering
};

/// A driver, by the beginning of the names of its devices.
struct Driver {
    std::string_view name;
    DriverTraits traits;
    std::vector<SystemCall> calls;  ///< in bursts and in housekeeping
    std::vector<Right> rights;      ///< to open a device; without a purpose: not kept then
};

/// The driver of a port's virtual device. A PCI device has one without a name, as has an unknown
/// virtual device.
[[nodiscard]] const Driver& driver_of(const PortConfig& port);

/// The traits of this driver, as the port uses it.
[[nodiscard]] DriverTraits driver_traits(const PortConfig& port);

/// The kernel interface that a port uses; empty for a device that bypasses the kernel.
[[nodiscard]] std::string kernel_interface(const PortConfig& port);

/// DPDK's name of the device: the name of the vdev, or the PCI address.
[[nodiscard]] std::string device_name(const PortConfig& port);

/// The capture files that net_pcap loads completely into buffers because it repeats them. Each
/// queue has one file.
[[nodiscard]] std::vector<std::string> preloaded_captures(const PortConfig& port);

/// The config of a port that repeats a capture endlessly, for benchmarks. `index` is unique in the
/// process.
[[nodiscard]] PortConfig looped_capture(std::size_t index, const std::string& file, bool hugepages);

}  // namespace pinstrike::nic::dpdk
