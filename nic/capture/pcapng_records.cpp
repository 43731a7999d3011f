// path: cold
#include "nic/capture/pcapng_records.h"

#include "nic/capture/recording_chunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace pinstrike::nic {

namespace {

constexpr std::uint32_t interface_block = 1;
constexpr std::uint32_t old_packet_block = 2;
constexpr std::uint32_t simple_packet_block = 3;
constexpr std::uint32_t packet_block = 6;

constexpr std::uint32_t block_bytes_min = 12;        // type, length, length again
constexpr std::uint32_t block_bytes_max = 16 << 20;  // of a block whose content is read
constexpr std::uint32_t section_bytes_min = 28;
constexpr std::size_t length_bytes = 4;
constexpr std::uint32_t section_bytes_read_max = 1 << 17;  // of one whose comment is read
constexpr std::size_t interfaces_max = 1 << 16;
constexpr std::uint16_t end_option = 0;

__extension__ using int128 = __int128;

/// Converts ticks since the Unix epoch into nanoseconds; clamps to the range of the result.
std::int64_t ns_of_ticks(std::uint64_t ticks, std::uint8_t resolution, std::int64_t offset_s) {
    constexpr int128 ns_per_second = 1'000'000'000;
    constexpr unsigned ns_exponent = 9;
    int128 ns = ticks;
    if (const unsigned exponent = resolution & 0x7FU; (resolution & 0x80U) != 0) {
        ns = ns * ns_per_second >> std::min(exponent, 126U);
    } else {
        for (unsigned i = exponent; i < ns_exponent; ++i) {
            ns *= 10;
        }
        for (unsigned i = ns_exponent; i < exponent && ns != 0; ++i) {
            ns /= 10;
        }
    }
    ns += offset_s * ns_per_second;
    using Limits = std::numeric_limits<std::int64_t>;
    return static_cast<std::int64_t>(std::clamp<int128>(ns, Limits::min(), Limits::max()));
}

/// The first comment among options; empty if there is none before their end, or before one that is
/// damaged.
std::string_view comment_of(CaptureFields options) {
    constexpr std::uint16_t comment_option = 1;
    while (options.size() >= 4 && options.u16(0) != end_option) {
        const std::size_t bytes = options.u16(2);
        const CaptureFields value = options.from(4);
        if (bytes > value.size()) {
            return {};
        }
        if (options.u16(0) == comment_option) {
            const auto* const text =
                reinterpret_cast<const char*>(value.bytes().data());  // tidy: text
            return {text, bytes};
        }
        options = value.from(std::min((bytes + 3) / 4 * 4, value.size()));
    }
    return {};
}

/// Where the head of a recording ends, whose last block, which fills it, begins here.
constexpr std::uint64_t end_of_head(std::uint64_t filler_at) {
    const std::uint64_t least = filler_at + space_behind_packets_bytes;
    return (least + chunk_alignment_bytes - 1) / chunk_alignment_bytes * chunk_alignment_bytes;
}

}  // namespace

bool PcapngRecords::damaged(const Block& block, const std::string& what) {
    complaint_ = fmt::format("the block of type {} at byte {} {}", block.type, block.at, what);
    return false;
}

bool PcapngRecords::cut(CaptureInput& input, const Block& block) {
    return damaged(block, fmt::format("is cut: it has {} bytes, the file ends after {}",
                                      block.bytes, input.position() - block.at));
}

bool PcapngRecords::begin(CaptureInput& input) {
    const std::uint64_t at = input.position() - sizeof pcapng_section_block;
    const auto raw_length = input.take(length_bytes);
    const std::vector<std::byte> kept(raw_length.begin(), raw_length.end());
    return begin_section(input, kept, at);
}

bool PcapngRecords::begin_section(CaptureInput& input, std::span<const std::byte> raw_length,
                                  std::uint64_t at) {
    constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
    Block block{pcapng_section_block, section_bytes_min, at};
    const auto raw = input.take(8);
    if (raw_length.size() < length_bytes || raw.size() < 8) {
        return cut(input, block);
    }
    const CaptureFields here{raw, false};
    const CaptureFields there{raw, true};
    swapped_ = here.u32(0) != byte_order_magic;
    if (swapped_ && there.u32(0) != byte_order_magic) {
        return damaged(
            block, fmt::format("has the byte order mark {:08x}, 1a2b3c4d expected", here.u32(0)));
    }
    const std::uint16_t version = (swapped_ ? there : here).u16(4);
    if (version != 1) {
        return damaged(block, fmt::format("is of version {}, 1 expected", version));
    }
    block.bytes = CaptureFields{raw_length, swapped_}.u32(0);
    if (block.bytes < section_bytes_min || block.bytes % 4 != 0) {
        return damaged(block, fmt::format("has {} bytes, 28 or more expected", block.bytes));
    }
    interfaces_.clear();
    if (at != 0 || block.bytes > section_bytes_read_max) {
        return pass_over(input, block);
    }
    constexpr std::size_t taken_bytes = 16;
    constexpr std::size_t options_at = 8;
    const std::size_t rest = block.bytes - taken_bytes;
    const auto body = input.take(rest);
    if (body.size() < rest) {
        return cut(input, block);
    }
    comment_ =
        comment_of(CaptureFields{body.first(rest - length_bytes), swapped_}.from(options_at));
    return ends_soundly(block, body.last(length_bytes));
}

