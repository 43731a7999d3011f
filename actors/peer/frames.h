// path: cold
//
// The frames of the peer protocol. README.md of this folder describes them in tables. Frames are
// little-endian, and each begins with the same eight bytes. server_session.h and client_session.h
// check whether a frame is allowed at the time at which it arrives.
#pragma once

#include "actors/peer/frame_body.h"
#include "actors/peer/limits.h"
#include "config/rows.h"
#include "feed/recovery/history.h"
#include "feed/recovery/repair.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace pinstrike::actors::peer {

inline constexpr std::array<std::byte, 2> magic{std::byte{'P'}, std::byte{'S'}};
inline constexpr std::uint8_t protocol_version = 2;
inline constexpr std::size_t header_bytes = 8;

/// The values are sent on the wire.
enum class FrameType : std::uint8_t {
    challenge = 1,  ///< server: requests a proof that the client knows the secret
    proof = 2,      ///< client: its proof
    welcome = 3,    ///< server: its own proof
    request = 4,    ///< client: requests a range of numbers of a line
    block = 5,      ///< server: a block of the answer
    done = 6,       ///< server: the end of the answer
    refused = 7,    ///< server: refuses a request, or the connection
    keep_alive = 8,
    state_request = 9,  ///< client: requests the state of series (state_frames.h)
    state_series = 10,  ///< server: the state of one series
    state_lost = 11,    ///< server: states of a line in earlier frames are stale
    state_end = 12,     ///< server: the end of the answer
    state_place = 13,   ///< server: the position of one of its cores on a line
};

// The index of a row is its number on the wire, so new rows must be added at the end.
// clang-format off
#define PINSTRIKE_PEER_REFUSALS(ROW) \
    ROW(malformed, refusals, "bytes that are no frame of this protocol, or a frame out of order") \
    ROW(wrong_version, refusals, "a version of the protocol that is not supported here") \
    ROW(not_authenticated, refusals, "the secrets differ") \
    ROW(wrong_feed, refusals, "the feeds differ") \
    ROW(itself, refusals, "an instance does not answer itself") \
    ROW(late, refusals, "the secret was not proved in time") \
    ROW(unknown_line, refusals, "the line is not one of this instance") \
    ROW(not_kept, refusals, "no block of the range is kept, or none any more") \
    ROW(over_budget, refusals, "the request exceeds what this instance sends in a second") \
    ROW(no_state, refusals, \
        "no state of series to send: not configured, or this instance has just started as well")
// clang-format on

/// The reason for a refusal. The first six end the connection, except that a malformed request is
/// only refused.
PINSTRIKE_ROWS(PeerRefusal, PINSTRIKE_PEER_REFUSALS)

using Nonce = std::array<std::byte, 32>;
using Instance = std::array<std::byte, 16>;  ///< a random identifier of the process
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
    std::string_view feed;  ///< 1 to feed_name_bytes_max bytes
};

struct Welcome {
    Mac mac{};
};

struct BlockFrame {
    std::uint64_t id = 0;  ///< id of the request
    std::uint16_t line = 0;
    std::span<const std::byte> bytes;
};

struct Done {
    std::uint64_t id = 0;
    std::uint32_t blocks = 0;
};

struct Refused {
    std::uint64_t id = 0;  ///< id of the request; 0: the connection is refused
    PeerRefusal reason = PeerRefusal::malformed;
    std::optional<feed::KeptRange> kept;
};

template <>
inline constexpr auto fields_of<Challenge> = std::tuple{&Challenge::nonce, &Challenge::instance};

/// Without the name, which follows its length.
template <>
inline constexpr auto fields_of<Proof> = std::tuple{&Proof::nonce, &Proof::instance, &Proof::mac};

template <>
inline constexpr auto fields_of<Welcome> = std::tuple{&Welcome::mac};

template <>
inline constexpr auto fields_of<feed::RepairRequest> =
    std::tuple{&feed::RepairRequest::id,           &feed::RepairRequest::ts_before_ns,
               &feed::RepairRequest::ts_behind_ns, &feed::RepairRequest::first,
               &feed::RepairRequest::messages,     &feed::RepairRequest::line};

template <>
inline constexpr auto fields_of<Done> = std::tuple{&Done::id, &Done::blocks};

template <>
inline constexpr auto fields_of<feed::KeptRange> =
    std::tuple{&feed::KeptRange::first, &feed::KeptRange::last, &feed::KeptRange::from_ts_ns,
               &feed::KeptRange::to_ts_ns};

/// Reads a body that has the fields of T alone. It returns nothing if the length is another; the
/// receiver checks the values.
template <class T>
[[nodiscard]] std::optional<T> parse(std::span<const std::byte> bytes) {
    Body body(bytes);
    T value{};
    body.take(value);
    return body.whole() ? std::optional{value} : std::nullopt;
}

// These functions return nothing if the body does not have the form of its type.
[[nodiscard]] std::optional<Proof> parse_proof(std::span<const std::byte> body);
[[nodiscard]] std::optional<BlockFrame> parse_block(std::span<const std::byte> body);
[[nodiscard]] std::optional<Refused> parse_refused(std::span<const std::byte> body);

/// Splits a byte stream into frames. It rejects a length that is invalid for the type as soon as
/// the header is complete, so it never buffers more than one incomplete frame of valid length.
class FrameReader {
  public:
    enum class Result : std::uint8_t { frame, incomplete, malformed, wrong_version };

    /// Invalidates the bodies of all frames returned before.
    void push(std::span<const std::byte> bytes);

    /// After `malformed` or `wrong_version` the stream cannot be read further.
    [[nodiscard]] Result next(Frame& frame);

  private:
    std::vector<std::byte> bytes_;
    std::size_t read_ = 0;
};

/// Encodes frames into a buffer of bytes to send.
class FrameWriter {
  public:
    void put(const Challenge& challenge) { put(FrameType::challenge, challenge); }

    void put(const Proof& proof);

    void put(const Welcome& welcome) { put(FrameType::welcome, welcome); }

    void put(const feed::RepairRequest& request) { put(FrameType::request, request); }

    void put(const BlockFrame& block);

    void put(const Done& done) { put(FrameType::done, done); }

    void put(const Refused& refused);

    void put_keep_alive() {
        begin(FrameType::keep_alive);
        end();
    }

    /// A frame that has the fields of T alone.
    template <class T>
    void put(FrameType type, const T& fields) {
        begin(type);
        add(fields);
        end();
    }

    /// Begins a frame. add() adds to its body, and end() completes it.
    void begin(FrameType type);

    /// A number, bytes, or all fields of a struct.
    template <class T>
    void add(const T& value) {
        if constexpr (std::tuple_size_v<std::remove_const_t<decltype(fields_of<T>)>> == 0) {
            add_bytes(std::as_bytes(std::span{&value, 1}));
        } else {
            std::apply([&](auto... member) { (add(value.*member), ...); }, fields_of<T>);
        }
    }

    void add_bytes(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }

    void end();

    /// The bytes that were not sent yet.
    [[nodiscard]] std::span<const std::byte> waiting() const {
        return std::span{bytes_}.subspan(sent_);
    }

    /// Removes the first `count` bytes of waiting(), which were sent.
    void sent(std::size_t count);

  private:
    std::vector<std::byte> bytes_;
    std::size_t frame_ = 0;  ///< where the last frame begins
    std::size_t sent_ = 0;
};

}  // namespace pinstrike::actors::peer
