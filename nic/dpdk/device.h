// path: cold
//
// Opens, runs and closes an Ethernet device with all its receive queues. The Ports of the queues
// share the device.
#pragma once

#include "config/problem.h"
#include "nic/dpdk/eal.h"
#include "nic/dpdk/kernel_interface.h"
#include "nic/dpdk/library.h"
#include "nic/packet/mac.h"
#include "nic/port.h"
#include "nic/port_config.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::nic::dpdk {

/// How multicast frames pass the device's address filter.
enum class Admission : std::uint8_t {
    address_list,    ///< by the driver's list of addresses
    kernel_list,     ///< by the list of the kernel's interface
    all_multicast,   ///< all groups pass, because the driver supports no list
    promiscuous,     ///< all frames pass, because the driver supports neither
    nothing_to_ask,  ///< the driver has no filter (net_pcap, net_ring, net_null)
};

/// A NIC's clock and the wall clock, read at the same time.
struct ClockReading {
    std::uint64_t ticks = 0;
    std::int64_t wall_ns = 0;
};

/// Where the driver stores the receive time stamp of a frame.
struct StampField {
    int offset = -1;
    std::uint64_t flag = 0;  ///< set in ol_flags of a frame that has a stamp; 0: no stamps
};

class Device {
  public:
    /// Opens the device. If a step fails, undoes the steps before it, adds problems and returns
    /// null.
    static std::shared_ptr<Device> open(const std::shared_ptr<Eal>& eal, const PortConfig& port,
                                        const std::vector<std::vector<Group>>& groups_by_queue,
                                        Problems& problems);
    ~Device();

    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    [[nodiscard]] std::uint16_t id() const { return id_; }

    [[nodiscard]] rte_mempool* pool(std::uint16_t queue) const { return pools_[queue]; }

    [[nodiscard]] bool verifies_checksums() const { return verifies_checksums_; }

    [[nodiscard]] const StampField& stamps() const { return stamps_; }

    [[nodiscard]] bool transmits() const { return transmit_queues_ != 0; }

    [[nodiscard]] Mac mac() const;

    /// The counters of all queues together, since the start. A mutex serializes the calls because
    /// drivers may not support concurrent calls (net_e1000_em then mixes register reads and reports
    /// a good link as down).
    [[nodiscard]] DeviceStatistics statistics() const;

    /// The link state that the last call of statistics() found. Poll threads use it because a
    /// driver may take long to read the state from the device.
    [[nodiscard]] std::optional<bool> link_up() const;

    /// True if the kernel interface was deleted and created again. The driver's sockets then
    /// receive nothing.
    [[nodiscard]] bool interface_lost() const { return kernel_ != nullptr && kernel_->replaced(); }

    /// Adds groups to the address filter; cold, and allowed while queues are polled. False, with a
    /// problem added, if the driver refuses.
    [[nodiscard]] bool admit_more(std::span<const Group> groups, Problems& problems);

    /// Reads the NIC's clock; nullopt if the driver cannot, and its time stamps are then unusable.
    [[nodiscard]] std::optional<ClockReading> read_clock() const;

  private:
    Device(std::shared_ptr<Eal> eal, const PortConfig& port);

    static std::shared_ptr<Device> open_once(std::shared_ptr<Eal> eal, const PortConfig& port,
                                             std::uint16_t queues, Problems& problems);
    bool create(Problems& problems);
    bool configure(std::uint16_t queues, Problems& problems);
    bool set_up_queues(std::uint16_t queues, Problems& problems);
    bool set_up_each_queue(std::uint16_t queues, Problems& problems);
    bool make_pool(std::uint16_t queue, Problems& problems);
    bool start(Problems& problems);
    void choose_offloads(const rte_eth_dev_info& info, rte_eth_conf& wanted);
    void choose_clock();
    void admit(const std::vector<std::vector<Group>>& groups_by_queue);
    void report_error(Problems& problems, std::string_view what, int error);
    [[nodiscard]] std::optional<bool> ask_link() const;

    enum class Link : std::uint8_t { unknown, down, up };

    std::shared_ptr<Eal> eal_;
    PortConfig port_;
    std::uint16_t id_ = RTE_MAX_ETHPORTS;
    bool created_ = false;
    bool started_ = false;
    bool verifies_checksums_ = false;
    bool clock_by_timesync_ = false;
    StampField stamps_;
    Admission admission_ = Admission::nothing_to_ask;
    std::vector<Mac> admitted_;  ///< sorted
    std::uint16_t transmit_queues_ = 0;
    std::vector<rte_mempool*> pools_;
    std::unique_ptr<KernelInterface> kernel_;
    std::vector<int> af_xdp_sockets_;
    rte_eth_stats at_start_{};
    mutable std::mutex asking_;  ///< serializes cold threads that call the driver
    /// Relaxed order is enough because it publishes no other data.
    mutable std::atomic<Link> link_{Link::unknown};
};

}  // namespace pinstrike::nic::dpdk
