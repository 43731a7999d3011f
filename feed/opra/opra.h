// path: hot
//
// OPRA's codec for the poll path. Most blocks are opened (header and checksum are checked) and then
// take the fast path, which checks each message while it writes the event (fast_path.h). All other
// blocks are walked: walk() checks all messages, then decode() decodes some or all of them without
// a further check.
#pragma once

#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/position.h"
#include "feed/opra/checksum.h"
#include "feed/opra/decode.h"
#include "feed/opra/fast_path.h"
#include "feed/opra/layout.h"
#include "feed/opra/line_numbers.h"
#include "feed/opra/quote_event.h"
#include "feed/opra/rejects.h"
#include "feed/opra/walk.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace pinstrike::feed::opra {

struct Opra {
    static constexpr Venue venue = Venue::opra;
    static constexpr std::string_view name = "opra";
    static constexpr std::string_view sentence = "the consolidated US options feed";

    /// The header fields of a control that the poller infers or passes on: OPRA's own participant
    /// id, and the types of start of day and line sequence number reset (OPRA Control).
    static constexpr char control_participant = 'O';
    static constexpr char start_of_day_type = 'C';
    static constexpr char reset_type = 'K';

    /// Numbers wrap after 32 bits, and both streams can lose a reset (OPRA Block Sequence Number).
    static constexpr Numbering numbering{};

    /// The reasons that OpenResult::reasons has bits for.
    using Reject = BlockReject;
    static constexpr const auto& reject_rows = BlockReject_rows;

    /// walk() stores the places of a block's messages here. Must live as long as the Block is used.
    struct Scratch {
        std::array<MessagePlace, block::messages_max + 1> places;
    };

    /// Whether the line carries the GTH session, whose series differ from those of the regular
    /// session.
    static constexpr bool is_gth(std::uint16_t line) { return is_gth_line(line); }

    static constexpr bool opens_by_arrival = false;

    /// Whether silence on a line is a failure.
    static constexpr bool sends_heartbeats(std::uint16_t line) { return has_line_integrity(line); }

    /// A datagram is one block of one line, and each line has groups of its own.
    static constexpr bool lines_share_groups = false;

    static constexpr std::optional<std::uint16_t> line_number(
        std::span<const std::byte> /*payload*/) {
        return std::nullopt;
    }

    /// Takes the block of a datagram from `rest`, and checks its header, size and checksum. Fills
    /// `out` except its receive time and what walk() finds. Source: OPRA Block Header.
    [[gnu::always_inline]] static OpenResult open(std::span<const std::byte>& rest,
                                                  bool verify_checksum, Block& out) {
        const std::span<const std::byte> payload = std::exchange(rest, {});
        OpenResult result;
        result.reasons = refusal_of(payload, verify_checksum);
        if (result.reasons != 0) [[unlikely]] {
            return result;
        }
        read_header(payload, out);
        result.accepted = true;
        if (out.bytes.size() != payload.size()) [[unlikely]] {
            result.reasons |= reason_bit(BlockReject::bytes_after_block);
        }
        const char retransmission = get_char<block::retransmission>(payload.data());
        out.retransmitted = retransmission == 'V';
        if (retransmission != ' ' && retransmission != 'V') [[unlikely]] {
            result.reasons |= reason_bit(BlockReject::retransmission_unknown);
        }
        return result;
    }

    /// Walks all messages of a block that was opened: finds their places, how many can be decoded,
    /// and the role of the block. Returns reasons: if out.decodable < out.messages, the one why the
    /// rest cannot be decoded. Source: OPRA Message Header. A separate function, so that the fast
    /// path does not save the registers that it needs.
    [[gnu::noinline]] static std::uint32_t walk(Scratch& scratch, Block& out) {
        out.places = scratch.places.data();
        const std::byte* start = out.bytes.data();
        const std::size_t size = out.bytes.size();
        std::size_t at = block::header_bytes;
        unsigned index = find_quotes(out.bytes, out.messages, scratch.places.data(), at);
        unsigned controls = 0;
        std::uint32_t reasons = 0;
        for (; index < out.messages; ++index) {
            const MessageVerdict verdict = inspect_message(start + at, size - at);
            if (verdict.bytes == 0) [[unlikely]] {
                reasons = reason_bit(verdict.reason);
                break;
            }
            scratch.places[index] = place_of(start, at);
            controls += get_char<message::category>(start + at) == 'H' ? 1 : 0;
            at += verdict.bytes;
        }
        out.decodable = static_cast<std::uint16_t>(index);
        if (index == out.messages && size - at > 1) [[unlikely]] {
            reasons |= reason_bit(BlockReject::trailing_bytes);
        }
        if (controls != 0 && out.messages > 1) [[unlikely]] {
            reasons |= reason_bit(BlockReject::control_not_alone);
        }
        out.role = controls == out.messages ? role_of_controls(out) : BlockRole::data;
        return reasons;
    }

