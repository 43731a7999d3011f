// path: hot
//
// The frames of the bridge. README.md of this folder describes them in tables. A frame is a header
// of 64 bytes and a body of whole 64 bytes, so that events lie in the receiver's buffer as they lie
// in a ring. Integers are little-endian, as on both hosts.
#pragma once

#include "actors/bridge/limits.h"
#include "actors/publish/pinstrike.h"
#include "config/check.h"
#include "feed/event/event.h"
#include "feed/event/position.h"
#include "feed/event/series_key.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::bridge {

inline constexpr std::uint32_t frame_magic = 0x5242'5350;  ///< "PSBR"
inline constexpr std::uint8_t protocol_version = 1;
inline constexpr std::size_t unit_bytes = 64;

/// The values are sent on the wire.
enum class FrameType : std::uint8_t {
    hello = 1,  ///< joining side: what it wants
    refused,    ///< serving side: why not; its last frame
    start,      ///< serving side: a state begins; shape of the feed's memory
    lines,      ///< serving side: lines of a core
    series,     ///< serving side: series of a core
    event_at,   ///< serving side: one event with its stamp, which the state may include
    ready,      ///< serving side: the state of a core is complete; its position and clock
    events,     ///< serving side: events of a core
    ended,      ///< serving side: no feed is followed, and why; another start may follow
    credit,     ///< joining side: how many bytes may be sent in all
    ask,        ///< joining side: which ids have these series
    ids,        ///< serving side: ids of series
    alive,      ///< both sides
    bye,        ///< both sides: a clean end, and why; the last frame
};

struct alignas(unit_bytes) FrameHeader {
    std::uint32_t magic = frame_magic;
    std::uint8_t version = protocol_version;
    FrameType type = FrameType::alive;
    std::uint16_t core = 0;
    std::uint32_t body_bytes = 0;
    std::uint32_t count = 0;     ///< of what the body has; of a text, its bytes
    std::uint64_t position = 0;  ///< in the core's stream on the serving host, behind the frame
    std::uint64_t left_out = 0;  ///< records before it that the filter left out
    std::uint64_t stamp = 0;     ///< of the core's clock
    std::uint64_t base_ms = 0;
    std::uint64_t ms = 0;
    std::uint64_t value = 0;  ///< credit: bytes; start: when the feed started
};

static_assert(sizeof(FrameHeader) == unit_bytes);

/// The body of hello; `roots_count` symbols of 8 bytes follow it.
struct alignas(unit_bytes) HelloBody {
    std::uint64_t layout_hash = 0;
    std::uint32_t kinds = ~0U;  ///< bit per EventKind
    std::uint32_t roots_count = 0;
};

/// The body of start; a StartCore for each core follows it.
struct alignas(unit_bytes) StartBody {
    std::array<char, 32> feed{};
    std::uint32_t trade_date = 0;
    std::uint32_t sharding = 0;
    std::uint32_t series = 0;  ///< of each core
    std::uint32_t slots = 0;
    std::uint64_t stream_records = 0;
    std::uint64_t number_last = 0;  ///< feed::Numbering::last of the feed's venue
};

struct alignas(unit_bytes) StartCore {
    std::array<char, 32> name{};
};

/// A series: `entry.record` has the series' id in its lower 29 bits, and no index.
struct alignas(unit_bytes) SeriesBody {
    pinstrike_entry entry;
    pinstrike_trades trades;
};

/// A line: `line.version` is its number.
using LineBody = pinstrike_line;

struct IdBody {
    feed::SeriesKey key;
    std::uint32_t id = 0;
    std::uint32_t reserved = 0;
    std::uint64_t reserved2 = 0;
};

static_assert(sizeof(HelloBody) + roots_max * sizeof(std::uint64_t) <= body_bytes_max);
static_assert(sizeof(HelloBody) == 64 && sizeof(StartBody) == 64 && sizeof(StartCore) == 64);
static_assert(sizeof(SeriesBody) == 128 && sizeof(LineBody) == 64 && sizeof(IdBody) == 32);

struct Frame {
    FrameHeader header;
    std::span<const std::byte> body;  ///< aligned to 64 bytes

