// path: cold
//
// Computes how much memory DPDK needs for the ports of a config, without starting DPDK, so that
// `check` can print it.
#pragma once

#include "config/memory_sizes.h"
#include "config/problem.h"
#include "nic/dpdk/host.h"
#include "nic/port_config.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic::dpdk {

/// A buffer has 128 bytes of mbuf, 128 of headroom and 2048 for the frame. DPDK's pool adds a
/// header of one cache line, and may pad by another cache line to spread buffers over memory
/// channels.
inline constexpr std::size_t frame_room_bytes = 2048;
inline constexpr std::size_t buffer_bytes = 128 + 128 + frame_room_bytes + 2 * 64;

/// The number of free buffers in each thread's cache; DPDK's maximum.
inline constexpr unsigned pool_cache_buffers = 512;

/// Transmit descriptors of the queue that carries membership reports.
inline constexpr unsigned transmit_descriptors = 512;

/// A buffer that a device writes to must not straddle pages, so an ordinary page holds one.
static_assert(buffer_bytes <= ordinary_page_bytes && 2 * buffer_bytes > ordinary_page_bytes);

/// Memory of EAL and its drivers besides buffers and descriptors. With virtual devices it is below
/// 1 MiB; the rest is reserved for NIC drivers and partly filled pages.
inline constexpr std::size_t runtime_bytes = std::size_t{16} << 20;

/// A port, and the properties that determine how much memory it needs.
struct PortDemand {
    PortConfig config;
    unsigned queues = 1;
    /// The number of frames that net_pcap stores in the buffers of one queue: that of the largest
    /// capture.
    std::size_t preloaded_frames = 0;
    /// The NUMA node of the device, on which its buffers are allocated; negative: any node.
    int node = -1;
};

/// Describes a port: counts the frames of captures that net_pcap would preload, and looks up the
/// device's NUMA node.
[[nodiscard]] PortDemand demand_of(const PortConfig& config, unsigned queues);

/// Whether the ports use hugepages; the setting is the same for all of them.
[[nodiscard]] bool uses_hugepages(std::span<const PortDemand> ports);

struct MemoryNeed {
    std::size_t buffers_per_queue = 0;
    std::size_t bytes_per_buffer = 0;
    std::size_t pool_bytes = 0;  ///< all queues
    std::size_t ring_bytes = 0;  ///< descriptors, all queues
    std::size_t total_bytes = 0;
};

[[nodiscard]] MemoryNeed memory_need(const PortDemand& port);

/// The memory that all ports and DPDK itself need.
[[nodiscard]] std::size_t memory_need_bytes(std::span<const PortDemand> ports);

/// The number of hugepages of 2 MiB that the ports need, by the NUMA node of their devices. Key -1
/// has the pages that may be on any node. Empty if no port uses hugepages.
[[nodiscard]] std::map<int, std::size_t> hugepages_needed(std::span<const PortDemand> ports);

/// "port a0: 2 queues x 6,336 buffers x 2,432 bytes = 30 MiB": one text line per port, and the sum.
[[nodiscard]] std::string memory_need_text(std::span<const PortDemand> ports);

/// Compares the need with the free hugepages, in total and on the devices' nodes. A Problem states
/// both numbers and the command that reserves enough pages. Empty if no port uses hugepages.
[[nodiscard]] Problems check_hugepages(std::span<const PortDemand> ports,
                                       std::span<const Hugepages> pages);

/// The number of frames in a pcap or pcapng file; 0 if it cannot be read.
[[nodiscard]] std::size_t count_frames(const std::string& file);

}  // namespace pinstrike::nic::dpdk
