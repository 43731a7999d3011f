// path: mixed, cold: prepare()
#pragma once

#include "config/counter.h"
#include "config/problem.h"
#include "config/rows.h"
#include "nic/packet/address.h"
#include "nic/packet/packet.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::nic {

// clang-format off
#define PINSTRIKE_PORT_COUNTS(ROW) \
    ROW(packets, packets, "Packets received") \
    ROW(bytes, bytes, "Bytes of the packets received, Ethernet header included") \
    ROW(full_bursts, bursts, "Receives that filled the burst: more packets were waiting") \
    ROW(link_changes, changes, "Times that the link went down or up")
// clang-format on

PINSTRIKE_ROWS(PortCount, PINSTRIKE_PORT_COUNTS)

/// The counters that a port keeps itself. Only the poll thread of its queue writes them.
using PortCounters = Counters<PortCount, PortCount_count>;

/// Packets that the device or the kernel lost before receive(); nullopt if the driver has no such
/// counter.
struct DeviceStatistics {
    std::optional<std::uint64_t> missed;
    std::optional<std::uint64_t> no_buffer;
    std::optional<std::uint64_t> errors;
    std::optional<bool> link_up;
};

/// What happened to the kernel interface of a port.
enum class InterfaceChange : unsigned char {
    none,
    joined_again,  ///< a new interface has the name, and the port joined its groups there
    lost,          ///< a new interface has the name, and the port cannot use it
};

/// The maximum number of packets of one receive().
inline constexpr std::size_t burst_packets_max = 512;

/// The maximum number of packets that may be kept at once. The buffer pool of a port that keeps
/// packets has this many additional buffers.
inline constexpr std::size_t kept_packets_max = 8192;

/// A port that can add groups while it runs can add at least this many in total.
inline constexpr std::size_t more_groups_max = 128;

/// Groups that prepare() made ready and join() adds to the port.
class MoreGroups {
  public:
    virtual ~MoreGroups() = default;

  protected:
    MoreGroups() = default;
    MoreGroups(const MoreGroups&) = delete;
    MoreGroups& operator=(const MoreGroups&) = delete;
};

/// One receive queue of a network port, a capture, or a simulator.
///
/// For packets on the fast path, receive() is the only indirect call within a step of a poller,
/// once per burst. While the poll thread runs, only it uses the port, except that other threads may
/// call name(), counters(), replays(), keeps() and what is marked as cold. Another thread may open
/// the port before that, and destroy it afterwards.
class Port {
  public:
    virtual ~Port() = default;

    /// Fills at most burst.size() packets and returns their number. `now_ns` is the wall time of
    /// this step; packets without a time stamp of their own get it as arrival time. The buffers of
    /// the previous call go back to the device, unless the packets are kept. Never blocks.
    virtual std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) = 0;

    /// True once no packet can follow (the end of a capture).
    [[nodiscard]] virtual bool exhausted() const { return false; }

    /// True if packets can be kept beyond the next receive().
    [[nodiscard]] virtual bool keeps() const { return false; }

    /// Keeps the packets of the last burst valid until give_back(). Call before the next receive(),
    /// only if keeps(); at most kept_packets_max packets may be kept.
    void keep_burst() noexcept { keeps_burst_ = true; }

    /// Gives back the oldest `packets` of the kept packets; the next receive() returns them to the
    /// device.
    void give_back(std::size_t packets) noexcept { given_back_ += packets; }

    /// Does periodic work: membership reports, link state. Called from the poll thread's
    /// housekeeping with a monotonic time, which does not jump when the wall clock is set;
    /// on_igmp() gets the same time.
    virtual void housekeep(std::int64_t /*now_ns*/) {}

    /// Handles a frame for which parse_udp returned Drop::igmp; called by the poll thread. A port
    /// whose device bypasses the kernel answers IGMP queries itself.
    virtual void on_igmp(const Packet& /*packet*/, std::int64_t /*now_ns*/) {}

    /// Cold. Reads the counters of the device; may make system calls.
    [[nodiscard]] virtual DeviceStatistics statistics() const { return {}; }

    /// Cold; called about once a second by the thread that calls prepare(). Detects that the kernel
    /// interface was deleted and created again under the same name. The memberships are then lost,
    /// and the port joins its groups on the new interface if it can.
    [[nodiscard]] virtual InterfaceChange follow_interface() const { return InterfaceChange::none; }

    /// Cold, while the poll thread receives: prepares more groups for join(). Null, with the reason
    /// in `problems`, if the port cannot add them. A result that is never passed to join() has no
    /// lasting effect except entries in an address filter.
    [[nodiscard]] virtual std::unique_ptr<MoreGroups> prepare(std::span<const Group> groups,
                                                              Problems& problems);

    /// Adds groups that this port prepared; called from the poll thread's housekeeping once the
    /// poller knows the lines of the groups. Neither allocates nor frees.
    virtual void join(MoreGroups& /*groups*/, std::int64_t /*now_ns*/) {}

    /// Cold, before the first or after the last receive(). Facts that the operator should know
    /// although the port works, such as a capture that ends within a packet, or a buffer smaller
    /// than requested.
    [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }

    /// Cold, after the last receive(). Describes, in one sentence each, the input that a capture
    /// port did not read or could not use. The replay is then incomplete.
    [[nodiscard]] virtual std::vector<std::string> unread() const { return {}; }

    /// True if packets have the times of a capture. Timers then run on packet time.
    [[nodiscard]] virtual bool replays() const { return false; }

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] const PortCounters& counters() const { return counters_; }

  protected:
    explicit Port(std::string name) : name_(std::move(name)) {}

    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    /// Counts the packets that one receive() returns; `asked` is the size of the burst that it got.
    void count_burst(std::span<const Packet> packets, std::size_t asked) noexcept {
        if (packets.empty()) {
            return;
        }
        std::uint64_t bytes = 0;
        for (const Packet& packet : packets) {
            bytes += packet.length_bytes;
        }
        counters_.bump(PortCount::packets, packets.size());
        counters_.bump(PortCount::bytes, bytes);
        counters_.bump(PortCount::full_bursts, packets.size() == asked ? 1 : 0);
    }

    PortCounters counters_;

    // Requests of keep_burst() and give_back(); receive() carries them out and clears them.
    bool keeps_burst_ = false;
    std::size_t given_back_ = 0;

  private:
    std::string name_;
};

// --- cold ---

inline std::unique_ptr<MoreGroups> Port::prepare(std::span<const Group> /*groups*/,
                                                 Problems& problems) {
    add_problem(problems, "", "port " + name_ + ": joins no more groups while it runs");
    return nullptr;
}

}  // namespace pinstrike::nic
