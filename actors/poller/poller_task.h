// path: hot
//
// The interface of a poller for its thread, the account and the metrics. It does not depend on the
// venue.
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

/// A port of a poller: one receive queue, which no other poller reads.
struct PollerPort {
    std::string config_name;  ///< name of the port in the config whose queue this is
    std::unique_ptr<nic::Port> port;
    nic::ChecksumCheck udp_checksum = nic::ChecksumCheck::offload;
    std::vector<nic::Subnet> sources;  ///< allowed senders; empty: all
    std::size_t burst_packets = 64;
};

/// When lines are expected to send: the lines of the venue's main session, and the lines whose
/// session has series of its own (GTH). Without any hours: always.
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
    bool marks = false;   ///< cores get marks that say how far each line has come
    nic::DueTimes due{};  ///< for captures that are replayed at a pace
    std::unique_ptr<PollerRepairRings>
        repair_rings;  ///< to and from the recovery task; null: no recovery
    std::unique_ptr<HistoryRingWriter> history;  ///< null: no history is kept
    std::unique_ptr<PacketTap> tap;              ///< null: packets cannot be tapped
};

struct PollerCounters : LoopCounters {
    /// In nanoseconds of wall time, from the exchange's stamp, or from the time when a capture's
    /// packet was due. Each packet of a burst counts with the figure of the first.
    Histogram exchange_to_decoded_ns;
    Histogram exchange_to_decoded_preempted_ns;  ///< of these, the samples affected by preemption
                                                 ///< of the thread
};

class PollerTask {
  public:
    virtual ~PollerTask() = default;

    /// Reads one burst from each port. Returns the number of packets handled; 0: there were none.
    virtual std::size_t step(std::int64_t now_ns) = 0;

    /// The thread slept since the last step, so the time between is not counted as preemption.
    void slept() noexcept { loop_clock_.slept(); }

    /// Called after the last step: delivers or gives up all held blocks.
    virtual void finish() = 0;

    /// Called repeatedly after finish() while the cores run: writes the events that full rings
    /// refused. True once all of them are written.
    virtual bool flush_pending() = 0;

    /// Whether no more packets will ever come.
    [[nodiscard]] virtual bool exhausted() const = 0;

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] const PollerCounters& counters() const { return counters_; }

    /// Null: there is no recovery.
    [[nodiscard]] const PollerRepairRings* repair_rings() const { return repair_rings_.get(); }

    /// Null: no history is kept.
    [[nodiscard]] const HistoryRingWriter* history() const { return history_.get(); }

    /// Null: packets cannot be tapped.
    [[nodiscard]] PacketTap* tap() { return tap_.get(); }

    /// Offers new thresholds, filters and lines, which the poller adopts at its next housekeeping.
    [[nodiscard]] SettingsOffer& settings() { return settings_; }

    /// Resets the longest step and the high-water marks of the rings. Any thread (loop_counters.h).
    void clear_maxima() {
        counters_.clear_maxima();
        for (std::size_t i = 0; i < router().rings_count(); ++i) {
            router().clear_high_water(i);
        }
    }

    // The functions below are for cold threads. The figures are counters, which any thread may read
    // at any time.

    [[nodiscard]] virtual std::size_t ports_count() const = 0;
    [[nodiscard]] virtual const nic::Port& port(std::size_t i) const = 0;
    [[nodiscard]] virtual const DropCounters& drops(std::size_t i) const = 0;
    /// The destinations of the packets that were dropped as unknown_group.
    [[nodiscard]] virtual const UnknownGroups& unknown_groups(std::size_t i) const = 0;
    /// Packets that were given to lines, which are all that were not dropped.
    [[nodiscard]] virtual std::uint64_t handed(std::size_t i) const = 0;

    [[nodiscard]] virtual std::size_t lines_count() const = 0;
    [[nodiscard]] virtual std::uint16_t line_number(std::size_t i) const = 0;
    /// Its counters may be read at any time; gaps() only after the poller's thread has ended.
    [[nodiscard]] virtual feed::Arbiter& arbiter(std::size_t i) = 0;

    /// Which streams of the line are up. Only for live packets, not for replays.
    [[nodiscard]] virtual const feed::LineWatch& watch(std::size_t i) const = 0;

    /// Whether the stream of the line ever brought a packet.
    [[nodiscard]] bool heard(std::size_t i, feed::Stream stream) {
        return arbiter(i).counters(stream).read(feed::StreamCount::packets) != 0;
    }

    /// Whether the line is up. A line that was never heard is not up, whatever its watch says in
    /// the first seconds.
    [[nodiscard]] bool line_up(std::size_t i) {
        return !watch(i).down() && (heard(i, feed::Stream::a) || heard(i, feed::Stream::b));
    }

    /// Nanoseconds between a block's first copy on this stream and its copy on the other; sampled.
    [[nodiscard]] virtual const Histogram& skew(std::size_t i, feed::Stream stream) const = 0;

    /// Datagrams of the line's retransmission groups. The figures of the streams do not include
    /// them.
    [[nodiscard]] virtual std::uint64_t retransmission_packets(std::size_t i) const = 0;

    /// The venue's reasons for refusing blocks or parts of blocks. rejects() counts them for a
    /// line.
    [[nodiscard]] virtual std::span<const Row> reject_rows() const = 0;
    [[nodiscard]] virtual std::uint64_t rejects(std::size_t line, std::size_t row) const = 0;

    [[nodiscard]] virtual const Router& router() const = 0;

    /// Control thread, while no settings wait to be adopted. Builds the lines of `setup.lines` for
    /// this poller's settings. The poller must have none of them yet, and space for all
    /// (Router::lines_max). Of the setup, arbitration and silence are used as well. `groups`: the
    /// groups of the new lines, for each of the poller's ports. Returns null and adds to `problems`
    /// if a port cannot take the groups.
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

    /// A random interval of 0.5 to 1.55 ms until the next housekeeping.
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
    /// Hashes the name (FNV-1a), so that pollers get different seeds and a run can be repeated.
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