bool PcapngRecords::ends_soundly(const Block& block, std::span<const std::byte> trailer) {
    const std::uint32_t again = CaptureFields{trailer, swapped_}.u32(0);
    return again == block.bytes ||
           damaged(block,
                   fmt::format("has {} bytes at its beginning, {} at its end", block.bytes, again));
}

bool PcapngRecords::pass_over(CaptureInput& input, const Block& block) {
    const std::uint64_t end = block.at + block.bytes - length_bytes;
    if (!input.skip(end - input.position())) {
        return cut(input, block);
    }
    const auto trailer = input.take(length_bytes);
    return trailer.size() < length_bytes ? cut(input, block) : ends_soundly(block, trailer);
}

bool PcapngRecords::read_body(CaptureInput& input, const Block& block,
                              std::span<const std::byte>& body) {
    if (block.bytes > block_bytes_max) {
        return damaged(
            block, fmt::format("has {} bytes, at most {} expected", block.bytes, block_bytes_max));
    }
    const std::size_t rest = block.bytes - 2 * length_bytes;
    const auto taken = input.take(rest);
    if (taken.size() < rest) {
        return cut(input, block);
    }
    body = taken.first(rest - length_bytes);
    return ends_soundly(block, taken.last(length_bytes));
}

bool PcapngRecords::describe(const Block& block, const CaptureFields& body) {
    constexpr std::size_t options_at = 8;
    constexpr std::uint16_t resolution_option = 9;
    constexpr std::uint16_t offset_option = 14;
    if (body.size() < options_at) {
        return damaged(block, "is too short for an interface");
    }
    if (interfaces_.size() == interfaces_max) {
        return damaged(block, fmt::format("describes more than {} interfaces", interfaces_max));
    }
    Interface interface;
    interface.link_type = body.u16(0);
    interface.snapshot_bytes = body.u32(4);
    CaptureFields rest = body.from(options_at);
    while (rest.size() >= 4 && rest.u16(0) != end_option) {
        const std::uint16_t code = rest.u16(0);
        const std::size_t bytes = rest.u16(2);
        const CaptureFields value = rest.from(4);
        if (bytes > value.size()) {
            return damaged(block, fmt::format("has an option of {} bytes where {} are left", bytes,
                                              value.size()));
        }
        if (code == resolution_option && bytes >= 1) {
            interface.resolution = value.u8(0);
        } else if (code == offset_option && bytes >= 8) {
            interface.offset_s = static_cast<std::int64_t>(value.u64(0));
        }
        rest = value.from(std::min((bytes + 3) / 4 * 4, value.size()));
    }
    interfaces_.push_back(interface);
    return true;
}

bool PcapngRecords::read_packet(const Block& block, const CaptureFields& body, CaptureRecord& out) {
    constexpr std::size_t header_bytes = 20;
    if (body.size() < header_bytes) {
        return damaged(block, "is too short for a packet");
    }
    const std::uint32_t captured_bytes = body.u32(12);
    if (captured_bytes > body.size() - header_bytes) {
        return damaged(block, fmt::format("claims a packet of {} bytes, {} are there",
                                          captured_bytes, body.size() - header_bytes));
    }
    const std::uint32_t number = block.type == packet_block ? body.u32(0) : body.u16(0);
    const bool described = number < interfaces_.size();
    const Interface interface = described ? interfaces_[number] : Interface{};
    const std::uint64_t ticks = std::uint64_t{body.u32(4)} << 32 | body.u32(8);
    out.bytes = body.bytes().subspan(header_bytes, captured_bytes);
    out.comment =
        comment_of(body.from(std::min((header_bytes + captured_bytes + 3) / 4 * 4, body.size())));
    out.sent_bytes = body.u32(16);
    out.ts_ns = ns_of_ticks(ticks, interface.resolution, interface.offset_s);
    out.link_type = described ? std::optional{interface.link_type} : std::nullopt;
    last_ts_ns_ = out.ts_ns;
    return true;
}

/// A simple packet block states no time and no interface. The packet gets the time of the packet
/// before it, and the properties of the first interface.
bool PcapngRecords::read_simple_packet(const Block& block, const CaptureFields& body,
                                       CaptureRecord& out) {
    if (body.size() < 4) {
        return damaged(block, "is too short for a packet");
    }
    const Interface interface = interfaces_.empty() ? Interface{} : interfaces_[0];
    out.sent_bytes = body.u32(0);
    const CaptureFields content = body.from(4);
    std::size_t captured_bytes = std::min<std::size_t>(out.sent_bytes, content.size());
    if (interface.snapshot_bytes != 0) {
        captured_bytes = std::min<std::size_t>(captured_bytes, interface.snapshot_bytes);
    }
    out.bytes = content.bytes().first(captured_bytes);
    out.comment = {};
    out.ts_ns = last_ts_ns_;
    out.link_type = interfaces_.empty() ? std::nullopt : std::optional{interface.link_type};
    return true;
}

