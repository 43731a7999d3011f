// path: mixed, hot: fill() and what it calls
#include "feed/opra/traffic/loop_source.h"

#include "config/cache_line.h"
#include "config/check.h"
#include "config/time_units.h"
#include "feed/opra/checksum.h"
#include "feed/opra/layout.h"
#include "feed/opra/traffic/delivery.h"
#include "feed/opra/traffic/traffic_session.h"
#include "nic/packet/bytes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace pinstrike::feed::opra::traffic {

namespace {

constexpr std::size_t headers_bytes = nic::udp_headers_bytes(0);
constexpr std::size_t udp_at = headers_bytes - 8;
constexpr std::size_t udp_checksum_at = udp_at + 6;
constexpr std::int64_t catch_up_ns = 10'000'000;

// These 16 bytes of the block hold all patched fields. They begin at an even offset of the
// datagram, because the UDP checksum adds words of 16 bits, and end after the last byte of the
// block header.
constexpr std::size_t patched_at = block::sequence.at;
constexpr std::size_t patched_bytes = 16;
static_assert(patched_at % 2 == 0 && block::checksum.at + 2 <= patched_at + patched_bytes);
static_assert(block::nanoseconds.at == block::seconds.at + 4);

nic::ChecksumSum sum_of_udp(const std::byte* frame, std::size_t length_bytes) {
    const auto udp_bytes = static_cast<std::uint16_t>(length_bytes - udp_at);
    return nic::udp_pseudo_sum(frame + udp_at - 8, udp_bytes) +
           nic::checksum_sum(frame + udp_at, udp_bytes);
}

TrafficConfig loop_config(TrafficConfig config) {
    config.restarts_count = 0;
    config.disaster = false;
    config.rollover_reset = false;
    config.end_with_reset = false;
    return config;
}

}  // namespace

/// Stores the blocks of a session as frames.
class LoopSource::Recorder final : public BlockSink {
  public:
    Recorder(LoopSource& into, const TrafficConfig& config, std::span<const LineConfig> lines,
             std::span<const nic::Group> groups)
        : into_(into),
          config_(config),
          lines_(lines),
          groups_(groups.begin(), groups.end()),
          last_ns_(config.start_ns) {}

    void block(const SentBlock& block) override {
        last_ns_ = block.ts_ns;
        if (!wanted(block.line, Stream::a) && !wanted(block.line, Stream::b)) {
            return;
        }
        if (block.role == BlockRole::line_integrity && block.header.sequence == 0) {
            return;  // it carries no number, and would be wrong in the second loop
        }
        Entry entry;
        entry.sequence = block.header.sequence;
        entry.rel_ns = block.ts_ns - config_.start_ns;
        entry.line = block.line;
        entry.byte_sum = byte_sum(block.bytes) -
                         byte_sum(block.bytes.subspan(block::sequence.at, 4)) -
                         byte_sum(block.bytes.subspan(block::seconds.at, 10));
        for (const Stream stream : {Stream::a, Stream::b}) {
            if (wanted(block.line, stream)) {
                lay_down(entry, block, stream);
            }
        }
        into_.entries_.push_back(entry);
        if (looping_ && block.role == BlockRole::data) {
            into_.loop_messages_by_line_[block.line] +=
                static_cast<std::uint32_t>(block.messages.size());
        }
    }

    /// The blocks from now on belong to the loop.
    void begin_loop() {
        looping_ = true;
        into_.prologue_count_ = into_.entries_.size();
        loop_begin_ns_ = last_ns_;
    }

    [[nodiscard]] std::int64_t loop_ns() const {
        return std::max<std::int64_t>(1, last_ns_ - loop_begin_ns_);
    }

  private:
    [[nodiscard]] bool wanted(LineIndex line, Stream stream) const {
        return groups_.contains(lines_[line].streams[static_cast<std::size_t>(stream)]);
    }

