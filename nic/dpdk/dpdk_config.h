// path: cold
#pragma once

#include "nic/packet/address.h"
#include "nic/port_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::nic::dpdk {

enum class Membership : std::uint8_t {
    igmp,
    fixed
};  ///< fixed is `static` in YAML: the switch forwards the groups without reports

/// The keys of a dpdk port, which has exactly one of pci and vdev.
struct DpdkConfig {
    std::string pci;                    ///< "0000:3b:00.0"
    std::string vdev;                   ///< "net_af_xdp0,iface=veth1,start_queue=0"
    std::vector<std::string> eal;       ///< EAL arguments that cannot be derived
    unsigned descriptors_count = 4096;  ///< receive descriptors per queue
    bool hugepages = true;              ///< false: EAL runs with --no-huge
    Membership membership = Membership::igmp;
    unsigned igmp_version = 3;  ///< the version of reports until a query asks for an older one
    Ipv4 source_address;        ///< of IGMP reports
    std::uint16_t vlan = 0;     ///< VLAN of the feed's frames; 0: untagged
};

[[nodiscard]] inline const DpdkConfig& own_of(const PortConfig& port) {
    return port.own.get<DpdkConfig>();
}

}  // namespace pinstrike::nic::dpdk
