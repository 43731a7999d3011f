// path: mixed, cold: construction
//
// The part of a poller that no venue determines: its ports, its router and its counters. Its
// thread, the account and the metrics see a poller through it.
#pragma once

#include "actors/poller/history_ring.h"
#include "actors/poller/kept_packets.h"
#include "actors/poller/packet_recorder.h"
#include "actors/poller/packet_tap.h"
#include "actors/poller/poller_lines.h"
#include "actors/poller/poller_settings.h"
#include "actors/poller/poller_setup.h"
#include "actors/poller/router.h"
#include "actors/poller/unknown_groups.h"
#include "actors/recovery/repair_rings.h"
#include "actors/threads/loop_counters.h"
#include "config/counter.h"
#include "config/histogram.h"
#include "config/rows.h"
#include "nic/capture/replay_gate.h"
#include "nic/packet/drops.h"
#include "nic/port.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

using DropCounters = Counters<nic::Drop, nic::Drop_count>;

/// A port of a poller, and the last burst that it received.
struct PollerInput : PollerPort {
    PollerInput(PollerPort given, std::size_t position)
        : PollerPort(std::move(given)),
          index(position),
          can_hold_packets(port->keeps()),
          kept(can_hold_packets ? nic::kept_packets_max : 0),
          burst(burst_packets) {}

    [[nodiscard]] bool allows(std::uint32_t source) const noexcept {
        return sources.empty() || std::any_of(sources.begin(), sources.end(),
                                              [=](auto subnet) { return subnet.contains(source); });
    }

    /// Counts a frame that carries no datagram. The port answers IGMP queries for its groups.
    void drop(const nic::Packet& packet, nic::Drop reason, std::int64_t now_ns) {
        drops.bump(reason);
        if (reason == nic::Drop::igmp) {
            port->on_igmp(packet, now_ns);
        }
    }

    /// Takes the datagram by value, so that the caller can keep its own in registers.
    void drop_unknown(nic::Datagram datagram) noexcept {
        unknown_groups.count(datagram);
        drops.bump(nic::Drop::unknown_group);
    }

    std::size_t index;      ///< within the poller
    bool can_hold_packets;  ///< the port can hold the packets of a burst for the history
    KeptPackets kept;
    std::vector<nic::Packet> burst;
    std::size_t filled = 0;     ///< packets in the burst
    std::size_t processed = 0;  ///< packets of the burst that were processed
    DropCounters drops;
    UnknownGroups unknown_groups;  ///< destinations of packets dropped as unknown_group
    Counter to_lines;              ///< packets given to lines: all that were not dropped
};

struct PollerCounters : LoopCounters {
    /// In nanoseconds of wall time, from the exchange's stamp, or from the time when a capture's
    /// packet was due. Each packet of a burst counts with the figure of the first.
    Histogram exchange_to_decoded_ns;
    Histogram exchange_to_decoded_preempted_ns;  ///< of these, the samples affected by preemption
                                                 ///< of the thread
    /// Rounds in which marks of all lines were written for the cores. The marks of one round reach
    /// the rings before the next round begins.
    Counter marked;
};

class PollerTask {
  public:
    virtual ~PollerTask() = default;

    /// Gives the packets of the last step to the recorder, if there is one. To be called before
    /// each step, which returns their buffers to the ports. It is no part of step(), because a call
    /// there changes what the compiler inlines.
    void record(std::int64_t now_ns) {
        if (recorder_ == nullptr) {
            return;
        }
        const std::uint64_t step = counters_.steps.read();
        if (std::exchange(recorded_step_, step) == step) {
            return;  // a repair of this step was recorded
        }
        if (recorder_->wants_any()) {
            record_bursts();
        } else {  // no packet is parsed
            for (const auto& input : inputs_) {
                recorder_->skip(input->filled);
            }
        }
        recorder_->close_if_old(now_ns);
    }

    /// Called after the last step and after finish(), which may process repairs: gives the recorder
    /// what it has not got yet.
    void finish_recording() {
        if (recorder_ != nullptr) {
            record(0);
            recorder_->close();
        }
    }

    /// Live: reads one burst from each port. In a replay: takes about a burst of packets of all
    /// captures in the order of their times. Returns the number of packets and repair blocks
    /// handled; 0: there were none.
    virtual std::size_t step(std::int64_t now_ns) = 0;

    /// The thread slept since the last step, so the time between is not counted as preemption.
    void slept() noexcept { loop_clock_.slept(); }

    /// Called after the last step: delivers or gives up all held blocks.
    virtual void finish() = 0;

    /// Called repeatedly after finish() while the cores run: writes the events that full rings
    /// refused. True once all of them are written.
    bool flush_pending() { return router_.flush_pending(); }

