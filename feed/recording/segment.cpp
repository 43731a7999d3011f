// path: cold
#include "feed/recording/segment.h"

#include "config/check.h"
#include "config/version.h"
#include "feed/event/cursor.h"
#include "nic/packet/datagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace pinstrike::feed {

namespace {

constexpr std::uint32_t section_block = 0x0A0D0D0A;
constexpr std::uint32_t interface_block = 1;
constexpr std::uint32_t statistics_block = 5;
constexpr std::uint32_t packet_block = 6;

/// Appends the fields of pcapng blocks, little-endian.
class BlockWriter {
  public:
    explicit BlockWriter(std::vector<std::byte>& out) : out_(out) {}

    void begin(std::uint32_t type) {
        begin_ = out_.size();
        put(type);
        put(std::uint32_t{0});
    }

    template <class T>
    void put(T value) {
        const std::size_t at = out_.size();
        out_.resize(at + sizeof value);
        std::memcpy(out_.data() + at, &value, sizeof value);
    }

    void option(std::uint16_t code, std::string_view text) {
        put(code);
        put(static_cast<std::uint16_t>(text.size()));
        const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());  // tidy: text
        out_.insert(out_.end(), bytes, bytes + text.size());
        out_.resize((out_.size() + 3) / 4 * 4);
    }

    void option(std::uint16_t code, std::uint64_t value) {
        put(code);
        put(std::uint16_t{sizeof value});
        put(value);
    }

    /// Ends the options and the block, which takes at least `bytes_min`.
    void end(std::size_t bytes_min = 0) {
        put(std::uint32_t{0});
        if (out_.size() + sizeof(std::uint32_t) < begin_ + bytes_min) {
            out_.resize(begin_ + bytes_min - sizeof(std::uint32_t));
        }
        const auto bytes = static_cast<std::uint32_t>(out_.size() + sizeof(std::uint32_t) - begin_);
        put(bytes);
        std::memcpy(out_.data() + begin_ + sizeof bytes, &bytes, sizeof bytes);
    }

  private:
    std::vector<std::byte>& out_;
    std::size_t begin_ = 0;
};

/// A block of so many bytes, at least 16, that means nothing.
void append_filler(std::vector<std::byte>& out, std::size_t bytes) {
    BlockWriter writer{out};
    writer.begin(nic::pcapng_local_block);
    writer.end(bytes);
}

constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + nic::chunk_alignment_bytes - 1) / nic::chunk_alignment_bytes *
           nic::chunk_alignment_bytes;
}

std::optional<RecordedInterface> interface_named(std::string_view name) {
    unsigned line = 0;
    char stream = 'A';
    const std::string text{name};
    if (text == RecordedInterface{}.name()) {
        return RecordedInterface{};
    }
    if (std::sscanf(text.c_str(), "line %5u %c", &line, &stream) != 2) {
        return std::nullopt;
    }
    const RecordedInterface found{static_cast<std::uint16_t>(line),
                                  stream == 'B' ? Stream::b : Stream::a, stream == 'r'};
    return found.name() == text ? std::optional{found} : std::nullopt;
}

/// A block of any type: its content without the lengths.
struct RawBlock {
    std::uint32_t type = 0;
    std::uint32_t bytes = 0;
    std::span<const std::byte> content;
};

/// Nothing if the bytes do not begin with a whole block.
std::optional<RawBlock> read_block(std::span<const std::byte> bytes) {
    Cursor cursor{bytes};
    const auto type = cursor.take_little<std::uint32_t>();
    const auto size = cursor.take_little<std::uint32_t>();
    constexpr std::uint32_t around_bytes = 12;
    if (!type || !size || *size < around_bytes || *size % 4 != 0) {
        return std::nullopt;
    }
    const auto content = cursor.take(*size - around_bytes);
    const auto again = cursor.take_little<std::uint32_t>();
    if (!content || again != size) {
        return std::nullopt;
    }
    return RawBlock{*type, *size, *content};
}

/// The name of an interface block; empty if it has none.
std::string_view name_of(std::span<const std::byte> content) {
    constexpr std::size_t fields_bytes = 8;
    constexpr std::uint16_t name_option = 2;
    Cursor cursor{content};
    if (!cursor.take(fields_bytes)) {
        return {};
    }
    while (true) {
        const auto code = cursor.take_little<std::uint16_t>();
        const auto size = cursor.take_little<std::uint16_t>();
        const auto value = code && size ? cursor.take(*size) : std::nullopt;
        if (!value || *code == 0) {
            return {};
        }
        if (*code == name_option) {
            const auto* const name = reinterpret_cast<const char*>(value->data());  // tidy: text
            return {name, value->size()};
        }
        static_cast<void>(cursor.take((4 - *size % 4) % 4));
    }
}

}  // namespace

std::string RecordedInterface::name() const {
    if (line == 0) {
        return "no line";
    }
    return fmt::format("line {} {}", line, repaired ? "repaired" : stream == Stream::a ? "A" : "B");
}

std::vector<RecordedInterface> interfaces_of(std::span<const std::uint16_t> lines) {
    std::vector<RecordedInterface> interfaces{{}};
    for (const std::uint16_t line : lines) {
        interfaces.push_back({line, Stream::a});
        interfaces.push_back({line, Stream::b});
        interfaces.push_back({line, Stream::a, true});
    }
    return interfaces;
}

