// path: mixed, hot: receive() and what it calls
#include "nic/dpdk/dpdk_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace pinstrike::nic::dpdk {
namespace {

/// Flags of a buffer whose bytes belong to another buffer or to memory outside the pool.
constexpr std::uint64_t borrowed = RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;

/// Zero if the buffer is a single segment of `pool` with one reference.
inline std::uint64_t special_bits(const rte_mbuf& buffer, const rte_mempool* pool) noexcept {
    return (buffer.ol_flags & borrowed) | static_cast<std::uint64_t>(buffer.nb_segs ^ 1) |
           static_cast<std::uint64_t>(buffer.refcnt ^ 1) |
           static_cast<std::uint64_t>(buffer.pool != pool);
}

inline Checksum verdict(std::uint64_t flags, std::uint64_t good, std::uint64_t bad) noexcept {
    const std::uint64_t said = flags & (good | bad);
    return said == good ? Checksum::good : said == bad ? Checksum::bad : Checksum::unknown;
}

}  // namespace

std::size_t DpdkPort::receive(std::span<Packet> burst, std::int64_t now_ns) {
    if (!attached_) [[unlikely]] {
        attach();
    }
    give_back();
    const auto asked = static_cast<std::uint16_t>(std::min(burst.size(), burst_packets_));
    if (asked == 0) [[unlikely]] {
        return 0;
    }
    const std::size_t received = rte_eth_rx_burst(device_id_, queue_, held_.room(), asked);
    if (received == 0) {
        return 0;
    }
    held_.add(received);
    if (from_hardware_) {
        fill_packets<true>(burst.first(received), now_ns);
    } else {
        fill_packets<false>(burst.first(received), now_ns);
    }
    counters_.bump(PortCount::packets, received);
    counters_.bump(PortCount::full_bursts, received == asked ? 1 : 0);
    return received;
}

/// A frame in several buffers is longer than frame_room_bytes and so is not market data. Only its
/// first segment is delivered, and the parser counts the frame as truncated.
template <bool from_hardware>
inline void DpdkPort::fill_packets(std::span<Packet> burst, std::int64_t now_ns) noexcept {
    std::uint64_t bytes = 0;
    std::uint64_t special = 0;
    const std::span<rte_mbuf* const> buffers = held_.last_burst();
    for (std::size_t i = 0; i < burst.size(); ++i) {
        const rte_mbuf& buffer = *buffers[i];
        const auto* data = rte_pktmbuf_mtod(&buffer, const std::byte*);
        rte_prefetch0(data);
        const std::uint32_t length_bytes = buffer.data_len;
        Packet& packet = burst[i];
        packet.bytes = data;
        packet.length_bytes = length_bytes;
        packet.udp_checksum = Checksum::unknown;
        packet.ip_checksum = Checksum::unknown;
        packet.ts_receive_ns = now_ns;
        if constexpr (from_hardware) {
            const std::uint64_t flags = buffer.ol_flags;
            if (verifies_checksums_) {
                packet.udp_checksum =
                    verdict(flags, RTE_MBUF_F_RX_L4_CKSUM_GOOD, RTE_MBUF_F_RX_L4_CKSUM_BAD);
                packet.ip_checksum =
                    verdict(flags, RTE_MBUF_F_RX_IP_CKSUM_GOOD, RTE_MBUF_F_RX_IP_CKSUM_BAD);
            }
            if ((flags & stamps_.flag) != 0) {
                packet.ts_receive_ns = clock_.wall_ns(
                    *RTE_MBUF_DYNFIELD(&buffer, stamps_.offset, const rte_mbuf_timestamp_t*),
                    now_ns);
            }
        }
        bytes += length_bytes;
        special |= special_bits(buffer, pool_);
    }
    if (special != 0) [[unlikely]] {
        held_.note_special();
    }
    counters_.bump(PortCount::bytes, bytes);
}

inline void DpdkPort::give_back() noexcept {
    if (given_back_ != 0) {
        held_.give_back_oldest(std::exchange(given_back_, 0), cache_);
    }
    if (!std::exchange(keeps_burst_, false)) {
        held_.give_back_last(cache_);
    }
    held_.end_burst();
}

// --- cold ---

/// Sends IGMP reports on the device's first transmit queue.
class DpdkPort::Reports final : public ReportSender {
  public:
    Reports(std::uint16_t device, rte_mempool* pool) : device_(device), pool_(pool) {}

    void send(std::span<const std::byte> frame) override {
        rte_mbuf* buffer = rte_pktmbuf_alloc(pool_);
        if (buffer == nullptr) {
            return;
        }
        char* room = rte_pktmbuf_append(buffer, static_cast<std::uint16_t>(frame.size()));
        if (room == nullptr) {
            rte_pktmbuf_free(buffer);
            return;
        }
        std::memcpy(room, frame.data(), frame.size());
        if (rte_eth_tx_burst(device_, 0, &buffer, 1) == 0) {
            rte_pktmbuf_free(buffer);
        }
    }

