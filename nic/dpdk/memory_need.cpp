// path: cold
#include "nic/dpdk/memory_need.h"

#include "config/memory_sizes.h"
#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/vdev.h"
#include "nic/port.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>

namespace pinstrike::nic::dpdk {
namespace {

/// The largest descriptor of the supported drivers, plus the driver's pointer to its buffer.
constexpr std::size_t descriptor_bytes = 128;

/// A buffer's share of the pool's free list, a ring with up to twice as many slots as buffers.
constexpr std::size_t free_list_bytes = 16;

/// A pool has a cache for each of DPDK's 128 possible threads; its array has three times the cache
/// size.
constexpr std::size_t pool_caches_bytes = 128 * (3 * pool_cache_buffers + 8) * 8;

std::size_t hugepages_of(std::size_t bytes) {
    return (bytes + huge_page_bytes - 1) / huge_page_bytes;
}

std::size_t mebibytes(std::size_t bytes) {
    return (bytes + mebibyte - 1) / mebibyte;
}

std::uint32_t swapped(std::uint32_t value) {
    return __builtin_bswap32(value);
}

/// Classic pcap: a file header of 24 bytes, then records with a header of 16 bytes and a frame.
std::size_t count_pcap(std::ifstream& in, bool swap) {
    std::size_t count = 0;
    in.seekg(24);
    for (std::uint32_t record[4]; in.read(reinterpret_cast<char*>(record), sizeof record);) {
        in.seekg(swap ? swapped(record[2]) : record[2], std::ios::cur);
        ++count;
    }
    return count;
}

/// pcapng: blocks with type and length; blocks of types 2, 3 and 6 contain a frame.
std::size_t count_pcapng(std::ifstream& in) {
    std::size_t count = 0;
    bool swap = false;
    in.seekg(0);
    for (std::uint32_t head[3]; in.read(reinterpret_cast<char*>(head), sizeof head);) {
        constexpr std::uint32_t section = 0x0A0D0D0A;
        if (head[0] == section) {
            swap = head[2] != 0x1A2B3C4D;
        }
        const std::uint32_t type = swap ? swapped(head[0]) : head[0];
        const std::uint32_t length = swap ? swapped(head[1]) : head[1];
        if (length < sizeof head) {
            break;
        }
        count += static_cast<std::size_t>(type == 2 || type == 3 || type == 6);
        in.seekg(static_cast<std::streamoff>(length - sizeof head), std::ios::cur);
    }
    return count;
}

std::string pages_text(std::span<const Hugepages> pages) {
    std::string text;
    for (const Hugepages& size : pages) {
        text +=
            fmt::format("{}{} of {} pages of {} MiB free on node {}", text.empty() ? "" : ", ",
                        size.free_count, size.total_count, mebibytes(size.page_bytes), size.node);
    }
    return text.empty() ? "this kernel has no hugepages" : text;
}

/// The command that makes `need` bytes of hugepages free: in total (`node` < 0), or on one node.
std::string fixes_text(std::size_t need, std::span<const Hugepages> pages, int node) {
    std::size_t in_use = 0;
    for (const Hugepages& size : pages) {
        const bool counts = node < 0 || size.node == static_cast<unsigned>(node);
        in_use +=
            counts && size.page_bytes == huge_page_bytes ? size.total_count - size.free_count : 0;
    }
    return fmt::format("echo {} > {} (or `hugepages: false` in the port)",
                       in_use + hugepages_of(need), hugepages_file(node));
}

std::size_t bytes_on(std::span<const Hugepages> pages, int node, std::size_t Hugepages::*count) {
    std::size_t bytes = 0;
    for (const Hugepages& size : pages) {
        const bool counts = node < 0 || size.node == static_cast<unsigned>(node);
        bytes += counts ? size.page_bytes * size.*count : 0;
    }
    return bytes;
}

/// If enough pages are reserved but not free, another program uses them now, so a retry may
/// succeed.
Remedy remedy_of_want(std::size_t need, std::span<const Hugepages> pages, int node) {
    return bytes_on(pages, node, &Hugepages::total_count) < need ? Remedy::change : Remedy::retry;
}

}  // namespace

std::size_t count_frames(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::uint32_t magic = 0;
    if (!in.read(reinterpret_cast<char*>(&magic), sizeof magic)) {
        return 0;
    }
    switch (magic) {
        case 0xA1B2C3D4:
        case 0xA1B23C4D:
            return count_pcap(in, false);
        case 0xD4C3B2A1:
        case 0x4D3CB2A1:
            return count_pcap(in, true);
        case 0x0A0D0D0A:
            return count_pcapng(in);
        default:
            return 0;
    }
}

PortDemand demand_of(const PortConfig& config, unsigned queues) {
    PortDemand demand{config, queues, 0, -1};
    if (!own_of(config).pci.empty()) {
        demand.node = pci_node(device_name(config));
    }
    for (const std::string& file : preloaded_captures(config)) {
        demand.preloaded_frames = std::max(demand.preloaded_frames, count_frames(file));
    }
    return demand;
}

bool uses_hugepages(std::span<const PortDemand> ports) {
    return !ports.empty() && own_of(ports.front().config).hugepages;
}

MemoryNeed memory_need(const PortDemand& port) {
    const std::size_t descriptors = own_of(port.config).descriptors_count;
    // An AF_XDP socket has two receive-side rings of buffers: the fill ring and the receive ring.
    const bool two_rings = parse_vdev(own_of(port.config).vdev).driver == "net_af_xdp";
    MemoryNeed need;
    need.buffers_per_queue = descriptors * (two_rings ? 2 : 1)   // held by the device
                             + port.config.burst_packets         // held by the poller
                             + 2 * (pool_cache_buffers * 3 / 2)  // in two threads' caches
                             + transmit_descriptors              // IGMP reports being sent
                             + (port.config.keeps_packets ? kept_packets_max : 0) +
                             port.preloaded_frames + 256;
    // Buffers of AF_XDP are contiguous (device.cpp).
    need.bytes_per_buffer =
        own_of(port.config).hugepages || two_rings ? buffer_bytes : ordinary_page_bytes;
    need.pool_bytes =
        port.queues *
        (need.buffers_per_queue * (need.bytes_per_buffer + free_list_bytes) + pool_caches_bytes);
    need.ring_bytes = port.queues * (descriptors + transmit_descriptors) * descriptor_bytes;
    need.total_bytes = need.pool_bytes + need.ring_bytes;
    return need;
}

std::size_t memory_need_bytes(std::span<const PortDemand> ports) {
    std::size_t total = runtime_bytes;
    for (const PortDemand& port : ports) {
        total += memory_need(port).total_bytes;
    }
    return total;
}

std::map<int, std::size_t> hugepages_needed(std::span<const PortDemand> ports) {
    std::map<int, std::size_t> pages;
    if (!uses_hugepages(ports)) {
        return pages;
    }
    std::map<int, std::size_t> bytes{{-1, runtime_bytes}};
    for (const PortDemand& port : ports) {
        bytes[port.node < 0 ? -1 : port.node] += memory_need(port).total_bytes;
    }
    for (const auto& [node, need] : bytes) {
        pages[node] = hugepages_of(need);
    }
    return pages;
}

std::string memory_need_text(std::span<const PortDemand> ports) {
    std::string text;
    for (const PortDemand& port : ports) {
        const MemoryNeed need = memory_need(port);
        text += fmt::format("port {}: {} queue{} x {} buffers x {} bytes = {} MiB, rings {} MiB\n",
                            port.config.name, port.queues, port.queues == 1 ? "" : "s",
                            need.buffers_per_queue, need.bytes_per_buffer,
                            mebibytes(need.pool_bytes), mebibytes(need.ring_bytes));
    }
    const std::size_t total = memory_need_bytes(ports);
    text += fmt::format("DPDK itself {} MiB; together {} MiB", mebibytes(runtime_bytes),
                        mebibytes(total));
    text += uses_hugepages(ports) ? fmt::format(" = {} hugepages of 2 MiB\n", hugepages_of(total))
                                  : " of ordinary pages\n";
    return text;
}

Problems check_hugepages(std::span<const PortDemand> ports, std::span<const Hugepages> pages) {
    if (!uses_hugepages(ports)) {
        return {};
    }
    std::map<int, std::size_t> needs{{-1, memory_need_bytes(ports)}};
    for (const PortDemand& port : ports) {
        if (port.node >= 0) {
            needs[port.node] += memory_need(port).total_bytes;
        }
    }
    Problems problems;
    for (const auto& [node, need] : needs) {
        const std::size_t free_bytes = bytes_on(pages, node, &Hugepages::free_count);
        if (free_bytes >= need) {
            continue;
        }
        add_problem(problems, "",
                    fmt::format("dpdk ports{} need {} MiB of {}hugepages, {} MiB are free ({}): {}",
                                node < 0 ? "" : fmt::format(" on NUMA node {}", node),
                                mebibytes(need), node < 0 ? "" : "its ", free_bytes / mebibyte,
                                pages_text(pages), fixes_text(need, pages, node)),
                    remedy_of_want(need, pages, node));
        if (node < 0) {
            break;  // more pages are needed in any case
        }
    }
    return problems;
}

}  // namespace pinstrike::nic::dpdk
