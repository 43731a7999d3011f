// path: cold
//
// What peers say to each other, byte for byte: README.md of this folder has it as tables. Frames
// are little-endian; each begins with the same eight bytes. Nothing here knows what may be said
// when: see server_session.h and client_session.h.
#pragma once

#include "config/rows.h"
#include "feed/recovery/history.h"
#include "feed/recovery/repair.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::actors::peer {

inline constexpr std::array<std::byte, 2> magic{std::byte{'P'}, std::byte{'S'}};
inline constexpr std::uint8_t protocol_version = 1;
inline constexpr std::size_t header_bytes = 8;
inline constexpr std::size_t block_bytes_max = 1500;
inline constexpr std::size_t feed_name_bytes_max = 32;  // config/form.h, name_text

/// The numbers stand on the wire.
enum class FrameType : std::uint8_t {
    challenge = 1,  ///< server: prove that you know the secret
    proof = 2,      ///< client: here it is; prove it as well
    welcome = 3,    ///< server: here it is
    request = 4,    ///< client: a range of numbers of a line
    block = 5,      ///< server: a block of the answer
    done = 6,       ///< server: the answer was that
    refused = 7,    ///< server: no answer, or no connection
    keep_alive = 8,
    state_request = 9,  ///< client: the state of every series (state_frames.h)
    state_series = 10,  ///< server: of one
    state_lost = 11,    ///< server: what it said of a line's series before is stale
    state_end = 12,     ///< server: that was all
    state_place = 13,   ///< server: how far one of its cores had come on a line
};

// The place of a row is its number on the wire: new ones at the end.
// clang-format off
#define PINSTRIKE_PEER_REFUSALS(ROW) \
    ROW(malformed, refusals, "bytes that are no frame of this protocol, or out of turn") \
    ROW(wrong_version, refusals, "a version of the protocol that is not spoken here") \
    ROW(not_authenticated, refusals, "the secrets differ") \
    ROW(wrong_feed, refusals, "the feed is another one") \
    ROW(itself, refusals, "an instance does not answer itself") \
    ROW(late, refusals, "the secret was not proved in time") \
    ROW(unknown_line, refusals, "the line is not one of this instance") \
    ROW(not_kept, refusals, "nothing of the range is kept, or no longer") \
    ROW(over_budget, refusals, "more is asked for than this instance gives in a second") \
    ROW(no_state, refusals, \
        "no state of series to give: not configured, or this instance was started just now too")
// clang-format on

/// Why a server does not answer. The first six end the connection, but for a malformed request.
PINSTRIKE_ROWS(PeerRefusal, PINSTRIKE_PEER_REFUSALS)

using Nonce = std::array<std::byte, 32>;
using Instance = std::array<std::byte, 16>;  ///< a process, at random
using Mac = std::array<std::byte, 32>;

struct Frame {
    FrameType type = FrameType::keep_alive;
    std::span<const std::byte> body;
};

struct Challenge {
    Nonce nonce{};
    Instance instance{};
};

struct Proof {
    Nonce nonce{};
    Instance instance{};
    Mac mac{};
    std::string_view feed;  ///< 1 .. feed_name_bytes_max
};

struct Welcome {
    Mac mac{};
};

struct BlockFrame {
    std::uint64_t id = 0;  ///< of the request
    std::uint16_t line = 0;
    std::span<const std::byte> bytes;
};

struct Done {
    std::uint64_t id = 0;
    std::uint32_t blocks = 0;
};

struct Refused {
    std::uint64_t id = 0;  ///< 0: of the connection
    PeerRefusal reason = PeerRefusal::malformed;
    std::optional<feed::KeptRange> kept;
};

// Nothing where the body does not have the form of its type. A request is not judged here beyond
// its length.
[[nodiscard]] std::optional<Challenge> parse_challenge(std::span<const std::byte> body);
[[nodiscard]] std::optional<Proof> parse_proof(std::span<const std::byte> body);
[[nodiscard]] std::optional<Welcome> parse_welcome(std::span<const std::byte> body);
[[nodiscard]] std::optional<feed::RepairRequest> parse_request(std::span<const std::byte> body);
[[nodiscard]] std::optional<BlockFrame> parse_block(std::span<const std::byte> body);
[[nodiscard]] std::optional<Done> parse_done(std::span<const std::byte> body);
[[nodiscard]] std::optional<Refused> parse_refused(std::span<const std::byte> body);

/// Cuts a stream of bytes into frames. A length that its type cannot have is refused as soon as the
/// header is there, so what waits is never more than one frame.
class FrameReader {
  public:
    enum class Result : std::uint8_t { frame, incomplete, malformed, wrong_version };

    /// Ends the life of every body given out before.
    void push(std::span<const std::byte> bytes);

    /// After malformed and wrong_version comes nothing more.
    [[nodiscard]] Result next(Frame& frame);

  private:
    std::vector<std::byte> bytes_;
    std::size_t read_ = 0;
};

/// Frames on their way out.
class FrameWriter {
  public:
    void put(const Challenge& challenge);
    void put(const Proof& proof);
    void put(const Welcome& welcome);
    void put(const feed::RepairRequest& request);
    void put(const BlockFrame& block);
    void put(const Done& done);
    void put(const Refused& refused);
    void put(FrameType type, std::span<const std::byte> body);
    void put_keep_alive();

    /// What was not sent yet.
    [[nodiscard]] std::span<const std::byte> waiting() const {
        return std::span{bytes_}.subspan(sent_);
    }

    /// The first `count` bytes of it were.
    void sent(std::size_t count);

  private:
    void begin(FrameType type, std::size_t body_bytes);
    void put_bytes(std::span<const std::byte> bytes);
    template <class T>
    void put_little(T value);

    std::vector<std::byte> bytes_;
    std::size_t sent_ = 0;
};

}  // namespace pinstrike::actors::peer