  private:
    std::uint16_t device_;
    rte_mempool* pool_;
};

DpdkPort::DpdkPort(std::string name, std::shared_ptr<Device> device, QueueConfig config)
    : Port(std::move(name)),
      device_id_(device->id()),
      queue_(config.queue),
      from_hardware_(device->verifies_checksums() || device->stamps().flag != 0),
      verifies_checksums_(device->verifies_checksums()),
      stamps_(device->stamps()),
      pool_(device->pool(config.queue)),
      burst_packets_(config.burst_packets),
      held_(pool_, config.burst_packets, config.keeps ? kept_packets_max : 0),
      device_(std::move(device)),
      keeps_(config.keeps),
      link_up_(device_->link_up()) {
    if (config.membership && device_->transmits()) {
        std::uint64_t seed =
            static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
        for (const std::uint8_t octet : device_->mac().octets) {
            seed = seed * 257 + octet;
        }
        membership_.emplace(*std::move(config.membership), seed);
    }
}

/// The destructor may run on another thread than the poll thread, so it does not use the poll
/// thread's cache.
DpdkPort::~DpdkPort() {
    held_.give_back_all(nullptr);
    if (membership_ && announced_) {
        Reports reports(device_id_, pool_);
        membership_->leave(now_ns_, reports);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));  // time for the NIC to send
    }
}

void DpdkPort::attach() noexcept {
    attached_ = true;
    Eal::attach_thread();
    cache_ = rte_mempool_default_cache(pool_, rte_lcore_id());
}

void DpdkPort::on_igmp(const Packet& packet, std::int64_t now_ns) {
    if (membership_) {
        membership_->on_frame(packet.frame(), now_ns);
    }
}

void DpdkPort::watch_link(std::int64_t now_ns) {
    constexpr std::int64_t interval_ns = 100'000'000;
    if (now_ns < link_due_ns_) {
        return;
    }
    link_due_ns_ = now_ns + interval_ns;
    const std::optional<bool> up = device_->link_up();
    if (up == link_up_) {
        return;
    }
    counters_.bump(PortCount::link_changes);
    link_up_ = up;
    if (membership_ && up.value_or(false)) {
        membership_->announce(now_ns);  // a switch on a new link does not know this host's groups
    }
}

namespace {

/// Groups that the device's address filter lets pass, but that no IGMP report has named yet.
struct AdmittedGroups final : MoreGroups {
    /// The membership in all groups; nullopt: the port sends no reports.
    std::optional<GroupMembership> membership;
};

}  // namespace

std::unique_ptr<MoreGroups> DpdkPort::prepare(std::span<const Group> groups, Problems& problems) {
    if (queue_ != 0) {
        add_problem(
            problems, "",
            fmt::format("port {}: its queue receives only the groups steered to it at the start; "
                        "new groups go to the poller of the device's first queue alone",
                        name()));
        return nullptr;
    }
    if (!device_->admit_more(groups, problems)) {
        return nullptr;
    }
    auto admitted = std::make_unique<AdmittedGroups>();
    if (membership_) {
        std::vector<Ipv4> addresses;
        for (const Group& group : groups) {
            addresses.push_back(group.address);
        }
        admitted->membership = membership_->with(addresses);
    }
    return admitted;
}

void DpdkPort::join(MoreGroups& groups, std::int64_t now_ns) {
    if (membership_) {
        membership_->adopt_groups(*static_cast<AdmittedGroups&>(groups).membership, now_ns);
    }
}

void DpdkPort::housekeep(std::int64_t now_ns) {
    now_ns_ = now_ns;
    watch_link(now_ns);
    constexpr std::int64_t clock_interval_ns = 1'000'000'000;
    if (stamps_.flag != 0 && now_ns >= clock_due_ns_) {
        if (const std::optional<ClockReading> reading = device_->read_clock()) {
            clock_.calibrate(reading->ticks, reading->wall_ns);
        }
        clock_due_ns_ = now_ns + (clock_.usable() ? clock_interval_ns : clock_interval_ns / 50);
    }
    if (membership_) {
        if (!announced_) {
            announced_ = true;
            membership_->announce(now_ns);
        }
        Reports reports(device_id_, pool_);
        membership_->step(now_ns, reports);
    }
}

InterfaceChange DpdkPort::follow_interface() const {
    return device_->interface_lost() ? InterfaceChange::lost : InterfaceChange::none;
}

DeviceStatistics DpdkPort::statistics() const {
    DeviceStatistics statistics = device_->statistics();
    if (queue_ != 0) {  // the device counts all queues together, so only queue 0 reports them
        statistics.missed = statistics.no_buffer = statistics.errors = std::nullopt;
    }
    return statistics;
}

}  // namespace pinstrike::nic::dpdk
