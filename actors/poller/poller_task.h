// path: hot
//
// A poller as its thread, the account and the metrics see it, whatever venue it decodes.
#pragma once

#include "actors/poller/history_ring.h"
#include "actors/poller/packet_tap.h"
#include "actors/poller/poller_settings.h"
#include "actors/poller/router.h"
#include "actors/poller/unknown_groups.h"
#include "actors/recovery/repair_rings.h"
#include "actors/threads/loop_counters.h"
#include "config/counter.h"
#include "config/histogram.h"
#include "config/rows.h"
#include "feed/arbitration/arbiter.h"
#include "feed/lines/line_config.h"
#include "feed/lines/line_watch.h"
#include "feed/lines/session_hours.h"
#include "nic/capture/replay_start.h"
#include "nic/packet/drops.h"
#include "nic/port.h"
#include "nic/port_config.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

using DropCounters = Counters<nic::Drop, nic::Drop_count>;

/// A port of a poller: one receive queue, which is the poller's alone.
struct PollerPort {
    std::string config_name;  ///< the port of the config that it is a queue of
    std::unique_ptr<nic::Port> port;
    nic::ChecksumCheck udp_checksum = nic::ChecksumCheck::offload;
    std::vector<nic::Subnet> sources;  ///< allowed senders; empty: all
    std::size_t burst_packets = 64;
};

/// When lines are on the air: those of the venue's main session, and those whose series are a
/// session's of their own. Without any stretch: always.
struct LineHours {
    feed::SessionHours main;
    feed::SessionHours separate;
};

struct PollerSetup {
    std::string name;
    std::vector<PollerPort> ports;
    std::vector<feed::LineConfig> lines;
    feed::ArbitrationConfig arbitration;
    feed::SilenceConfig silence;
    feed::StreamsReceived received = feed::both_streams;
    LineHours hours;
    bool block_checksum = true;
    bool test_symbols = false;
    bool marks = false;                               ///< cores are told how far each line has come
    nic::DueTimes due{};                              ///< of captures that have a pace
    std::unique_ptr<PollerRepairRings> repair_rings;  ///< from and to recovery; null: there is none
    std::unique_ptr<HistoryRingWriter> history;       ///< null: none is kept
    std::unique_ptr<PacketTap> tap;                   ///< null: nobody can look at packets
};

struct PollerCounters : LoopCounters {
    /// By wall time; of captures from when due. Each packet as the first of its burst.
    Histogram exchange_to_decoded_ns;
    Histogram exchange_to_decoded_disturbed_ns;  ///< of these, those that overlap a stop
};

class PollerTask {
  public:
    virtual ~PollerTask() = default;

    /// One burst of each port. Packets handled; 0: there were none.
    virtual std::size_t step(std::int64_t now_ns) = 0;

    /// The thread slept since the last step: no stop of the machine.
    void slept() noexcept { loop_clock_.slept(); }

    /// After the last step: nothing received is left behind.
    virtual void finish() = 0;

    /// After finish(), again and again while the cores are alive: tells them what their full rings
    /// refused. True once they know all of it.
    virtual bool settle() = 0;

