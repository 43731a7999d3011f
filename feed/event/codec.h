// path: cold
//
// The interface of a venue's codec. A line has a codec object of its own, which may remember what
// later blocks need: the current session, or which series an id stands for. README.md here says how
// the rules of other venues fit into it.
#pragma once

#include "feed/event/block.h"
#include "feed/event/position.h"
#include "feed/venue.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pinstrike::feed {

/// Apart from these, a codec has two member templates, which write events into an EventSink
/// (event_sink.h). `base` has venue, flags, line, session and the block's two times; a codec whose
/// messages have times of their own sets them in its events. `gth` is true if the line carries the
/// GTH session, whose series differ from those of the regular session.
///
/// `bool decode_fast(block, base, gth, sink)` decodes all messages of a block that open()
/// accepted, without walk(). If it returns false, it decoded none, and the caller calls walk() and
/// decode().
///
/// `void decode(block, first, count, base, gth, sink)` decodes messages first .. first+count-1 of a
/// block that was walked, all below block.decodable. It gets blocks in the order of their numbers,
/// except late ones (flag_late in base.flags) and those without numbers (flag_unnumbered).
template <class Codec>
concept LineCodec =
    std::default_initializable<Codec> && Codec::numbering.last <= number_max &&
    requires(Codec codec, std::span<const std::byte> bytes, std::span<const std::byte>& rest,
             std::span<const BlockStart> starts, Block& block, const Block& opened,
             typename Codec::Scratch& scratch, std::uint16_t line, bool verify_checksum) {
        typename Codec::Reject;  ///< the reasons that OpenResult::reasons has bits for
        Codec::reject_rows;
        { Codec::venue } -> std::convertible_to<Venue>;
        { Codec::name } -> std::convertible_to<std::string_view>;
        { Codec::sentence } -> std::convertible_to<std::string_view>;
        { Codec::numbering } -> std::convertible_to<Numbering>;

        // The header fields of the control event that reports a reset.
        { Codec::control_participant } -> std::convertible_to<char>;
        { Codec::start_of_day_type } -> std::convertible_to<char>;
        { Codec::reset_type } -> std::convertible_to<char>;

        /// Whether several lines may share a group. The payload then says the number of the line.
        { Codec::lines_share_groups } -> std::convertible_to<bool>;
        { Codec::line_number(bytes) } -> std::same_as<std::optional<std::uint16_t>>;

        { Codec::is_gth(line) } -> std::same_as<bool>;

        /// Whether open() reads block.ts_receive_ns and block.retransmitted.
        { Codec::opens_by_arrival } -> std::convertible_to<bool>;

        /// Whether silence on a line is a failure.
        { Codec::sends_heartbeats(line) } -> std::same_as<bool>;

        /// Takes the next block from `rest`, which is the payload of a datagram or its remainder. A
        /// block that the codec makes up (BlockRole::new_session) may leave `rest` as it is, but
        /// the call after it takes bytes. If `rest` is not a valid packet, all of it is taken and
        /// refused. If opens_by_arrival, block.ts_receive_ns holds the time of the datagram, by
        /// which a codec can tell how long a line was silent; the system clock may step.
        /// block.retransmitted says whether it came on a retransmission group; the caller sets it
        /// again after the call.
        { codec.open(rest, verify_checksum, block) } -> std::same_as<OpenResult>;

        /// The same for one block that another host sends. It does not change the codec's state.
        { codec.open_repair(bytes, verify_checksum, block) } -> std::same_as<OpenResult>;

        /// Finds all messages of a block that was opened, how many can be decoded, and its role.
        /// Returns reasons. Called again, on a copy of the block, if the block was held.
        { codec.walk(scratch, block) } -> std::same_as<std::uint32_t>;

        /// Whether a block that was opened has the role `data`. False if only walk() can tell.
        { codec.begins_with_data(opened) } -> std::same_as<bool>;

        /// The time of the earlier block of which `opened` is a copy, if its beginning is among
        /// `starts`; else nullopt.
        { codec.ts_of_copy(starts, opened) } -> std::same_as<std::optional<std::int64_t>>;

        /// Called when the arbiter has applied a start of day, a reset or a new session. All blocks
        /// before it were delivered or declared lost.
        codec.note_reset(opened);
    };

}  // namespace pinstrike::feed