    /// The same for a block that comes from another host.
    static OpenResult open_repair(std::span<const std::byte> bytes, bool verify_checksum,
                                  Block& out) {
        return open(bytes, verify_checksum, out);
    }

    /// Does nothing, because the codec keeps no state between blocks.
    static void note_reset(const Block& /*reset*/) {}

    /// open() and walk().
    static OpenResult check(std::span<const std::byte> payload, bool verify_checksum,
                            Scratch& scratch, Block& out) {
        OpenResult result = open(payload, verify_checksum, out);
        if (result.accepted) {
            result.reasons |= walk(scratch, out);
        }
        return result;
    }

    /// Whether the first message of a block that was opened is not a control. The block then has
    /// the role `data`.
    [[nodiscard]] static bool begins_with_data(const Block& block) {
        constexpr std::size_t at = block::header_bytes + message::category.at;
        return block.bytes.size() > at && static_cast<char>(block.bytes[at]) != 'H';
    }

    /// The time of the block that has one of these beginnings, if `block`, which open() accepted,
    /// is its copy. Copies agree in their first 32 bytes except the block time, and in the sum of
    /// all their bytes except those of the block time. That sum is the block checksum minus the
    /// bytes of the block time, if the checksums are right. Source: OPRA Block Header.
    [[nodiscard]] static std::optional<std::int64_t> ts_of_copy(std::span<const BlockStart> starts,
                                                                const Block& block) {
        if (block.bytes.size() < sizeof(BlockStart)) {
            return std::nullopt;
        }
        const std::byte* again = block.bytes.data();
        for (const BlockStart& start : starts) {
            if (equal_but_time(start.data(), again)) {
                return time_of(start.data());
            }
        }
        return std::nullopt;
    }

    /// Checks and decodes all messages of a block that was opened, in one pass. `base` and `gth` as
    /// for decode(). False: nothing was decoded, because the block has a control, a text, a message
    /// that cannot be decoded or bytes after its last message, because its numbers wrap, or because
    /// the sink reserves no slots.
    template <EventSink Sink>
    [[nodiscard, gnu::always_inline]] static bool decode_fast(const Block& block,
                                                              const Header& base, bool gth,
                                                              Sink& sink) {
        Event* const reserved =
            counts_on(block.sequence, block.messages)
                ? sink.next_slots(quote_records_max * std::size_t{block.messages})
                : nullptr;
        if (reserved == nullptr) [[unlikely]] {
            return false;
        }
        Header first = base;
        first.sequence = static_cast<std::uint32_t>(block.sequence);
        const detail::FastPathResult run = detail::run_fast_path(
            {block.bytes.data(), block.bytes.size(), block.messages, first.sequence},
            context_of(first, gth, sink), reserved);
        if (!run.sound) [[unlikely]] {
            return false;
        }
        for (unsigned test = 0; test < run.tests; ++test) {
            sink.filtered();
        }
        sink.commit(block.messages - run.tests, run.records);
        return true;
    }

    /// Decodes messages first .. first+count-1 (all below block.decodable) into `sink`. `base` has
    /// venue, flags, line, session and both times filled in. `gth`: the line carries the GTH
    /// session, whose series differ from those of the regular session.
    template <EventSink Sink>
    static void decode(const Block& block, unsigned first, unsigned count, const Header& base,
                       bool gth, Sink& sink) {
        const DecodeContext context = context_of(base, gth, sink);
        const unsigned end = first + count;
        unsigned i = first;
        for (; i < end; ++i) {
            i = detail::decode_quotes(block, i, end, context, sink);
            if (i < end) {
                detail::decode_message(block, i, context, sink);
            }
        }
    }

