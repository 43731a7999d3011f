// path: cold
#include "nic/dpdk/device.h"

#include "config/wall_time.h"
#include "nic/dpdk/af_xdp_sockets.h"
#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/steering.h"
#include "nic/dpdk/vdev.h"
#include "nic/multicast/igmp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

namespace pinstrike::nic::dpdk {
namespace {

/// The MAC addresses of all groups, without duplicates (thirty-two groups share one). With IGMP the
/// list includes the address of all_hosts, because general queries are sent to that group.
std::vector<Mac> addresses_of(const std::vector<std::vector<Group>>& groups_by_queue,
                              Membership membership) {
    std::vector<Mac> addresses;
    if (membership == Membership::igmp) {
        addresses.push_back(multicast_mac(all_hosts));
    }
    for (const std::vector<Group>& groups : groups_by_queue) {
        for (const Group& group : groups) {
            addresses.push_back(multicast_mac(group.address));
        }
    }
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    return addresses;
}

int set_address_list(std::uint16_t device, const std::vector<Mac>& addresses) {
    std::vector<rte_ether_addr> list(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        std::memcpy(list[i].addr_bytes, addresses[i].octets.data(), sizeof list[i].addr_bytes);
    }
    return rte_eth_dev_set_mc_addr_list(device, list.data(),
                                        static_cast<std::uint32_t>(list.size()));
}

std::string_view text_of(Admission admission) {
    switch (admission) {
        case Admission::address_list:
            return "by the NIC's address list";
        case Admission::kernel_list:
            return "by the kernel's address list of the interface";
        case Admission::all_multicast:
            return "with all multicast: the driver has no address list";
        case Admission::promiscuous:
            return "with everything else: the driver filters no multicast";
        case Admission::nothing_to_ask:
            break;
    }
    return "without a request: the driver has no address filter";
}

}  // namespace

Device::Device(std::shared_ptr<Eal> eal, const PortConfig& port)
    : eal_(std::move(eal)), port_(port) {}

std::shared_ptr<Device> Device::open_once(std::shared_ptr<Eal> eal, const PortConfig& port,
                                          std::uint16_t queues, Problems& problems) {
    std::shared_ptr<Device> device(new Device(std::move(eal), port));
    const bool opened = device->create(problems) && device->configure(queues, problems) &&
                        device->set_up_queues(queues, problems) && device->start(problems);
    return opened ? device : nullptr;
}

std::shared_ptr<Device> Device::open(const std::shared_ptr<Eal>& eal, const PortConfig& port,
                                     const std::vector<std::vector<Group>>& groups_by_queue,
                                     Problems& problems) {
    const std::size_t problems_before = problems.size();
    const auto queues = static_cast<std::uint16_t>(groups_by_queue.size());
    std::shared_ptr<Device> device = open_once(eal, port, queues, problems);
    // The kernel frees an interface's queue some milliseconds after its socket was closed, so the
    // queue may still be in use after a quick restart. Each retry has to create the driver's device
    // again.
    const bool may_be_taken_still = parse_vdev(own_of(port).vdev).driver == "net_af_xdp";
    for (int retries = may_be_taken_still ? 20 : 0; device == nullptr && retries > 0; --retries) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        problems.resize(problems_before);
        device = open_once(eal, port, queues, problems);
    }
    if (device == nullptr) {
        return nullptr;
    }
    if (queues > 1 && !driver_traits(port).feeds_queues_apart &&
        !install_steering(device->id_, port, groups_by_queue, problems)) {
        return nullptr;
    }
    device->admit(groups_by_queue);
    device->choose_clock();
    return device;
}

void Device::report_error(Problems& problems, std::string_view what, int error) {
    const std::string complaints = eal_->log().complaints();
    add_problem(problems, "",
                fmt::format("port {}: {}: {}{}{}", port_.name, what,
                            rte_strerror(error < 0 ? -error : error),
                            complaints.empty() ? "" : ": ", complaints),
                remedy_of(error < 0 ? -error : error));
}

