// path: mixed, hot: receive()
#include "nic/sim/sim_port.h"

#include "config/check.h"

#include <utility>

namespace pinstrike::nic {

SimPort::SimPort(std::string name, std::unique_ptr<FrameSource> source)
    : Port(std::move(name)), source_(std::move(source)) {
    PINSTRIKE_CHECK(source_ != nullptr);
}

// --- hot ---

std::size_t SimPort::receive(std::span<Packet> burst, std::int64_t now_ns) {
    const std::size_t count = source_->fill(burst, now_ns);
    PINSTRIKE_CHECK(count <= burst.size());
    count_burst(burst.first(count), burst.size());
    return count;
}

}  // namespace pinstrike::nic
