// path: hot
//
// Frames without a NIC: a stretch of generated traffic, encoded once and handed out for ever, on
// both streams. As a packet is handed out its block sequence, time stamp, block checksum and UDP
// checksum are patched in place, the checksums from sums kept over the bytes that never change. A
// line's numbers go on over the loops without a reset, and past the wrap.
#pragma once

#include "feed/event/block.h"
#include "feed/lines/line_config.h"
#include "feed/opra/traffic/random.h"
#include "feed/opra/traffic/traffic_config.h"
#include "nic/packet/udp_frame_writer.h"
#include "nic/sim/frame_source.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::feed::opra::traffic {

/// At this rate and above a LoopSource does not pace itself.
inline constexpr double unpaced_messages_per_second = 1e9;

class LoopSource final : public nic::FrameSource {
  public:
    /// Cold: generates and encodes. Config as for a Session, its restarts and its end left out; a
    /// `session` begins with start of day, maps and open interest, which come once. Only frames for
    /// `groups` are handed out; what goes to other lines takes its share of the rate all the same.
    /// With no traffic for the groups, loop_blocks() is 0 and no frame ever comes.
    LoopSource(const TrafficConfig& config, std::span<const LineConfig> lines,
               std::span<const nic::Group> groups, nic::UdpChecksumSent udp_checksum);
    ~LoopSource() override;
    LoopSource(const LoopSource&) = delete;
    LoopSource& operator=(const LoopSource&) = delete;

    /// Paced: what is due by the rate since the first call; after a pause of the caller at most
    /// some milliseconds of traffic are made up for. No more packets than the loop has blocks.
    std::size_t fill(std::span<nic::Packet> burst, std::int64_t now_ns) override;

    /// Blocks handed out again and again, and their messages.
    [[nodiscard]] std::size_t loop_blocks() const { return entries_.size() - prologue_count_; }

    [[nodiscard]] std::uint64_t loop_messages() const { return loop_messages_; }

    /// Bytes of both copies of all frames.
    [[nodiscard]] std::size_t memory_bytes() const { return arena_.size(); }

  private:
    class Recorder;

    static constexpr std::uint32_t nowhere = 0xFFFF'FFFF;

    /// One block and its two frames.
    struct Entry {
        std::array<std::uint32_t, streams_count> at{nowhere, nowhere};  ///< of the frames
        std::array<nic::ChecksumSum, streams_count> udp_sum{};          ///< without what is patched
        std::uint32_t byte_sum = 0;                                     ///< of the block, likewise
        std::uint32_t sequence = 0;                                     ///< as first generated
        std::uint32_t seconds = 0;  ///< stamped on the copy that went first
        std::uint32_t nanoseconds = 0;
        std::int64_t rel_ns = 0;  ///< stream time since the start
        std::uint16_t length_bytes = 0;
        std::uint16_t line = 0;
    };

    /// How far a stream has come.
    struct Cursor {
        std::size_t next = 0;
        std::uint64_t handed_count = 0;
        std::int64_t loops_ns = 0;         ///< stream time of the loops that are done
        std::int64_t skew_ns = 0;          ///< behind its time
        std::vector<std::uint32_t> shift;  ///< by line: what the loops have added to the numbers
        StreamFaults faults;
        bool on = false;
        bool faulty = false;
    };

    [[nodiscard]] std::int64_t due_ns(const Cursor& cursor) const;
    [[nodiscard]] int choose(std::int64_t now_ns);
    void take(std::size_t stream, std::int64_t now_ns, std::span<nic::Packet> burst,
              std::size_t& filled);
    void patch(Entry& entry, std::size_t stream, std::uint32_t sequence);
    void step(Cursor& cursor);

    nic::UdpChecksumSent udp_checksum_;
    bool paced_;
    std::size_t leader_ = 0;  ///< the stream whose copies go first
    Random random_;
    std::vector<std::byte> arena_;
    std::vector<Entry> entries_;
    std::size_t prologue_count_ = 0;
    std::vector<std::uint32_t> loop_messages_by_line_;
    std::uint64_t loop_messages_ = 0;
    std::int64_t loop_ns_ = 1;
    std::int64_t origin_ns_ = 0;  ///< wall time of the stream's start
    bool started_ = false;
    std::array<Cursor, streams_count> cursors_;
};

}  // namespace pinstrike::feed::opra::traffic
