// path: hot
//
// A source of frames without a NIC. It encodes a part of a generated session once, and then returns
// its packets on both streams in an endless loop. Before it returns a packet, it patches block
// sequence, time stamp, block checksum and UDP checksum in place, and computes the checksums from
// stored sums of the bytes that never change. The numbers of a line continue over the loops without
// a reset, and across the wrap.
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
    /// Cold: generates and encodes. `config` is as for a TrafficSession, but restarts and the end
    /// of the session are left out. If `config.session`, start of day, maps and open interest come
    /// once, before the loop. fill() returns only frames for `groups`, but the messages of other
    /// lines count towards the rate too. If the groups have no traffic, loop_blocks() is 0 and
    /// fill() never returns a frame.
    LoopSource(const TrafficConfig& config, std::span<const LineConfig> lines,
               std::span<const nic::Group> groups, nic::UdpChecksumSent udp_checksum);
    ~LoopSource() override;
    LoopSource(const LoopSource&) = delete;
    LoopSource& operator=(const LoopSource&) = delete;

    /// If paced, returns the packets that are due by the rate since the first call. After a pause
    /// of the caller, at most some milliseconds of traffic are caught up on. Returns at most as
    /// many packets as the loop has blocks.
    std::size_t fill(std::span<nic::Packet> burst, std::int64_t now_ns) override;

    [[nodiscard]] std::size_t loop_blocks() const { return entries_.size() - prologue_count_; }

    /// Bytes of both copies of all frames.
    [[nodiscard]] std::size_t memory_bytes() const { return arena_.size(); }

  private:
    class Recorder;

    static constexpr std::uint32_t nowhere = 0xFFFF'FFFF;

    /// One block and its two frames.
    struct Entry {
        std::array<std::uint32_t, streams_count> at{nowhere, nowhere};  ///< offsets of the frames
        std::array<nic::ChecksumSum, streams_count> udp_sum{};  ///< without the patched fields
        std::uint32_t byte_sum = 0;  ///< of the block, without the patched fields
        std::uint32_t sequence = 0;  ///< as first generated
        std::uint32_t seconds = 0;   ///< block time of the copy that was returned first
        std::uint32_t nanoseconds = 0;
        std::int64_t rel_ns = 0;  ///< stream time since the start
        std::uint16_t length_bytes = 0;
        std::uint16_t line = 0;
    };

    /// The position of a stream.
    struct Cursor {
        std::size_t next = 0;
        std::uint64_t taken_count = 0;
        std::int64_t loops_ns = 0;         ///< stream time of the finished loops
        std::int64_t skew_ns = 0;          ///< how late the stream is
        std::vector<std::uint32_t> shift;  ///< by line: numbers used by the finished loops
        StreamFaults faults;
        bool on = false;
        bool faulty = false;
    };

    [[nodiscard]] std::int64_t due_ns(const Cursor& cursor) const;
    [[nodiscard]] int choose(std::int64_t now_ns);
    void add_next(std::size_t stream, std::int64_t now_ns, std::span<nic::Packet> burst,
                  std::size_t& filled);
    void patch(Entry& entry, std::size_t stream, std::uint32_t sequence);
    void step(Cursor& cursor);

    nic::UdpChecksumSent udp_checksum_;
    bool paced_;
    std::size_t leader_ = 0;  ///< the stream whose copies are returned first
    Random random_;
    std::vector<std::byte> arena_;
    std::vector<Entry> entries_;
    std::size_t prologue_count_ = 0;
    std::vector<std::uint32_t> loop_messages_by_line_;
    std::int64_t loop_ns_ = 1;
    std::int64_t origin_ns_ = 0;  ///< wall time of the stream's start
    bool started_ = false;
    std::array<Cursor, streams_count> cursors_;
};

}  // namespace pinstrike::feed::opra::traffic