bool Device::create(Problems& problems) {
    eal_->log().begin();
    const std::string name = device_name(port_);
    if (!own_of(port_).vdev.empty()) {
        const std::string arguments = parse_vdev(own_of(port_).vdev).arguments_text;
        const int error = rte_eal_hotplug_add("vdev", name.c_str(), arguments.c_str());
        if (error != 0) {
            report_error(problems, fmt::format("cannot create {}", own_of(port_).vdev), error);
            return false;
        }
        created_ = true;
    }
    if (const int error = rte_eth_dev_get_port_by_name(name.c_str(), &id_); error != 0) {
        id_ = RTE_MAX_ETHPORTS;
        report_error(problems, fmt::format("no driver took device {}", name), error);
        return false;
    }
    if (const std::string interface = kernel_interface(port_); !interface.empty()) {
        kernel_ = std::make_unique<KernelInterface>(interface);
    }
    return true;
}

void Device::choose_offloads(const rte_eth_dev_info& info, rte_eth_conf& wanted) {
    constexpr std::uint64_t checksums =
        RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
    verifies_checksums_ = port_.udp_checksum == ChecksumCheck::offload &&
                          (info.rx_offload_capa & checksums) == checksums;
    if (verifies_checksums_) {
        wanted.rxmode.offloads |= checksums;
    }
    if ((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) != 0 &&
        rte_mbuf_dyn_rx_timestamp_register(&stamps_.offset, &stamps_.flag) == 0) {
        wanted.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
    }
}

bool Device::configure(std::uint16_t queues, Problems& problems) {
    rte_eth_dev_info info{};
    if (const int error = rte_eth_dev_info_get(id_, &info); error != 0) {
        report_error(problems, "the driver does not describe its device", error);
        return false;
    }
    if (queues > info.max_rx_queues) {
        add_problem(problems, "",
                    fmt::format("port {}: {} pollers read it, the driver has {} receive "
                                "queue{}: let fewer pollers read this port",
                                port_.name, queues, info.max_rx_queues,
                                info.max_rx_queues == 1 ? "" : "s"));
        return false;
    }
    rte_eth_conf wanted{};
    choose_offloads(info, wanted);
    // There are as many transmit as receive queues because AF_XDP pairs them. Only the first is
    // used, for IGMP reports.
    transmit_queues_ = std::min(queues, info.max_tx_queues);
    if (const int error = rte_eth_dev_configure(id_, queues, transmit_queues_, &wanted);
        error != 0) {
        report_error(problems, fmt::format("cannot be configured with {} queues", queues), error);
        return false;
    }
    return true;
}

/// Makes a pool whose buffers are contiguous and may straddle pages. net_af_xdp registers with the
/// kernel as many bytes as all buffers have; with the gaps that a pool normally leaves at page
/// ends, the last buffers would be outside this area. The kernel discards such buffers, and stops
/// receiving when it has discarded enough of them.
rte_mempool* make_packed_pool(const std::string& name, unsigned buffers_count, int node) {
    rte_pktmbuf_pool_private rooms{};
    rooms.mbuf_data_room_size = frame_room_bytes + RTE_PKTMBUF_HEADROOM;
    rte_mempool* pool = rte_mempool_create_empty(
        name.c_str(), buffers_count, sizeof(rte_mbuf) + rooms.mbuf_data_room_size,
        pool_cache_buffers, sizeof rooms, node, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
    if (pool == nullptr) {
        return nullptr;
    }
    int result = rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr);
    rte_pktmbuf_pool_init(pool, &rooms);
    result = result == 0 ? rte_mempool_populate_default(pool) : result;
    if (result < 0) {
        rte_mempool_free(pool);
        rte_errno = -result;
        return nullptr;
    }
    rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
    return pool;
}

bool Device::make_pool(std::uint16_t queue, Problems& problems) {
    const PortDemand demand = demand_of(port_, 1);
    const MemoryNeed need = memory_need(demand);
    const std::string name = fmt::format("rx{}q{}", id_, queue);
    const auto count = static_cast<unsigned>(need.buffers_per_queue);
    const int node = rte_eth_dev_socket_id(id_);
    rte_mempool* pool =
        parse_vdev(own_of(port_).vdev).driver == "net_af_xdp"
            ? make_packed_pool(name, count, node)
            : rte_pktmbuf_pool_create(name.c_str(), count, pool_cache_buffers, 0,
                                      frame_room_bytes + RTE_PKTMBUF_HEADROOM, node);
    if (pool == nullptr) {
        report_error(
            problems,
            fmt::format("no memory for {} buffers of {} bytes ({})", need.buffers_per_queue,
                        need.bytes_per_buffer,
                        own_of(port_).hugepages ? "not enough free hugepages on the device's node"
                                                : "no hugepages"),
            rte_errno);
        return false;
    }
    pools_.push_back(pool);
    return true;
}

