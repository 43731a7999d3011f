// path: cold
#pragma once

#include "nic/packet/address.h"
#include "nic/packet/packet.h"
#include "nic/port_kinds.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::nic {

enum class Membership : std::uint8_t {
    igmp,
    fixed
};  ///< fixed is `static` in YAML: the switch forwards the groups without reports

/// Replay pace of captures: 0 is as fast as possible, 1 is real time, 2.5 is 2.5 times as fast.
struct Pace {
    double factor = 0;
};

/// Parses "max", "real", or a factor such as "x2.5". nullopt if the text is none of these.
[[nodiscard]] std::optional<Pace> parse_pace(const std::string& text);

/// One port of the config: a NIC, a kernel interface, captures, or the simulator.
struct PortConfig {
    std::string name;
    PortKind kind = PortKind::sim;

    // dpdk, with exactly one of pci and vdev
    std::string pci;                    ///< "0000:3b:00.0"
    std::string vdev;                   ///< "net_af_xdp0,iface=veth1,start_queue=0"
    std::vector<std::string> eal;       ///< EAL arguments that cannot be derived
    unsigned descriptors_count = 4096;  ///< receive descriptors per queue
    bool hugepages = true;              ///< false: EAL runs with --no-huge

    std::string interface;  ///< uring: the kernel interface that joins the groups
    std::size_t kernel_buffer_bytes = 64 << 20;  ///< uring: the SO_RCVBUF that is requested

    // captures
    std::vector<std::string> files;
    Pace pace;

    // all
    unsigned burst_packets = 64;
    Membership membership = Membership::igmp;
    unsigned igmp_version = 3;    ///< the version of reports until a query asks for an older one
    Ipv4 source_address;          ///< of IGMP reports
    std::uint16_t vlan = 0;       ///< VLAN of the feed's frames; 0: untagged
    std::vector<Subnet> sources;  ///< allowed senders; empty allows all
    ChecksumCheck udp_checksum = ChecksumCheck::offload;
    std::string streams = "AB";  ///< the copies of each line that arrive here: A, B or AB

    /// Not a YAML key: true if packets are kept (Port::keep_burst), which needs a larger buffer
    /// pool.
    bool keeps_packets = false;
};

}  // namespace pinstrike::nic
