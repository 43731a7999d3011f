// path: cold
//
// The way of a session's blocks to us: framed as the network frames them, twice, with what each
// stream loses, damages, doubles, delays and reorders. Hands packets on in the order of arrival.
#pragma once

#include "feed/event/block.h"
#include "feed/lines/line_config.h"
#include "feed/opra/traffic/random.h"
#include "feed/opra/traffic/session.h"
#include "feed/opra/traffic/traffic_config.h"
#include "feed/opra/traffic/truth_account.h"
#include "nic/packet/udp_frame_writer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::feed::opra::traffic {

/// Sender, group and marks of a line's stream as the network publishes them (network
/// specification): DSCP EF, time to live 119, source port = destination port.
[[nodiscard]] nic::UdpRoute route_of(const LineConfig& line, Stream stream, bool disaster_site);

/// The same for what is retransmitted; the line has a group for that.
[[nodiscard]] nic::UdpRoute retransmission_route_of(const LineConfig& line, Stream stream,
                                                    bool disaster_site);

/// A whole Ethernet frame around a block, UDP checksum valid.
[[nodiscard]] std::vector<std::byte> frame_of(const LineConfig& line, Stream stream,
                                              bool disaster_site, std::span<const std::byte> block);

class PacketSink {
  public:
    virtual ~PacketSink() = default;
    /// Frames come in the order of their arrival times.
    virtual void packet(std::span<const std::byte> frame, std::int64_t ts_arrival_ns) = 0;
};

class Delivery final : public BlockSink {
  public:
    /// `streams` is "A", "B" or "AB". `account`, where given, is told every block's fate. Lines as
    /// given to the session.
    Delivery(const TrafficConfig& config, std::span<const LineConfig> lines,
             std::string_view streams, PacketSink& sink, AccountTruth* account);

    void block(const SentBlock& block) override;

    /// Hands out what is still on its way.
    void finish();

    /// The longest that a sound copy came after the first sound copy of a later block of its line:
    /// a hold window above it never declares what was not lost.
    [[nodiscard]] std::int64_t longest_hole_ns() const { return longest_hole_ns_; }

  private:
    struct Flying {
        std::int64_t ts_ns = 0;
        std::uint64_t order = 0;  ///< of sending: ties arrive in it
        std::vector<std::byte> frame;

        friend bool operator>(const Flying& a, const Flying& b) {
            return a.ts_ns != b.ts_ns ? a.ts_ns > b.ts_ns : a.order > b.order;
        }
    };

    /// A block that is sent again.
    struct Lost {
        std::vector<std::byte> bytes;
        std::uint64_t messages = 0;
        bool disaster_site = false;
    };

    /// Arrival times of one line on one stream.
    struct Path {
        std::int64_t latest_ns = 0;   ///< of what is on its way
        std::int64_t barrier_ns = 0;  ///< nothing sent now arrives before this
    };

    [[nodiscard]] bool is_barrier(const SentBlock& block) const;
    void spare(const SentBlock& block, std::array<StreamFate, streams_count>& fates) const;
    StreamFate decide(Stream stream, bool barrier);
    std::int64_t arrival(const SentBlock& block, Stream stream);
    void fly(const SentBlock& block, Stream stream, const StreamFate& fate);
    void note_hole(const SentBlock& block, std::int64_t first_ns);
    void hand_out_until(std::int64_t ts_ns);
    [[nodiscard]] const StreamFaults& faults(Stream stream) const;
    [[nodiscard]] bool retransmits(const SentBlock& block, bool heard);
    void retransmit_lost(const SentBlock& block);
    void retransmit(LineIndex line, const Lost& lost, std::int64_t known_ns, bool fills);

    const TrafficConfig& config_;
    std::span<const LineConfig> lines_;
    std::string streams_;
    PacketSink& sink_;
    AccountTruth* account_;
    Random random_;
    Random retransmissions_;               ///< apart: without them everything else is as it was
    std::vector<std::vector<Lost>> lost_;  ///< by line: nothing behind them was heard yet
    std::priority_queue<Flying, std::vector<Flying>, std::greater<>> flying_;
    std::vector<std::array<Path, streams_count>> paths_;
    std::vector<std::int64_t> last_first_ns_;  ///< by line: first arrival of the latest block
    std::int64_t first_arrival_ns_ = 0;        ///< of the block that is being sent
    std::int64_t longest_hole_ns_ = 0;
    std::uint64_t order_ = 0;
};

}  // namespace pinstrike::feed::opra::traffic
