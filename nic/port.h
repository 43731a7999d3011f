// path: hot
#pragma once

#include "config/counter.h"
#include "config/problem.h"
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

/// What a port counts itself; single writer (the poll thread of its queue).
struct PortCounters {
    Counter packets;       ///< frames handed out by receive()
    Counter bytes;         ///< their bytes, without the frame check sequence
    Counter full_bursts;   ///< receives that returned as many packets as were asked for
    Counter link_changes;  ///< link down and link up, each counted
};

/// What the device or the kernel lost before us; nullopt where the driver counts none.
struct DeviceStatistics {
    std::optional<std::uint64_t> missed;
    std::optional<std::uint64_t> no_buffer;
    std::optional<std::uint64_t> errors;
    std::optional<bool> link_up;
};

/// What became of the kernel's interface under a port.
enum class InterfaceChange : unsigned char {
    none,
    joined_again,  ///< another interface has its name: the groups are joined there
    lost,          ///< another interface has its name, and this port cannot go over to it
};

/// So many packets at most are asked of a port at once.
inline constexpr std::size_t burst_packets_max = 512;

/// So many packets at most are kept: so many buffers more its pool has.
inline constexpr std::size_t kept_packets_max = 8192;

/// So many groups at least a port can take while it runs, in all, if it takes any.
inline constexpr std::size_t more_groups_max = 128;

/// What a port needs to bring more groups, made ready for its poll thread.
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
/// The only indirect call of the poll path, once per burst. A port is used by one thread from its
/// construction to its end, except statistics(), prepare() and follow_interface(), which a cold
/// thread may call.
class Port {
  public:
    virtual ~Port() = default;

    /// Fills at most burst.size() packets and says how many. `now_ns` is the wall time of this
    /// step: the arrival of packets that carry no better stamp. The packets of the call before are
    /// given back to the device, unless they are kept. Never blocks.
    virtual std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) = 0;

    /// True once no packet will ever come again (the end of a capture).
    [[nodiscard]] virtual bool exhausted() const { return false; }

    /// Can bursts be kept over the next receive()? Only of a port that gives its packets time.
    [[nodiscard]] virtual bool keeps() const { return false; }

    /// The packets of the last burst stay as they are until they are given back. Said before the
    /// next receive(), of a port that keeps; kept_packets_max in all.
    void keep_burst() noexcept { keeps_burst_ = true; }

    /// So many of the packets that were kept, oldest first, are given back with the next receive().
    void give_back(std::size_t packets) noexcept { given_back_ += packets; }

    /// Low-rate work: membership reports, link state. Called from the poll thread's housekeeping,
    /// by a time that goes on evenly where the wall clock is set; on_igmp() has the same.
    virtual void housekeep(std::int64_t /*now_ns*/) {}

    /// A frame that parse_udp called Drop::igmp, from the poll thread: a port whose device is taken
    /// from the kernel answers queries itself. Rare, so it costs the other frames nothing.
    virtual void on_igmp(const Packet& /*packet*/, std::int64_t /*now_ns*/) {}

    /// Cold. What the device counted; may make system calls.
    [[nodiscard]] virtual DeviceStatistics statistics() const { return {}; }

    /// Cold, about once a second, by the thread that calls prepare(). An interface that is deleted
    /// and made again under its name is another one, and memberships end with the first.
    [[nodiscard]] virtual InterfaceChange follow_interface() const { return InterfaceChange::none; }

    /// Cold, while the poll thread receives: makes ready what brings more groups. Null, with the
    /// reason told, where the port takes no more; one that was never given to join() leaves nothing
    /// behind but room in an address filter.
    [[nodiscard]] virtual std::unique_ptr<MoreGroups> prepare(std::span<const Group> groups,
                                                              Problems& problems);

    /// Poll thread, from its housekeeping: what this port has prepared, once it was told to whom
    /// the groups go. Neither allocates nor frees.
    virtual void join(MoreGroups& /*groups*/, std::int64_t /*now_ns*/) {}

    /// Cold, before the first or after the last receive(). What a person should know though it
    /// stops nothing: a capture that ends in the middle of a packet, a buffer smaller than asked.
    [[nodiscard]] virtual std::vector<std::string> remarks() const { return {}; }

    /// Cold, after the last receive(). What of its input a port of captures did not read or could
    /// not use, one sentence each: whoever ran it did not see all of it.
    [[nodiscard]] virtual std::vector<std::string> unread() const { return {}; }

    /// True where packets carry their own time (captures): timers then run on packet time.
    [[nodiscard]] virtual bool replays() const { return false; }

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] const PortCounters& counters() const { return counters_; }

  protected:
    explicit Port(std::string name) : name_(std::move(name)) {}

    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    /// Counts what one receive() hands out; `asked` is the size of the burst it was given.
    void count_burst(std::span<const Packet> packets, std::size_t asked) noexcept {
        if (packets.empty()) {
            return;
        }
        std::uint64_t bytes = 0;
        for (const Packet& packet : packets) {
            bytes += packet.length_bytes;
        }
        counters_.packets.add(packets.size());
        counters_.bytes.add(bytes);
        counters_.full_bursts.add(packets.size() == asked ? 1 : 0);
    }

    PortCounters counters_;

    // Of a port that keeps; receive() does it, and forgets it.
    bool keeps_burst_ = false;
    std::size_t given_back_ = 0;

  private:
    std::string name_;
};

// --- cold ---

inline std::unique_ptr<MoreGroups> Port::prepare(std::span<const Group> /*groups*/,
                                                 Problems& problems) {
    tell(problems, "", "port " + name_ + ": takes no more groups while it runs");
    return nullptr;
}

}  // namespace pinstrike::nic