    /// The element `index` of a body of Ts that begins at `at`. The caller has checked that the
    /// body is long enough.
    template <class T>
    [[nodiscard]] T at(std::size_t index, std::size_t at = 0) const {
        PINSTRIKE_CHECK(at + (index + 1) * sizeof(T) <= body.size());
        T value{};
        std::memcpy(&value, body.data() + at + index * sizeof(T), sizeof value);
        return value;
    }

    /// Whether the body has `count` elements of T behind `at` bytes, and no more than fill its last
    /// unit.
    template <class T>
    [[nodiscard]] bool has(std::size_t count, std::size_t at = 0) const {
        const std::size_t bytes = at + count * sizeof(T);
        return count <= body_bytes_max && body.size() >= bytes && body.size() < bytes + unit_bytes;
    }

    /// The text of refused, ended and bye.
    [[nodiscard]] std::string text() const;
};

/// Splits a byte stream into frames. A header that is wrong is rejected before its body is
/// received, so no more than `buffer_bytes` are ever kept.
class FrameReader {
  public:
    enum class Result : std::uint8_t { frame, incomplete, malformed, wrong_version };

    FrameReader() : units_(buffer_bytes / unit_bytes) {}

    /// Where to receive the next bytes. Invalidates the bodies of earlier frames. Empty: frames
    /// must be taken first.
    [[nodiscard]] std::span<std::byte> space();

    /// The first `bytes` of space() were received.
    void received(std::size_t bytes) { end_ += bytes; }

    /// After `malformed` or `wrong_version` the stream cannot be read further.
    [[nodiscard]] Result next(Frame& frame);

    /// Bytes of complete frames that were taken since the beginning.
    [[nodiscard]] std::uint64_t taken() const { return taken_; }

  private:
    struct alignas(unit_bytes) Unit {
        std::array<std::byte, unit_bytes> bytes;
    };

    [[nodiscard]] std::byte* data() { return units_.front().bytes.data(); }

    std::vector<Unit> units_;
    std::size_t begin_ = 0;  ///< a multiple of the unit
    std::size_t end_ = 0;
    std::uint64_t taken_ = 0;
};

/// Frames that wait to be sent, in a buffer of fixed size.
class FrameWriter {
  public:
    FrameWriter() : bytes_(buffer_bytes) {}

    /// Whether there is room for a frame with a body of so many bytes.
    [[nodiscard]] bool has_room(std::size_t body_bytes);

    /// Begins a frame; append() adds to its body, end() completes it. The caller has asked
    /// has_room().
    void begin(const FrameHeader& header);

    void append(const void* from, std::size_t bytes) {
        std::memcpy(bytes_.data() + end_, from, bytes);
        end_ += bytes;
    }

    /// Sets what is known only now, fills the last unit, and completes the frame.
    void end(const FrameHeader& header);

    /// Removes a frame that was begun and not completed, if there is one.
    void drop() {
        end_ = begun_ ? frame_ : end_;
        begun_ = false;
    }

    /// A whole frame. False: there is no room for it.
    bool put(const FrameHeader& header, std::span<const std::byte> body = {});
    bool put_text(FrameType type, std::string_view text);

    [[nodiscard]] std::span<const std::byte> waiting() const {
        return std::span{bytes_}.subspan(begin_, end_ - begin_);
    }

    void sent(std::size_t count) {
        begin_ += count;
        sent_ += count;
    }

    /// Bytes of all frames so far, and those that were sent.
    [[nodiscard]] std::uint64_t queued() const { return sent_ + (end_ - begin_); }

    [[nodiscard]] std::uint64_t sent() const { return sent_; }

  private:
    std::vector<std::byte> bytes_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t frame_ = 0;  ///< where the frame begins that is being written
    bool begun_ = false;     ///< there is one
    std::uint64_t sent_ = 0;
};

/// Whether an event from the network can be one of a feed. `left`: records from it on.
[[nodiscard]] bool is_possible(const feed::Event& event, std::size_t left,
                               const feed::Numbering& numbering);

/// Whether the state of a series from the network can be one of a book.
[[nodiscard]] bool is_possible(const SeriesBody& series);

/// Whether the state of a line from the network can be one of a book.
[[nodiscard]] bool is_possible(const LineBody& line);

/// Whether a stamp from the network can be one of a core's clock, without line and writing mark.
[[nodiscard]] inline bool is_clock_stamp(std::uint64_t stamp) {
    return stamp % PINSTRIKE_STAMP_PLACE == 0;
}

}  // namespace pinstrike::actors::bridge