bool Device::set_up_queues(std::uint16_t queues, Problems& problems) {
    const std::vector<int> before = af_xdp_sockets();
    const bool done = set_up_each_queue(queues, problems);
    const std::vector<int> now = af_xdp_sockets();
    std::set_difference(now.begin(), now.end(), before.begin(), before.end(),
                        std::back_inserter(af_xdp_sockets_));
    return done;
}

bool Device::set_up_each_queue(std::uint16_t queues, Problems& problems) {
    auto receive = static_cast<std::uint16_t>(std::min(own_of(port_).descriptors_count, 65535U));
    auto transmit = static_cast<std::uint16_t>(transmit_descriptors);
    rte_eth_dev_adjust_nb_rx_tx_desc(id_, &receive, &transmit);
    const auto node = static_cast<unsigned>(rte_eth_dev_socket_id(id_));
    for (std::uint16_t queue = 0; queue < queues; ++queue) {
        if (!make_pool(queue, problems)) {
            return false;
        }
        if (const int error =
                rte_eth_rx_queue_setup(id_, queue, receive, node, nullptr, pools_[queue]);
            error != 0) {
            report_error(problems, fmt::format("receive queue {} cannot be set up", queue), error);
            return false;
        }
    }
    for (std::uint16_t queue = 0; queue < transmit_queues_; ++queue) {
        if (const int error = rte_eth_tx_queue_setup(id_, queue, transmit, node, nullptr);
            error != 0) {
            report_error(problems, fmt::format("transmit queue {} cannot be set up", queue), error);
            return false;
        }
    }
    return true;
}

bool Device::start(Problems& problems) {
    if (const int error = rte_eth_dev_start(id_); error != 0) {
        report_error(problems, "cannot be started", error);
        return false;
    }
    started_ = true;
    rte_eth_stats_get(id_, &at_start_);
    (void)ask_link();
    return true;
}

void Device::admit(const std::vector<std::vector<Group>>& groups_by_queue) {
    admitted_ = addresses_of(groups_by_queue, own_of(port_).membership);
    const std::vector<Mac>& addresses = admitted_;
    if (addresses.empty()) {
        return;
    }
    if (kernel_ != nullptr && kernel_->admit(addresses)) {
        admission_ = Admission::kernel_list;
    } else if (set_address_list(id_, addresses) == 0) {
        admission_ = Admission::address_list;
    } else if (rte_eth_allmulticast_enable(id_) == 0) {
        admission_ = Admission::all_multicast;
    } else if (rte_eth_promiscuous_enable(id_) == 0) {
        admission_ = Admission::promiscuous;
    }
    eal_->log().say(LogLevel::info, fmt::format("port {}: {} group addresses are received {}",
                                                port_.name, addresses.size(), text_of(admission_)));
}

bool Device::admit_more(std::span<const Group> groups, Problems& problems) {
    const std::lock_guard lock(asking_);
    std::vector<Mac> wanted =
        addresses_of({{groups.begin(), groups.end()}}, own_of(port_).membership);
    std::vector<Mac> all;
    std::set_union(admitted_.begin(), admitted_.end(), wanted.begin(), wanted.end(),
                   std::back_inserter(all));
    eal_->log().begin();
    int error = 0;  // the other kinds of admission let all groups pass
    if (admission_ == Admission::kernel_list && !kernel_->admit(wanted)) {
        error = errno;
    } else if (admission_ == Admission::address_list) {
        error = set_address_list(id_, all);
    }
    if (error != 0) {
        report_error(problems, "its address filter has no free entry", error);
        return false;
    }
    admitted_ = std::move(all);
    return true;
}