    /// No packet will ever come again.
    [[nodiscard]] virtual bool exhausted() const = 0;

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] const PollerCounters& counters() const { return counters_; }

    /// Null: there is no recovery.
    [[nodiscard]] const PollerRepairRings* repair_rings() const { return repair_rings_.get(); }

    /// Null: no history is kept.
    [[nodiscard]] const HistoryRingWriter* history() const { return history_.get(); }

    /// Null: packets cannot be tapped.
    [[nodiscard]] PacketTap* tap() { return tap_.get(); }

    /// New thresholds, filters and lines, taken at the next housekeeping.
    [[nodiscard]] SettingsOffer& settings() { return settings_; }

    /// Longest step and fullest rings begin anew; any thread (loop_counters.h).
    void clear_maxima() {
        counters_.clear_maxima();
        for (std::size_t i = 0; i < router().rings_count(); ++i) {
            router().clear_high_water(i);
        }
    }

    // What follows is for cold threads; the figures behind it are counters, readable at any time.

    [[nodiscard]] virtual std::size_t ports_count() const = 0;
    [[nodiscard]] virtual const nic::Port& port(std::size_t i) const = 0;
    [[nodiscard]] virtual const DropCounters& drops(std::size_t i) const = 0;
    /// The destinations of the packets that were dropped as unknown_group.
    [[nodiscard]] virtual const UnknownGroups& unknown_groups(std::size_t i) const = 0;
    /// Packets that were handed to lines: what is not dropped.
    [[nodiscard]] virtual std::uint64_t handed(std::size_t i) const = 0;

    [[nodiscard]] virtual std::size_t lines_count() const = 0;
    [[nodiscard]] virtual std::uint16_t line_number(std::size_t i) const = 0;
    /// Its counters; gaps() only after the poller's thread has ended.
    [[nodiscard]] virtual feed::Arbiter& arbiter(std::size_t i) = 0;

    /// Which of its streams are heard; watched where packets are live.
    [[nodiscard]] virtual const feed::LineWatch& watch(std::size_t i) const = 0;

    /// Did the line's stream ever bring anything?
    [[nodiscard]] bool heard(std::size_t i, feed::Stream stream) {
        return arbiter(i).counters(stream).read(feed::StreamCount::packets) != 0;
    }

    /// Never heard is not up, whatever its watch says in the first seconds.
    [[nodiscard]] bool line_up(std::size_t i) {
        return !watch(i).down() && (heard(i, feed::Stream::a) || heard(i, feed::Stream::b));
    }

    /// How much later the line's other stream brought a block that this one brought first; sampled.
    [[nodiscard]] virtual const Histogram& lead(std::size_t i, feed::Stream stream) const = 0;

    /// Datagrams of the line's retransmission groups: in none of its streams' figures.
    [[nodiscard]] virtual std::uint64_t retransmission_packets(std::size_t i) const = 0;

    /// Why blocks, or the ends of blocks, were refused: the venue's rows, and a line's counts.
    [[nodiscard]] virtual std::span<const Row> reject_rows() const = 0;
    [[nodiscard]] virtual std::uint64_t rejects(std::size_t line, std::size_t row) const = 0;

    [[nodiscard]] virtual const Router& router() const = 0;

    /// Makes `setup.lines` ready for the settings of this poller, which has none of them, and has
    /// room for them (Router::lines_max); of the setup, arbitration and silence count as well.
    /// `groups`: what of them comes by each of its ports. Null, with the reasons told, where a port
    /// takes no more. Control thread, while no settings wait to be taken.
    [[nodiscard]] virtual std::unique_ptr<MoreLines> prepare_lines(
        const PollerSetup& setup, const std::vector<std::vector<nic::Group>>& groups,
        Problems& problems) const = 0;

  protected:
    explicit PollerTask(PollerSetup& setup)
        : repair_rings_(std::move(setup.repair_rings)),
          history_(std::move(setup.history)),
          tap_(std::move(setup.tap)),
          name_(std::move(setup.name)) {}

    PollerTask(const PollerTask&) = delete;
    PollerTask& operator=(const PollerTask&) = delete;

    /// Housekeeping is due about once in this time, at random.
    [[nodiscard]] std::int64_t next_housekeeping_interval_ns() noexcept {
        constexpr std::int64_t shortest_ns = 500'000;
        random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return shortest_ns + static_cast<std::int64_t>(random_ >> 44);  // up to 1.05 ms more
    }

    PollerCounters counters_;
    LoopClock loop_clock_;
    std::unique_ptr<PollerRepairRings> repair_rings_;
    std::unique_ptr<HistoryRingWriter> history_;
    std::unique_ptr<PacketTap> tap_;
    SettingsOffer settings_;

  private:
    /// By name, so that pollers differ and a run can be repeated (FNV-1a).
    static std::uint64_t seed_of(const std::string& name) noexcept {
        std::uint64_t hash = 0xCBF2'9CE4'8422'2325ULL;
        for (const char letter : name) {
            hash = (hash ^ static_cast<unsigned char>(letter)) * 0x0000'0100'0000'01B3ULL;
        }
        return hash;
    }

    std::string name_;
    std::uint64_t random_ = seed_of(name_);
};

}  // namespace pinstrike::actors