/// Finds the header of the next block whose content is read. False at the end of the file, and,
/// with a complaint, if a block is invalid.
bool PcapngRecords::find_block(CaptureInput& input, Block& block) {
    while (true) {
        block = {0, block_bytes_min, input.position()};
        const auto head = input.take(2 * length_bytes);
        if (head.empty()) {
            return false;
        }
        if (head.size() < 2 * length_bytes) {
            return cut(input, block);
        }
        const CaptureFields fields{head, swapped_};
        block.type = fields.u32(0);
        block.bytes = fields.u32(4);
        if (block.type == pcapng_section_block) {
            const std::vector<std::byte> raw_length(head.begin() + length_bytes, head.end());
            if (!begin_section(input, raw_length, block.at)) {
                return false;
            }
            in_chunks_ = false;
            continue;
        }
        if (block.bytes < block_bytes_min || block.bytes % 4 != 0) {
            return damaged(block, fmt::format("has {} bytes, a multiple of 4 from 12 on expected",
                                              block.bytes));
        }
        if (block.type == pcapng_local_block) {
            if (!in_chunks_) {  // the last block of the head of a recording
                in_chunks_ = true;
                chunk_end_ = end_of_head(block.at);
            }
            if (skip_damaged_chunk(input, block)) {
                continue;
            }
        }
        // In a recording a block ends in the chunk in which it begins. The length of one that does
        // not is damaged: whoever skipped it would lose the chunks behind it.
        if (in_chunks_ && block.at + block.bytes > chunk_end_) {
            return damaged(block, "lies in no whole chunk");
        }
        if (block.type == interface_block || block.type == packet_block ||
            block.type == old_packet_block || block.type == simple_packet_block) {
            return true;
        }
        if (!pass_over(input, block)) {
            return false;
        }
    }
}

/// If the block is the head of a chunk whose bytes are damaged, skips the chunk and returns
/// true. A chunk that the file's end cuts is read up to its last whole block.
bool PcapngRecords::skip_damaged_chunk(CaptureInput& input, const Block& head) {
    constexpr std::size_t taken_bytes = 2 * length_bytes;
    std::array<std::byte, chunk_head_bytes> bytes{};
    const std::array<std::uint32_t, 2> begin{head.type, head.bytes};
    std::memcpy(bytes.data(), begin.data(), taken_bytes);
    const auto rest = input.peek(chunk_head_bytes - taken_bytes);
    std::copy(rest.begin(), rest.end(), bytes.begin() + taken_bytes);
    const std::optional<ChunkHead> chunk = load_chunk_head(bytes);
    if (!chunk) {
        return false;
    }
    chunk_end_ = head.at + chunk->bytes;
    const std::size_t left_bytes = chunk->bytes - taken_bytes;
    const auto left = input.peek(left_bytes);
    if (left.size() < left_bytes ||
        crc32c(left.subspan(chunk_head_bytes - taken_bytes)) == chunk->checksum) {
        return false;
    }
    add_damaged_chunk(head.at);
    return input.skip(left_bytes);
}

/// In a recording, goes on at the next chunk behind a damaged block. False if there is none.
bool PcapngRecords::find_next_chunk(CaptureInput& input) {
    const std::uint64_t damaged_at = input.position();
    while (true) {
        const std::uint64_t past = input.position() % chunk_alignment_bytes;
        if (past != 0 && !input.skip(chunk_alignment_bytes - past)) {
            return false;
        }
        const auto head = input.peek(chunk_head_bytes);
        if (load_chunk_head(head)) {
            add_damaged_chunk(damaged_at);
            complaint_.clear();
            return true;
        }
        if (!input.skip(chunk_head_bytes)) {
            return false;
        }
    }
}

void PcapngRecords::add_damaged_chunk(std::uint64_t at) {
    first_damaged_at_ = damaged_chunks_ == 0 ? at : first_damaged_at_;
    ++damaged_chunks_;
}

std::string PcapngRecords::skipped() const {
    return damaged_chunks_ == 0
               ? ""
               : fmt::format(
                     "{} damaged chunks of the recording were skipped, the first near byte "
                     "{}",
                     damaged_chunks_, first_damaged_at_);
}

bool PcapngRecords::next(CaptureInput& input, CaptureRecord& out) {
    while (complaint_.empty()) {
        if (read_next(input, out)) {
            return true;
        }
        if (complaint_.empty() || !in_chunks_ || !find_next_chunk(input)) {
            return false;
        }
    }
    return false;
}

bool PcapngRecords::read_next(CaptureInput& input, CaptureRecord& out) {
    Block block;
    while (find_block(input, block)) {
        std::span<const std::byte> bytes;
        if (!read_body(input, block, bytes)) {
            return false;
        }
        const CaptureFields body{bytes, swapped_};
        if (block.type == simple_packet_block) {
            return read_simple_packet(block, body, out);
        }
        if (block.type != interface_block) {
            return read_packet(block, body, out);
        }
        if (!describe(block, body)) {
            return false;
        }
    }
    return false;
}

}  // namespace pinstrike::nic