void Device::choose_clock() {
    if (stamps_.flag == 0 || read_clock()) {
        return;
    }
    clock_by_timesync_ = rte_eth_timesync_enable(id_) == 0;
    if (!read_clock()) {
        stamps_ = {};
        eal_->log().say(LogLevel::warning,
                        fmt::format("port {}: the driver stamps frames, but its clock cannot be "
                                    "read: arrival is the burst's time",
                                    port_.name));
    }
}

Device::~Device() {
    if (id_ < RTE_MAX_ETHPORTS) {
        if (started_) {
            rte_flow_error error{};
            rte_flow_flush(id_, &error);
            if (admission_ == Admission::all_multicast) {
                rte_eth_allmulticast_disable(id_);
            } else if (admission_ == Admission::promiscuous) {
                rte_eth_promiscuous_disable(id_);
            }
            rte_eth_dev_stop(id_);
        }
        if (!created_) {
            rte_eth_dev_close(id_);
        }
    }
    if (created_) {
        rte_eal_hotplug_remove("vdev", device_name(port_).c_str());  // also closes the device
    }
    close_af_xdp_sockets(af_xdp_sockets_);
    for (rte_mempool* pool : pools_) {
        rte_mempool_free(pool);
    }
}

Mac Device::mac() const {
    Mac mac;
    rte_ether_addr address{};
    if (rte_eth_macaddr_get(id_, &address) == 0) {
        std::memcpy(mac.octets.data(), address.addr_bytes, sizeof address.addr_bytes);
    }
    return mac;
}

std::optional<bool> Device::link_up() const {
    if (kernel_ != nullptr) {
        return kernel_->link_up();  // DPDK's drivers for kernel interfaces do not update the link
    }
    const Link link = link_.load(std::memory_order_relaxed);
    return link == Link::unknown ? std::nullopt : std::optional(link == Link::up);
}

std::optional<bool> Device::ask_link() const {
    if (kernel_ == nullptr) {
        rte_eth_link status{};
        Link link = Link::unknown;
        if (rte_eth_link_get_nowait(id_, &status) == 0) {
            link = status.link_status == RTE_ETH_LINK_UP ? Link::up : Link::down;
        }
        link_.store(link, std::memory_order_relaxed);
    }
    return link_up();
}

/// A cold thread calls this about once a second, so it also fetches the log lines of poll threads.
DeviceStatistics Device::statistics() const {
    const std::lock_guard lock(asking_);
    eal_->log().fetch();
    DeviceStatistics statistics;
    statistics.link_up = ask_link();
    const DriverTraits traits = driver_traits(port_);
    rte_eth_stats now{};
    if (!af_xdp_sockets_.empty()) {
        if (const std::optional<AfXdpLosses> losses = af_xdp_losses(af_xdp_sockets_)) {
            statistics.missed = losses->missed;
            statistics.no_buffer = losses->no_buffer;
        }
    } else if (rte_eth_stats_get(id_, &now) == 0) {
        if (traits.counts_missed) {
            statistics.missed = now.imissed - at_start_.imissed;
        }
        if (traits.counts_no_buffer) {
            statistics.no_buffer = now.rx_nombuf - at_start_.rx_nombuf;
        }
        if (traits.counts_errors) {
            statistics.errors = now.ierrors - at_start_.ierrors;
        }
    }
    return statistics;
}

std::optional<ClockReading> Device::read_clock() const {
    ClockReading reading;
    const std::int64_t before_ns = wall_ns();
    timespec time{};
    if (!clock_by_timesync_) {
        if (rte_eth_read_clock(id_, &reading.ticks) != 0) {
            return std::nullopt;
        }
    } else if (rte_eth_timesync_read_time(id_, &time) == 0) {
        constexpr std::uint64_t ns_per_s = 1'000'000'000;
        reading.ticks = static_cast<std::uint64_t>(time.tv_sec) * ns_per_s +
                        static_cast<std::uint64_t>(time.tv_nsec);
    } else {
        return std::nullopt;
    }
    reading.wall_ns = before_ns + (wall_ns() - before_ns) / 2;
    return reading;
}

}  // namespace pinstrike::nic::dpdk
