// path: cold
//
// The interface of a venue's codec. A line has a codec object of its own, which may remember what
// later blocks need: the current session, or which series an id stands for.
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

/// Apart from these, a codec has two member templates, which write events into an EventSink `sink`
/// (event_sink.h). `base` has venue, flags, line, session and both times. `gth`: the line carries
/// the GTH session, whose series are their own.
///
///     bool decode_straight(const Block& block, const Header& base, bool gth, Sink& sink)
///
/// decodes all messages of a block that open() accepted, without walk(). False: it decoded none,
/// and the block takes the general way.
///
///     void decode(const Block& block, unsigned first, unsigned count, const Header& base, bool
///     gth,
///                 Sink& sink)
///
/// decodes messages first .. first+count-1 of a block that was walked, all below block.decodable.
/// Blocks come in the order of their numbers, late ones excepted.
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

        // What a control that the arbiter reports says in its header.
        { Codec::control_participant } -> std::convertible_to<char>;
        { Codec::start_of_day_type } -> std::convertible_to<char>;
        { Codec::reset_type } -> std::convertible_to<char>;

        /// Whether several lines may share a group. The payload then says the number of the line.
        { Codec::lines_share_groups } -> std::convertible_to<bool>;
        { Codec::line_number(bytes) } -> std::same_as<std::optional<std::uint16_t>>;

        { Codec::is_gth(line) } -> std::same_as<bool>;

        /// Whether silence on a line is a failure.
        { Codec::sends_heartbeats(line) } -> std::same_as<bool>;

        /// Takes the next block from `rest`, the payload of a datagram or what is left of it. A
        /// block that the codec makes up (BlockRole::new_session) may leave `rest` as it is. If the
        /// rest cannot be divided further, all of it is taken and refused.
        { codec.open(rest, verify_checksum, block) } -> std::same_as<OpenResult>;

        /// The same for one block that another host sends. It changes nothing of the codec.
        { codec.open_repair(bytes, verify_checksum, block) } -> std::same_as<OpenResult>;

        /// Finds all messages of a block that was opened, how many can be decoded, and its role.
        /// Returns reasons.
        { codec.walk(scratch, block) } -> std::same_as<std::uint32_t>;

        /// Whether a block that was opened has the role `data`. False if only walk() can tell.
        { codec.begins_with_data(opened) } -> std::same_as<bool>;

        /// The time of the block with one of these beginnings of which `block` is a copy.
        { codec.ts_of_copy(starts, opened) } -> std::same_as<std::optional<std::int64_t>>;

        /// The arbiter applied a start of day, a reset or a new session. Blocks before it were
        /// delivered or given up.
        codec.note_reset(opened);
    };

}  // namespace pinstrike::feed