    /// Whether no more packets will ever come.
    [[nodiscard]] bool exhausted() const {
        return std::all_of(inputs_.begin(), inputs_.end(), [](const auto& input) {
            return input->processed == input->filled && input->port->exhausted();
        });
    }

    [[nodiscard]] const std::string& name() const { return name_; }

    [[nodiscard]] const PollerCounters& counters() const { return counters_; }

    /// Null: there is no recovery.
    [[nodiscard]] const PollerRepairRings* repair_rings() const { return repair_rings_.get(); }

    /// Null: no history is kept.
    [[nodiscard]] const HistoryRingWriter* history() const { return history_.get(); }

    /// Null: packets cannot be tapped.
    [[nodiscard]] PacketTap* tap() { return tap_.get(); }

    /// Null: packets are not recorded.
    [[nodiscard]] PacketRecorder* recorder() const { return recorder_.get(); }

    /// Offers new thresholds, filters and lines, which the poller adopts at its next housekeeping.
    [[nodiscard]] SettingsOffer& settings() { return settings_; }

    /// Resets the longest step and the high-water marks of the rings. Any thread (loop_counters.h).
    void clear_maxima() {
        counters_.clear_maxima();
        for (std::size_t i = 0; i < router_.rings_count(); ++i) {
            router_.clear_high_water(i);
        }
    }

    // The functions below are for cold threads. The figures are counters, which any thread may read
    // at any time.

    [[nodiscard]] std::size_t ports_count() const { return inputs_.size(); }

    /// Only the port and the counters of an input may be used.
    [[nodiscard]] const PollerInput& input(std::size_t i) const { return *inputs_[i]; }

    [[nodiscard]] virtual std::size_t lines_count() const = 0;

    /// Of its arbiter, gaps() may be called only after the poller's thread has ended.
    [[nodiscard]] virtual PollerLine& line(std::size_t i) const = 0;

    /// The venue's reasons for refusing blocks or parts of blocks. rejects() counts them for a
    /// line.
    [[nodiscard]] virtual std::span<const Row> reject_rows() const = 0;
    [[nodiscard]] virtual std::uint64_t rejects(std::size_t line, std::size_t row) const = 0;

    [[nodiscard]] const Router& router() const { return router_; }

    /// Control thread, while no settings wait to be adopted. Builds the lines of `setup.lines` for
    /// this poller's settings. The poller must have none of them yet, and space for all
    /// (Router::lines_max). Of the setup, arbitration and silence are used as well. `groups`: the
    /// groups of the new lines, for each of the poller's ports. Returns null and adds to `problems`
    /// if a port cannot take the groups.
    [[nodiscard]] virtual std::unique_ptr<MoreLines> prepare_lines(
        const PollerSetup& setup, const std::vector<std::vector<nic::Group>>& groups,
        Problems& problems) const = 0;

  protected:
    PollerTask(PollerSetup& setup, Router router);

    PollerTask(const PollerTask&) = delete;
    PollerTask& operator=(const PollerTask&) = delete;

    /// A random interval of 0.5 to 1.55 ms until the next housekeeping.
    [[nodiscard]] std::int64_t next_housekeeping_interval_ns() noexcept {
        constexpr std::int64_t shortest_ns = 500'000;
        random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return shortest_ns + static_cast<std::int64_t>(random_ >> 44);  // up to 1.05 ms more
    }

    /// Records the bursts of all ports. Only with a recorder.
    virtual void record_bursts() = 0;

    PollerCounters counters_;
    LoopClock loop_clock_;
    std::unique_ptr<PollerRepairRings> repair_rings_;
    std::unique_ptr<HistoryRingWriter> history_;
    std::unique_ptr<PacketTap> tap_;
    std::unique_ptr<PacketRecorder> recorder_;
    SettingsOffer settings_;
    Router router_;
    std::vector<std::unique_ptr<PollerInput>> inputs_;
    const nic::ReplayGate* gate_;      ///< null: no packets are held back
    std::uint64_t recorded_step_ = 0;  ///< the step whose bursts were recorded

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

// --- cold ---

inline PollerTask::PollerTask(PollerSetup& setup, Router router)
    : repair_rings_(std::move(setup.repair_rings)),
      history_(std::move(setup.history)),
      tap_(std::move(setup.tap)),
      recorder_(std::move(setup.recorder)),
      router_(std::move(router)),
      gate_(setup.gate),
      name_(std::move(setup.name)) {
    for (PollerPort& port : setup.ports) {
        inputs_.push_back(std::make_unique<PollerInput>(std::move(port), inputs_.size()));
    }
}

}  // namespace pinstrike::actors
