// path: cold
//
// Simulates the network between OPRA and this host. Puts each block of a session into a frame of
// each stream, applies the faults of each stream (loss, corruption, duplicates, delay, reordering),
// and passes on the packets in order of arrival.
#pragma once

#include "feed/event/block.h"
#include "feed/lines/line_config.h"
#include "feed/opra/traffic/random.h"
#include "feed/opra/traffic/traffic_config.h"
#include "feed/opra/traffic/traffic_session.h"
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

/// The addresses and header fields of a line's stream (network specification): DSCP EF, time to
/// live 119, source port = destination port.
[[nodiscard]] nic::UdpRoute route_of(const LineConfig& line, Stream stream, bool disaster_site);

/// The same for retransmitted blocks, for which the line has groups of its own.
[[nodiscard]] nic::UdpRoute retransmission_route_of(const LineConfig& line, Stream stream,
                                                    bool disaster_site);

/// An Ethernet frame that holds a block and has a valid UDP checksum.
[[nodiscard]] std::vector<std::byte> frame_of(const LineConfig& line, Stream stream,
                                              bool disaster_site, std::span<const std::byte> block);

class PacketSink {
  public:
    virtual ~PacketSink() = default;
    /// Called in the order of arrival times.
    virtual void packet(std::span<const std::byte> frame, std::int64_t ts_arrival_ns) = 0;
};

class Delivery final : public BlockSink {
  public:
    /// `lines` are those of the session. `streams` is "A", "B" or "AB". `account` gets the fate of
    /// every block; it may be null.
    Delivery(const TrafficConfig& config, std::span<const LineConfig> lines,
             std::string_view streams, PacketSink& sink, AccountTruth* account);

    void block(const SentBlock& block) override;

    /// Passes on the packets that have not arrived yet.
    void finish();

    /// The longest time by which the first undamaged copy of a block arrived after that of a later
    /// block of its line. With a longer hold window, no number is declared lost that still arrives.
    [[nodiscard]] std::int64_t longest_hole_ns() const { return longest_hole_ns_; }

  private:
    struct InTransit {
        std::int64_t ts_ns = 0;
        std::uint64_t order = 0;  ///< order of sending, which decides between equal times
        std::vector<std::byte> frame;

        friend bool operator>(const InTransit& a, const InTransit& b) {
            return a.ts_ns != b.ts_ns ? a.ts_ns > b.ts_ns : a.order > b.order;
        }
    };

    /// A block that is retransmitted.
    struct Lost {
        std::vector<std::byte> bytes;
        std::uint64_t messages = 0;
        bool disaster_site = false;
    };

    /// Arrival times of one line on one stream.
    struct Path {
        std::int64_t latest_ns = 0;   ///< latest arrival time of the packets sent so far
        std::int64_t barrier_ns = 0;  ///< packets sent from now on do not arrive before this
    };

    [[nodiscard]] bool is_barrier(const SentBlock& block) const;
    void spare(const SentBlock& block, std::array<StreamFate, streams_count>& fates) const;
    StreamFate decide(Stream stream, bool barrier);
    std::int64_t arrival(const SentBlock& block, Stream stream);
    void fly(const SentBlock& block, Stream stream, const StreamFate& fate);
    void note_hole(const SentBlock& block, std::int64_t first_ns);
    void deliver_until(std::int64_t ts_ns);
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
    Random retransmissions_;               ///< separate, so that they change nothing else
    std::vector<std::vector<Lost>> lost_;  ///< by line: no later block was received yet
    std::priority_queue<InTransit, std::vector<InTransit>, std::greater<>> in_transit_;
    std::vector<std::array<Path, streams_count>> paths_;
    std::vector<std::int64_t> last_first_ns_;  ///< by line: latest first arrival of a block
    std::int64_t first_arrival_ns_ = 0;        ///< of the block that is being sent
    std::int64_t longest_hole_ns_ = 0;
    std::uint64_t order_ = 0;
};

}  // namespace pinstrike::feed::opra::traffic