    void lay_down(Entry& entry, const SentBlock& block, Stream stream) {
        const auto index = static_cast<std::size_t>(stream);
        const std::vector<std::byte> frame =
            frame_of(lines_[block.line], stream, false, block.bytes);
        PINSTRIKE_CHECK(frame.size() >= headers_bytes + patched_at + patched_bytes);
        std::vector<std::byte> bare = frame;
        PINSTRIKE_CHECK(bare.size() >= headers_bytes + patched_at + patched_bytes);
        std::memset(bare.data() + udp_checksum_at, 0, 2);
        std::memset(bare.data() + headers_bytes + patched_at, 0, patched_bytes);
        entry.udp_sum[index] = sum_of_udp(bare.data(), bare.size());
        entry.length_bytes = static_cast<std::uint16_t>(frame.size());
        std::vector<std::byte>& arena = into_.arena_;
        PINSTRIKE_CHECK(arena.size() + 2048 < std::numeric_limits<std::uint32_t>::max());
        entry.at[index] = static_cast<std::uint32_t>(arena.size());
        arena.insert(arena.end(), frame.begin(), frame.end());
        arena.resize(whole_cache_lines(arena.size()));
    }

    LoopSource& into_;
    const TrafficConfig& config_;
    std::span<const LineConfig> lines_;
    std::set<nic::Group> groups_;
    bool looping_ = false;
    std::int64_t last_ns_;
    std::int64_t loop_begin_ns_ = 0;
};

LoopSource::~LoopSource() = default;