std::vector<std::byte> bytes_of(const SegmentHead& head) {
    constexpr std::uint32_t byte_order = 0x1A2B3C4D;
    constexpr std::uint16_t comment_option = 1;
    constexpr std::uint16_t program_option = 4;
    constexpr std::uint16_t name_option = 2;
    constexpr std::uint16_t resolution_option = 9;
    constexpr std::uint16_t ethernet = 1;
    std::vector<std::byte> bytes;
    BlockWriter writer{bytes};
    writer.begin(section_block);
    writer.put(byte_order);
    writer.put(std::uint16_t{1});
    writer.put(std::uint16_t{0});
    writer.put(~std::uint64_t{0});  // the length of the section is not stated
    writer.option(comment_option,
                  fmt::format("recording of feed {}, poller {}", head.feed, head.poller));
    writer.option(program_option, fmt::format("pinstrike {}", version));
    writer.end();
    for (const RecordedInterface& interface : head.interfaces) {
        writer.begin(interface_block);
        writer.put(ethernet);
        writer.put(std::uint16_t{0});
        writer.put(std::uint32_t{0});  // packets are never cut
        writer.option(name_option, interface.name());
        writer.option(resolution_option, std::string_view{"\x09", 1});
        writer.end();
    }
    append_filler(bytes, aligned(bytes.size() + nic::space_behind_packets_bytes) - bytes.size());
    return bytes;
}

std::optional<ReadHead> read_head(std::span<const std::byte> segment) {
    ReadHead head;
    while (!nic::load_chunk_head(segment.subspan(head.bytes))) {
        const auto block = read_block(segment.subspan(head.bytes));
        if (!block || (head.bytes == 0) != (block->type == section_block)) {
            break;
        }
        if (block->type == interface_block) {
            const auto interface = interface_named(name_of(block->content));
            if (!interface) {
                return std::nullopt;
            }
            head.interfaces.push_back(*interface);
        }
        head.bytes += block->bytes;
    }
    const bool whole =
        head.bytes != 0 && head.bytes % nic::chunk_alignment_bytes == 0 && !head.interfaces.empty();
    return whole ? std::optional{std::move(head)} : std::nullopt;
}

void write_statistics(std::span<std::byte> chunk, const ChunkFacts& facts) {
    constexpr std::uint16_t comment_option = 1;
    constexpr std::uint16_t received_option = 4;
    constexpr std::uint16_t accepted_option = 6;
    constexpr std::uint16_t dropped_option = 7;
    constexpr std::size_t bytes_wanted = nic::space_before_packets_bytes - nic::chunk_head_bytes;
    const auto ts_ns = static_cast<std::uint64_t>(facts.first_ts_ns);
    std::vector<std::byte> block;
    BlockWriter writer{block};
    writer.begin(statistics_block);
    writer.put(std::uint32_t{0});  // interface 0 stands for the whole recording
    writer.put(static_cast<std::uint32_t>(ts_ns >> 32));
    writer.put(static_cast<std::uint32_t>(ts_ns));
    writer.option(received_option, facts.received);
    writer.option(accepted_option, facts.received - facts.filtered);
    writer.option(dropped_option, facts.not_recorded);
    writer.option(comment_option, fmt::format("{} packets before this place were not recorded",
                                              facts.not_recorded_before));
    writer.end(bytes_wanted);
    PINSTRIKE_CHECK(block.size() == bytes_wanted);
    std::memcpy(chunk.data() + nic::chunk_head_bytes, block.data(), block.size());
}

nic::ChunkHead seal_chunk(std::span<std::byte> chunk, std::size_t used_bytes, nic::ChunkHead head) {
    const std::size_t bytes = aligned(used_bytes + nic::space_behind_packets_bytes);
    PINSTRIKE_CHECK(bytes <= chunk.size());
    const auto filler_bytes = static_cast<std::uint32_t>(bytes - used_bytes);
    const std::array<std::uint32_t, 2> begin{nic::pcapng_local_block, filler_bytes};
    std::memset(chunk.data() + used_bytes, 0, filler_bytes);
    std::memcpy(chunk.data() + used_bytes, begin.data(), sizeof begin);
    std::memcpy(chunk.data() + bytes - sizeof filler_bytes, &filler_bytes, sizeof filler_bytes);
    head.bytes = static_cast<std::uint32_t>(bytes);
    head.checksum =
        nic::crc32c(chunk.subspan(nic::chunk_head_bytes, bytes - nic::chunk_head_bytes));
    nic::store_chunk_head(chunk.first<nic::chunk_head_bytes>(), head);
    return head;
}

std::optional<std::span<const std::byte>> payload_of(std::span<const std::byte> frame) {
    nic::Packet packet;
    packet.bytes = frame.data();
    packet.length_bytes = static_cast<std::uint32_t>(frame.size());
    nic::Datagram datagram;
    return nic::parse_udp(packet, nic::ChecksumCheck::off, datagram) == nic::not_dropped
               ? std::optional{datagram.payload}
               : std::nullopt;
}

std::optional<RecordedPacket> ChunkPackets::next() {
    while (const auto block = read_block(chunk_.subspan(whole_bytes_))) {
        whole_bytes_ += block->bytes;
        if (block->type != packet_block) {
            continue;
        }
        Cursor cursor{block->content};
        const auto interface = cursor.take_little<std::uint32_t>();
        const auto high = cursor.take_little<std::uint32_t>();
        const auto low = cursor.take_little<std::uint32_t>();
        const auto captured = cursor.take_little<std::uint32_t>();
        const auto sent = cursor.take_little<std::uint32_t>();
        const auto frame = captured && sent ? cursor.take(*captured) : std::nullopt;
        if (!frame) {
            continue;
        }
        return RecordedPacket{*interface,
                              static_cast<std::int64_t>(std::uint64_t{*high} << 32 | *low), *frame};
    }
    return std::nullopt;
}

}  // namespace pinstrike::feed
