// path: hot
//
// A venue that differs from OPRA in everything that the border allows. A datagram has several
// packets, each with its own 64-bit number. Lines share groups, and a byte of the header identifies
// the line. A directory message assigns an id to a series. A new session begins during the day, and
// its numbers start over.
//
// A packet, little-endian: length u16, line u8, type u8 (0 heartbeat, 1 start of session, 3 data),
// session u8, five bytes unused, number u64, time i64. Data is one message: `D`, three bytes
// unused, id u32, root (5 bytes), three unused, strike u32; or `Q`, three unused, id u32, bid, bid
// size, offer, offer size (u32 each). A start of session and a heartbeat have the number of the
// last data packet. Session s has the numbers from s * 2^33 + 1.
#pragma once

#include "config/rows.h"
#include "feed/event/block.h"
#include "feed/event/cursor.h"
#include "feed/event/event.h"
#include "feed/event/event_sink.h"
#include "feed/event/position.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace pinstrike::feed::toy {

// clang-format off
#define PINSTRIKE_TOY_REJECTS(ROW) \
    ROW(malformed, blocks, "bytes that are no packet of the toy venue") \
    ROW(stale_session, blocks, "packets of a session that has ended") \
    ROW(unknown_message, blocks, "packets whose message has no known type")
// clang-format on

PINSTRIKE_ROWS(ToyReject, PINSTRIKE_TOY_REJECTS)

struct Codec {
    static constexpr Venue venue = Venue::toy;
    static constexpr std::string_view name = "toy";
    static constexpr std::string_view sentence = "a made-up venue";
    static constexpr char control_participant = '-';
    static constexpr char start_of_day_type = 'S';
    static constexpr char reset_type = 'R';
    static constexpr Numbering numbering{.last = number_max, .infers_resets = false};
    static constexpr bool lines_share_groups = true;
    using Reject = ToyReject;
    static constexpr const auto& reject_rows = ToyReject_rows;

    struct Scratch {
        std::array<MessagePlace, 1> places{};
    };

    static std::optional<std::uint16_t> line_number(std::span<const std::byte> payload) {
        return payload.size() < header_bytes ? std::nullopt
                                             : std::optional{get<std::uint8_t>(payload, 2)};
    }

    static bool is_gth(std::uint16_t /*line*/) { return false; }

    static bool sends_heartbeats(std::uint16_t /*line*/) { return true; }

    OpenResult open(std::span<const std::byte>& rest, bool /*verify*/, Block& out) {
        const std::span<const std::byte> packet = first_packet(rest);
        if (packet.empty()) {
            rest = {};
            return refuse(ToyReject::malformed);
        }
        fill(packet, out);
        const auto age = static_cast<std::uint8_t>(session_ - out.session);
        if (session_ != 0 && age != 0 && age < 128) {
            rest = rest.subspan(packet.size());
            return refuse(ToyReject::stale_session);
        }
        const bool starts = get<std::uint8_t>(packet, 3) == 1;
        if (session_ != out.session && (session_ != 0 || starts)) {
            session_ = out.session;
            out.role = BlockRole::new_session;
            out.sequence = std::uint64_t{out.session} << 33;
            out.bytes = {};
            rest = starts ? rest.subspan(packet.size()) : rest;
            return {true, 0};
        }
        session_ = out.session;
        rest = rest.subspan(packet.size());
        return {!starts, 0};
    }

    OpenResult open_repair(std::span<const std::byte> bytes, bool /*verify*/, Block& out) const {
        const std::span<const std::byte> packet = first_packet(bytes);
        if (packet.empty()) {
            return refuse(ToyReject::malformed);
        }
        fill(packet, out);
        return session_ == 0 || session_ == out.session ? OpenResult{true, 0}
                                                        : refuse(ToyReject::stale_session);
    }

    static std::uint32_t walk(Scratch& scratch, Block& out) {
        scratch.places[0] = {static_cast<std::uint16_t>(header_bytes), 0};
        out.places = scratch.places.data();
        out.decodable = out.role != BlockRole::data || message_bytes(out) != 0 ? 1 : 0;
        return out.decodable != 0 ? 0 : 1U << static_cast<unsigned>(ToyReject::unknown_message);
    }

    static bool begins_with_data(const Block& block) { return block.role == BlockRole::data; }