  private:
    template <EventSink Sink>
    static DecodeContext context_of(const Header& base, bool gth, Sink& sink) {
        return {detail::quote_header(base), gth ? std::uint64_t{SeriesKey::gth_bit} << 40 : 0,
                static_cast<bool>(sink.wants_tests())};
    }

    /// The bit of the reason why the block is refused as a whole; 0: it is accepted.
    static std::uint32_t refusal_of(std::span<const std::byte> payload, bool verify_checksum) {
        const std::byte* start = payload.data();
        if (payload.size() < block::header_bytes) {
            return reason_bit(BlockReject::payload_short);
        }
        if (get<block::version>(start) != 6) {
            return reason_bit(BlockReject::version_unknown);
        }
        if (get_char<block::feed>(start) != 'O') {
            return reason_bit(BlockReject::feed_unknown);
        }
        const std::size_t size = get<block::size>(start);
        if (size < block::header_bytes || size > std::min(payload.size(), block::bytes_max)) {
            return reason_bit(BlockReject::size_bad);
        }
        if (verify_checksum && checksum_of(payload.first(size)) != get<block::checksum>(start)) {
            return reason_bit(BlockReject::checksum_bad);
        }
        if (get<block::messages>(start) == 0) {
            return reason_bit(BlockReject::no_messages);
        }
        return 0;
    }

    static void read_header(std::span<const std::byte> payload, Block& out) {
        const std::byte* start = payload.data();
        out.bytes = payload.first(get<block::size>(start));
        out.sequence = get<block::sequence>(start);
        out.messages = get<block::messages>(start);
        out.session = get<block::session>(start);
        out.ts_exchange_ns = time_of(start);
    }

    static std::int64_t time_of(const std::byte* start) {
        return std::int64_t{get<block::seconds>(start)} * 1'000'000'000 +
               get<block::nanoseconds>(start);
    }

    /// Whether two blocks, given by their first 32 bytes, agree in all but the block time. Compares
    /// the sequence number first because nearly all blocks of a line differ in it.
    static bool equal_but_time(const std::byte* one, const std::byte* other) {
        constexpr std::size_t time_end = block::nanoseconds.at + block::nanoseconds.bytes;
        constexpr std::size_t behind = block::header_bytes;
        if (get<block::sequence>(one) != get<block::sequence>(other) ||
            std::memcmp(one, other, block::seconds.at) != 0 ||
            std::memcmp(one + behind, other + behind, sizeof(BlockStart) - behind) != 0) {
            return false;
        }
        const auto sum_but_time = [](const std::byte* start) {
            unsigned sum = get<block::checksum>(start);
            for (std::size_t i = block::seconds.at; i < time_end; ++i) {
                sum -= std::to_integer<unsigned>(start[i]);
            }
            return static_cast<std::uint16_t>(sum);
        };
        return sum_but_time(one) == sum_but_time(other);
    }

    /// The place of a message that inspect_message() found decodable.
    static MessagePlace place_of(const std::byte* start, std::size_t at) {
        const QuoteShape shape = quote_shape_of(start + at);
        return {static_cast<std::uint16_t>(at), shape.is_quote() ? shape.form() : no_quote_form};
    }

    /// The role of a block that holds only controls. Normally a block has one. Several controls of
    /// one type that carry no number are treated as one, so that they do not move the line's
    /// numbering past data that has yet to arrive.
    static BlockRole role_of_controls(const Block& block) {
        const auto type_at = [&block](unsigned i) {
            return get_char<message::type>(block.bytes.data() + block.places[i].offset);
        };
        const char type = type_at(0);
        for (unsigned i = 1; i < block.messages; ++i) {
            if (type_at(i) != type) {
                return BlockRole::data;
            }
        }
        return type == 'N'                 ? BlockRole::line_integrity
               : type == start_of_day_type ? BlockRole::start_of_day
               : type == reset_type        ? BlockRole::reset
                                           : BlockRole::data;
    }
};

/// The name under which the list of venues finds the codec.
using Codec = Opra;

}  // namespace pinstrike::feed::opra