LoopSource::LoopSource(const TrafficConfig& config, std::span<const LineConfig> lines,
                       std::span<const nic::Group> groups, nic::UdpChecksumSent udp_checksum)
    : udp_checksum_(udp_checksum),
      paced_(config.rate_messages_per_second < unpaced_messages_per_second),
      leader_(config.a.skew_ns > config.b.skew_ns ? 1 : 0),
      random_(scramble(config.seed ^ 0x4C4F'4F50ULL)),
      loop_messages_by_line_(lines.size()) {
    const TrafficConfig looped = loop_config(config);
    Recorder recorder{*this, looped, lines, groups};
    TrafficSession session{looped, lines, recorder};
    session.run_start();
    recorder.begin_loop();
    session.run_trading();
    loop_ns_ = recorder.loop_ns();
    for (std::size_t i = 0; i < streams_count; ++i) {
        Cursor& cursor = cursors_[i];
        cursor.faults = i == 0 ? config.a : config.b;
        cursor.on = std::ranges::any_of(entries_,
                                        [i](const Entry& entry) { return entry.at[i] != nowhere; });
        cursor.faulty = cursor.faults.loss > 0 || cursor.faults.duplicate > 0 ||
                        cursor.faults.reorder > 0 || cursor.faults.corrupt > 0;
        // With more skew, the earlier stream could be a whole loop ahead of the later one.
        cursor.skew_ns = std::clamp<std::int64_t>(cursor.faults.skew_ns, 0, loop_ns_ / 2);
        cursor.shift.resize(lines.size());
    }
    if (!cursors_[leader_].on) {
        leader_ = 1 - leader_;
    }
}

// --- hot ---

namespace {

std::uint32_t byte_sum_of_word(std::uint64_t word) {
    constexpr std::uint64_t even = 0x00FF'00FF'00FF'00FFULL;
    const std::uint64_t pairs = (word & even) + ((word >> 8) & even);
    return static_cast<std::uint32_t>((pairs * 0x0001'0001'0001'0001ULL) >> 48);
}

std::uint32_t add_numbers(std::uint32_t number, std::uint32_t shift) {
    const std::uint64_t sum = std::uint64_t{number} + shift;
    return static_cast<std::uint32_t>(sum > sequence_max ? sum - sequence_max : sum);
}

}  // namespace

std::int64_t LoopSource::due_ns(const Cursor& cursor) const {
    return origin_ns_ + entries_[cursor.next].rel_ns + cursor.loops_ns + cursor.skew_ns;
}

/// The stream of the next packet; -1: none is due yet.
int LoopSource::choose(std::int64_t now_ns) {
    const std::size_t other = 1 - leader_;
    const Cursor& first = cursors_[leader_];
    const Cursor& second = cursors_[other];
    if (!paced_) {
        const bool behind = second.on && second.taken_count < first.taken_count;
        return static_cast<int>(behind ? other : leader_);
    }
    const std::int64_t first_ns = due_ns(first);
    // At equal times the leader goes first, because its copy gets the time stamp.
    const bool second_next =
        second.on && second.taken_count < first.taken_count && due_ns(second) < first_ns;
    const std::int64_t next_ns = second_next ? due_ns(second) : first_ns;
    if (next_ns > now_ns) {
        return -1;
    }
    origin_ns_ += std::max<std::int64_t>(0, now_ns - next_ns - catch_up_ns);
    return static_cast<int>(second_next ? other : leader_);
}

void LoopSource::step(Cursor& cursor) {
    ++cursor.taken_count;
    if (++cursor.next < entries_.size()) {
        return;
    }
    cursor.next = prologue_count_;
    cursor.loops_ns += loop_ns_;
    for (std::size_t line = 0; line < cursor.shift.size(); ++line) {
        const std::uint64_t sum = std::uint64_t{cursor.shift[line]} + loop_messages_by_line_[line];
        cursor.shift[line] = static_cast<std::uint32_t>(sum % sequence_max);
    }
}

void LoopSource::patch(Entry& entry, std::size_t stream, std::uint32_t sequence) {
    std::byte* frame = arena_.data() + entry.at[stream];
    std::byte* start = frame + headers_bytes;
    put<block::sequence>(start, sequence);
    put<block::seconds>(start, entry.seconds);
    put<block::nanoseconds>(start, entry.nanoseconds);
    const std::uint64_t stamp = std::uint64_t{entry.seconds} << 32 | entry.nanoseconds;
    const std::uint32_t sum = entry.byte_sum + byte_sum_of_word(sequence) + byte_sum_of_word(stamp);
    put<block::checksum>(start, static_cast<std::uint16_t>(sum));
    if (udp_checksum_ == nic::UdpChecksumSent::none) {
        std::memset(frame + udp_checksum_at, 0, 2);
        return;
    }
    const nic::ChecksumSum whole =
        entry.udp_sum[stream] + nic::checksum_sum(start + patched_at, patched_bytes);
    nic::store_checksum(frame + udp_checksum_at, whole);
    if (nic::load_be16(frame + udp_checksum_at) == 0) {
        nic::store_be16(frame + udp_checksum_at, 0xFFFF);
    }
}

/// Patches the stream's next frame and adds it to the burst, with the stream's faults.
void LoopSource::add_next(std::size_t stream, std::int64_t now_ns, std::span<nic::Packet> burst,
                          std::size_t& filled) {
    Cursor& cursor = cursors_[stream];
    Entry& entry = entries_[cursor.next];
    if (entry.at[stream] == nowhere) {
        step(cursor);
        return;
    }
    // The packet is sent when it is due. If the caller comes later, the packet has waited, and its
    // latency counts from the due time.
    const std::int64_t sent_ns = paced_ ? std::min(due_ns(cursor), now_ns) : now_ns;
    // If the leader has no copy of the block, this copy is the first.
    if (stream == leader_ || entry.at[leader_] == nowhere) {
        entry.seconds = static_cast<std::uint32_t>(sent_ns / second_ns);
        entry.nanoseconds = static_cast<std::uint32_t>(sent_ns % second_ns);
    }
    patch(entry, stream, add_numbers(entry.sequence, cursor.shift[entry.line]));
    nic::Packet packet;
    packet.bytes = arena_.data() + entry.at[stream];
    packet.length_bytes = entry.length_bytes;
    packet.ts_receive_ns = sent_ns;
    const bool prologue = cursor.next < prologue_count_;
    step(cursor);
    if (!cursor.faulty || prologue) [[likely]] {
        burst[filled++] = packet;
        return;
    }
    if (random_.chance(cursor.faults.loss)) {
        return;
    }
    if (random_.chance(cursor.faults.corrupt)) {
        // The checksum is rewritten in every loop, so this damage does not persist.
        arena_[entry.at[stream] + headers_bytes + block::checksum.at] ^= std::byte{0x5A};
    }
    burst[filled++] = packet;
    if (filled < burst.size() && random_.chance(cursor.faults.duplicate)) {
        burst[filled++] = packet;
    }
    if (filled >= 3 && random_.chance(cursor.faults.reorder)) {
        std::swap(burst[filled - 1], burst[filled - 3]);
    }
}

std::size_t LoopSource::fill(std::span<nic::Packet> burst, std::int64_t now_ns) {
    if (!started_) {
        origin_ns_ = now_ns;
        started_ = true;
    }
    // A frame must not be patched again while an earlier packet of this burst refers to it.
    const std::size_t most = std::min(burst.size(), loop_blocks());
    std::size_t filled = 0;
    for (std::size_t taken = 0; taken < most && filled < most; ++taken) {
        const int stream = choose(now_ns);
        if (stream < 0) {
            break;
        }
        add_next(static_cast<std::size_t>(stream), now_ns, burst.first(most), filled);
    }
    return filled;
}

}  // namespace pinstrike::feed::opra::traffic