    static std::optional<std::int64_t> ts_of_copy(std::span<const BlockStart> /*starts*/,
                                                  const Block& /*block*/) {
        return std::nullopt;
    }

    /// An id identifies a series within one session.
    void note_reset(const Block& reset) {
        if (reset.role == BlockRole::new_session) {
            series_ = {};
        }
    }

    template <EventSink Sink>
    bool decode_straight(const Block& block, const Header& base, bool gth, Sink& sink) {
        if (!begins_with_data(block) || message_bytes(block) == 0) {
            return false;
        }
        decode(block, 0, 1, base, gth, sink);
        return true;
    }

    template <EventSink Sink>
    void decode(const Block& block, unsigned /*first*/, unsigned /*count*/, const Header& base,
                bool /*gth*/, Sink& sink) {
        const bool directory = type_of(block) == 'D';
        const auto id = get<std::uint32_t>(block.bytes, header_bytes + 4);
        if (directory) {
            series_[id % series_.size()] = series_in(block);
        }
        const SeriesKey& key = series_[id % series_.size()];
        Event event{base, {}};
        event.header.set_number(block.sequence);
        event.header.kind = directory ? EventKind::series_map : EventKind::quote;
        event.header.type = type_of(block);
        if (directory) {
            event.body.series_map = {key, base.line};
        } else {
            event.body.quote = {key, static_cast<std::int32_t>(field(block, 0)), field(block, 1),
                                static_cast<std::int32_t>(field(block, 2)), field(block, 3)};
        }
        sink.push({&event, 1});
    }

  private:
    static constexpr std::size_t header_bytes = 26;
    static constexpr std::size_t directory_bytes = 20;
    static constexpr std::size_t quote_bytes = 24;

    template <class T>
    static T get(std::span<const std::byte> bytes, std::size_t at) {
        return *Cursor(bytes.subspan(at)).take_little<T>();
    }

    static OpenResult refuse(ToyReject reason) {
        return {false, 1U << static_cast<unsigned>(reason)};
    }

    /// Empty: the bytes are not a packet.
    static std::span<const std::byte> first_packet(std::span<const std::byte> bytes) {
        if (bytes.size() < header_bytes) {
            return {};
        }
        const std::size_t length = get<std::uint16_t>(bytes, 0);
        return length < header_bytes || length > bytes.size() ? std::span<const std::byte>{}
                                                              : bytes.first(length);
    }

    static void fill(std::span<const std::byte> packet, Block& out) {
        out.bytes = packet;
        out.session = get<std::uint8_t>(packet, 4);
        out.sequence = get<std::uint64_t>(packet, 10) & number_max;
        out.ts_exchange_ns = get<std::int64_t>(packet, 18);
        out.messages = 1;
        out.role = get<std::uint8_t>(packet, 3) == 3 ? BlockRole::data : BlockRole::line_integrity;
    }

    static char type_of(const Block& block) {
        return static_cast<char>(get<std::uint8_t>(block.bytes, header_bytes));
    }

    /// Of the message of a data packet; 0: it has no known type, or is cut.
    static std::size_t message_bytes(const Block& block) {
        const std::size_t bytes = block.bytes.size() - header_bytes;
        if (bytes == directory_bytes && type_of(block) == 'D') {
            return bytes;
        }
        return bytes == quote_bytes && type_of(block) == 'Q' ? bytes : 0;
    }

    static std::uint32_t field(const Block& block, std::size_t index) {
        return get<std::uint32_t>(block.bytes, header_bytes + 8 + 4 * index);
    }

    /// A call that expires on 18 December 2026.
    static SeriesKey series_in(const Block& block) {
        std::array<char, 8> name{' ', ' ', ' ', ' ', ' ', 'L', 18, 26};
        std::memcpy(name.data(), block.bytes.data() + header_bytes + 8, SeriesKey::symbol_bytes);
        SeriesKey key;
        std::memcpy(&key.name, name.data(), sizeof key.name);
        key.strike_e8 =
            get<std::uint32_t>(block.bytes, header_bytes + 16) * std::int64_t{100'000'000};
        return key;
    }

    std::uint8_t session_ = 0;  ///< 0: no packet was seen
    std::array<SeriesKey, 64> series_{};
};

}  // namespace pinstrike::feed::toy
