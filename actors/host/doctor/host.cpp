// path: cold
#include "actors/host/doctor/host.h"

#include <algorithm>

namespace pinstrike::actors::doctor {

const HostCpu* Host::find_cpu(CpuIndex index) const {
    const auto found = std::find_if(cpus.begin(), cpus.end(),
                                    [=](const HostCpu& cpu) { return cpu.index == index; });
    return found == cpus.end() ? nullptr : &*found;
}

const HostNic* Host::find_nic(const std::string& address) const {
    const auto found = std::find_if(nics.begin(), nics.end(),
                                    [&](const HostNic& nic) { return nic.address == address; });
    return found == nics.end() ? nullptr : &*found;
}

int Host::nodes_count() const {
    int highest = 0;
    for (const HostCpu& cpu : cpus) {
        highest = std::max(highest, cpu.node);
    }
    return highest + 1;
}

}  // namespace pinstrike::actors::doctor
