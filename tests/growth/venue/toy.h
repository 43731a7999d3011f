// path: hot
//
// A venue that differs from OPRA in everything that the border allows. A datagram has several
// packets, each with its own 64-bit number. Lines share groups, and a byte of the header identifies
// the line. A packet has no time, but its quotes have one. A directory message assigns an id to a
// series and has no number. A bad message does not end its packet. A new session begins during the
// day, and its numbers start over.
//
// A packet, little-endian: length u16, line u8, type u8 (0 heartbeat, 1 start of session, 3 data),
// session u8, count of messages u8, four bytes unused, number u64. Data has the number of its first
// message, or 0 if its messages have no numbers; a heartbeat and a start of session have the number
// that comes next.
//
// A message: length u8, type u8, two bytes unused, id u32, and then of a directory message (`D`)
// root (5 bytes), three unused, strike u32; of a quote (`Q`) time i64, bid, bid size, offer, offer
// size (u32 each). Any other message is bad. If its length goes beyond the packet, all messages
// after it are bad too.
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
#include <utility>

namespace pinstrike::feed::toy {

// clang-format off
#define PINSTRIKE_TOY_REJECTS(ROW) \
    ROW(malformed, blocks, "bytes that are no packet of the toy venue") \
    ROW(stale_session, blocks, "packets of a session that has ended") \
    ROW(bad_message, blocks, "packets, or parts of them, with a message that cannot be decoded")
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
        std::array<MessagePlace, 255> places;
    };

    static std::optional<std::uint16_t> line_number(std::span<const std::byte> payload) {
        return payload.size() < header_bytes ? std::nullopt
                                             : std::optional{get<std::uint8_t>(payload, 2)};
    }

    static bool is_gth(std::uint16_t /*line*/) { return false; }

    static constexpr bool opens_by_arrival = true;

    static bool sends_heartbeats(std::uint16_t /*line*/) { return true; }

    OpenResult open(std::span<const std::byte>& rest, bool /*verify*/, Block& out) {
        if (!part_.packet.empty()) {
            return open_part(std::exchange(part_, {}), rest, out);
        }
        const std::span<const std::byte> packet = first_packet(rest);
        if (packet.empty()) {
            rest = {};
            return refuse(ToyReject::malformed);
        }
        fill(packet, 0, out);
        const auto age = static_cast<std::uint8_t>(session_ - out.session);
        if (session_ != 0 && age != 0 && age < 128) {
            rest = rest.subspan(packet.size());
            return refuse(ToyReject::stale_session);
        }
        if (out.retransmitted && session_ != out.session) {
            rest = rest.subspan(packet.size());
            return {false, 0};  // only a stream begins a session
        }
        const bool starts = get<std::uint8_t>(packet, 3) == 1;
        if (session_ != out.session && (session_ != 0 || starts)) {
            session_ = out.session;
            out.role = BlockRole::new_session;
            out.sequence = first_number - 1;
            out.messages = 0;
            out.bytes = {};
            rest = starts ? rest.subspan(packet.size()) : rest;
            return {true, 0};
        }
        session_ = out.session;
        if (out.role != BlockRole::line_integrity) {
            return open_part({packet, header_bytes, 0}, rest, out);
        }
        rest = rest.subspan(packet.size());
        return {!starts && number_in(packet) != 0, 0};  // without a number: only a sign of life
    }

    OpenResult open_repair(std::span<const std::byte> bytes, bool /*verify*/, Block& out) const {
        const std::span<const std::byte> packet = first_packet(bytes);
        if (packet.empty()) {
            return refuse(ToyReject::malformed);
        }
        fill(packet, 0, out);
        return session_ == 0 || session_ == out.session ? OpenResult{true, 0}
                                                        : refuse(ToyReject::stale_session);
    }

    /// All parts of a packet have the bytes of the packet, so the number says where a part begins.
    /// Messages without numbers are no part of a numbering, so only the good ones have places.
    static std::uint32_t walk(Scratch& scratch, Block& out) {
        const std::uint64_t skipped =
            out.role == BlockRole::data ? out.sequence - number_in(out.bytes) : 0;
        std::size_t at = header_bytes;
        out.places = scratch.places.data();
        out.decodable = 0;
        for (std::uint64_t i = 0; i < skipped + out.messages; ++i) {
            const std::size_t bytes = message_bytes(out.bytes, at);
            const bool good = is_good(out.bytes, at);
            if (bytes == 0 || (!good && out.role == BlockRole::data && i >= skipped)) {
                break;
            }
            if (good && i >= skipped) {
                scratch.places[out.decodable++] = {static_cast<std::uint16_t>(at), 0};
            }
            at += bytes;
        }
        return out.decodable == out.messages ? 0
                                             : 1U << static_cast<unsigned>(ToyReject::bad_message);
    }

    static bool begins_with_data(const Block& block) { return block.role == BlockRole::data; }

    static std::optional<std::int64_t> ts_of_copy(std::span<const BlockStart> /*starts*/,
                                                  const Block& /*block*/) {
        return std::nullopt;
    }

    /// An id stands for a series within one session.
    void note_reset(const Block& reset) {
        if (reset.role == BlockRole::new_session) {
            series_ = {};
        }
    }

    template <EventSink Sink>
    bool decode_fast(const Block& block, const Header& base, bool gth, Sink& sink) {
        Scratch scratch;
        Block walked = block;
        if (!begins_with_data(block) || walk(scratch, walked) != 0) {
            return false;
        }
        decode(walked, 0, walked.messages, base, gth, sink);
        return true;
    }

    template <EventSink Sink>
    void decode(const Block& block, unsigned first, unsigned count, const Header& base,
                bool /*gth*/, Sink& sink) {
        for (unsigned i = first; i < first + count; ++i) {
            const std::span<const std::byte> message = block.bytes.subspan(block.places[i].offset);
            Event event{base, {}};
            event.header.set_number(block.role == BlockRole::data ? block.sequence + i : 0);
            event.header.type = type_of(message);
            SeriesKey& series = series_[get<std::uint32_t>(message, 4) % series_.size()];
            if (event.header.type == 'D') {
                series = series_in(message);
                event.header.kind = EventKind::series_map;
                event.body.series_map = {series, base.line};
            } else {
                event.header.kind = EventKind::quote;
                event.header.ts_exchange_ns = get<std::int64_t>(message, 8);
                event.body.quote = {series, get<std::int32_t>(message, 16),
                                    get<std::uint32_t>(message, 20), get<std::int32_t>(message, 24),
                                    get<std::uint32_t>(message, 28)};
            }
            sink.push({&event, 1});
        }
    }

  private:
    static constexpr std::uint64_t first_number = (std::uint64_t{1} << 33) + 1;
    static constexpr std::size_t header_bytes = 18;
    static constexpr std::size_t directory_bytes = 20;
    static constexpr std::size_t quote_bytes = 32;

    /// What is left of a data packet behind a bad message.
    struct Part {
        std::span<const std::byte> packet;  ///< all of it; empty: nothing is left
        std::size_t begin = 0;              ///< offset of the next message
        unsigned index = 0;                 ///< of the next message
    };

    template <class T>
    static T get(std::span<const std::byte> bytes, std::size_t at) {
        return *Cursor(bytes.subspan(at)).take_little<T>();
    }

    static OpenResult refuse(ToyReject reason) {
        return {false, 1U << static_cast<unsigned>(reason)};
    }

    /// Empty: the bytes are no packet.
    static std::span<const std::byte> first_packet(std::span<const std::byte> bytes) {
        if (bytes.size() < header_bytes) {
            return {};
        }
        const std::size_t length = get<std::uint16_t>(bytes, 0);
        return length < header_bytes || length > bytes.size() ? std::span<const std::byte>{}
                                                              : bytes.first(length);
    }

    static std::uint64_t number_in(std::span<const std::byte> packet) {
        return get<std::uint64_t>(packet, 10) & number_max;
    }

    /// Describes a packet from message `index` on.
    static void fill(std::span<const std::byte> packet, unsigned index, Block& out) {
        out.bytes = packet;
        out.session = get<std::uint8_t>(packet, 4);
        out.messages = static_cast<std::uint16_t>(get<std::uint8_t>(packet, 5) - index);
        const std::uint64_t number = number_in(packet);
        if (get<std::uint8_t>(packet, 3) != 3) {
            out.role = BlockRole::line_integrity;
            out.sequence = number - 1;
        } else if (number == 0) {
            out.role = BlockRole::unnumbered;
        } else {
            out.sequence = number + index;
        }
    }

    /// The block from the beginning of `part` to the first bad message; to the end of the packet if
    /// there is none, if nothing can be found behind it, or if the messages have no numbers.
    OpenResult open_part(const Part& part, std::span<const std::byte>& rest, Block& out) {
        fill(part.packet, part.index, out);
        std::size_t end = part.begin;
        const unsigned last = out.role == BlockRole::data ? out.messages - 1U : 0;
        for (unsigned i = 0; i < last; ++i) {
            const bool good = is_good(part.packet, end);
            end += message_bytes(part.packet, end);
            if (!good && message_bytes(part.packet, end) != 0) {
                part_ = {part.packet, end, part.index + i + 1};
                out.messages = static_cast<std::uint16_t>(i + 1);
                rest = rest.subspan(end - consumed(part));
                return {true, 0};
            }
        }
        rest = rest.subspan(part.packet.size() - consumed(part));
        return {true, 0};
    }

    /// How much of its packet was taken before this part.
    static std::size_t consumed(const Part& part) { return part.index == 0 ? 0 : part.begin; }

    static char type_of(std::span<const std::byte> message) {
        return static_cast<char>(get<std::uint8_t>(message, 1));
    }

    /// The length of the message at `at`; 0: there is none.
    static std::size_t message_bytes(std::span<const std::byte> packet, std::size_t at) {
        if (at + 2 > packet.size()) {
            return 0;
        }
        const std::size_t length = get<std::uint8_t>(packet, at);
        return length < 2 || length > packet.size() - at ? 0 : length;
    }

    static bool is_good(std::span<const std::byte> packet, std::size_t at) {
        const std::size_t bytes = message_bytes(packet, at);
        return (bytes == directory_bytes && type_of(packet.subspan(at)) == 'D') ||
               (bytes == quote_bytes && type_of(packet.subspan(at)) == 'Q');
    }

    /// A call that expires on 18 December 2026.
    static SeriesKey series_in(std::span<const std::byte> message) {
        std::array<char, 8> name{' ', ' ', ' ', ' ', ' ', 'L', 18, 26};
        std::memcpy(name.data(), message.data() + 8, SeriesKey::symbol_bytes);
        SeriesKey key;
        std::memcpy(&key.name, name.data(), sizeof key.name);
        key.strike_e8 = get<std::uint32_t>(message, 16) * std::int64_t{100'000'000};
        return key;
    }

    std::uint8_t session_ = 0;  ///< 0: no packet was seen
    Part part_;                 ///< of the packet that is being taken
    std::array<SeriesKey, 64> series_{};
};

}  // namespace pinstrike::feed::toy
