// path: hot
#pragma once

#include "nic/port.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::actors {

/// Returns packets of another port until a granted number is reached, and then none until more
/// packets are granted. So several paths can use one port in turn. The other port must outlive this
/// object. If `drops_all`, it receives the packets and returns none of them.
class RationedPort final : public nic::Port {
  public:
    RationedPort(nic::Port& inner, bool drops_all)
        : Port("rationed"), inner_(inner), drops_all_(drops_all) {}

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        const std::size_t wanted = std::min(burst.size(), left_packets_);
        const std::size_t got = wanted == 0 ? 0 : inner_.receive(burst.first(wanted), now_ns);
        left_packets_ -= got;
        return drops_all_ ? 0 : got;
    }

    void grant(std::size_t packets) noexcept { left_packets_ += packets; }

    [[nodiscard]] bool spent() const noexcept { return left_packets_ == 0; }

  private:
    nic::Port& inner_;
    bool drops_all_;
    std::size_t left_packets_ = 0;
};

}  // namespace pinstrike::actors
