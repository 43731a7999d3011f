// path: cold
//
// One receive queue of a DPDK device.
#pragma once

#include "nic/dpdk/device.h"
#include "nic/dpdk/device_clock.h"
#include "nic/dpdk/held_buffers.h"
#include "nic/multicast/membership.h"
#include "nic/port.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic::dpdk {

struct QueueConfig {
    std::uint16_t queue = 0;
    unsigned burst_packets = 64;
    /// Set on the first queue of a device only, because IGMP queries arrive there.
    std::optional<MembershipConfig> membership;
    bool keeps = false;  ///< packets may be kept; the pool has buffers for them
};

class DpdkPort final : public Port {
  public:
    DpdkPort(std::string name, std::shared_ptr<Device> device, QueueConfig config);
    ~DpdkPort() override;

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    [[nodiscard]] bool keeps() const override { return keeps_; }

    /// Works only on a device's first queue, because flow rules that are installed at the start
    /// steer the groups of the other queues.
    [[nodiscard]] std::unique_ptr<MoreGroups> prepare(std::span<const Group> groups,
                                                      Problems& problems) override;
    void join(MoreGroups& groups, std::int64_t now_ns) override;

    void housekeep(std::int64_t now_ns) override;
    void on_igmp(const Packet& packet, std::int64_t now_ns) override;
    [[nodiscard]] InterfaceChange follow_interface() const override;
    [[nodiscard]] DeviceStatistics statistics() const override;

    [[nodiscard]] const Device& device() const { return *device_; }

  private:
    class Reports;

    template <bool from_hardware>
    void fill_packets(std::span<Packet> burst, std::int64_t now_ns) noexcept;
    void give_back() noexcept;
    void attach() noexcept;
    void watch_link(std::int64_t now_ns);

    // The members that receive() uses are kept together.
    std::uint16_t device_id_;
    std::uint16_t queue_;
    bool attached_ = false;
    bool from_hardware_;  ///< time stamps or checksum verdicts are read from buffers
    bool verifies_checksums_;
    StampField stamps_;
    rte_mempool* pool_;
    rte_mempool_cache* cache_ = nullptr;  ///< of the poll thread
    std::size_t burst_packets_;
    HeldBuffers held_;
    DeviceClock clock_;

    // Members for housekeeping.
    std::shared_ptr<Device> device_;
    std::optional<GroupMembership> membership_;
    std::int64_t now_ns_ = 0;  ///< of the last housekeeping
    std::int64_t link_due_ns_ = 0;
    std::int64_t clock_due_ns_ = 0;
    bool keeps_;
    std::optional<bool> link_up_;
    bool announced_ = false;
};

}  // namespace pinstrike::nic::dpdk
