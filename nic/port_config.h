// path: cold
#pragma once

#include "config/type_map.h"
#include "nic/packet/address.h"
#include "nic/packet/packet.h"
#include "nic/port_kinds.h"

#include <string>
#include <vector>

namespace pinstrike::nic {

/// One port of the config: a NIC, a kernel interface, captures, or the simulator.
struct PortConfig {
    std::string name;
    PortKind kind = PortKind::sim;
    TypeMap own;  ///< the config struct of the kind, which has the kind's own keys
    unsigned burst_packets = 64;
    std::vector<Subnet> sources;  ///< allowed senders; empty allows all
    ChecksumCheck udp_checksum = ChecksumCheck::offload;
    std::string streams = "AB";  ///< the copies of each line that arrive here: A, B or AB

    /// Not a YAML key: true if packets are kept (Port::keep_burst), which needs a larger buffer
    /// pool.
    bool keeps_packets = false;
};

}  // namespace pinstrike::nic
