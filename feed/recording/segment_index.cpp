// path: cold
#include "feed/recording/segment_index.h"

#include "feed/event/cursor.h"

#include <algorithm>
#include <utility>

namespace pinstrike::feed {

namespace {

constexpr std::uint64_t magic = 0x3158444E49534350;  // "PCSINDX1": the last digit is the version
constexpr std::size_t record_fields_bytes = 48;
constexpr std::size_t line_bytes = 24;
constexpr std::size_t lines_max = 1 << 16;

template <class T>
void put(std::vector<std::byte>& out, T value) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&value);  // tidy: an integer
    out.insert(out.end(), bytes, bytes + sizeof value);
}

/// Adds a packet to the lines of a chunk. The latest line is the likeliest to get the next packet.
void add_packet(std::vector<ChunkLine>& lines, const RecordedPacket& packet, NumbersOf numbers_of) {
    std::optional<BlockNumbers> numbers;
    if (packet.interface != 0 && numbers_of != nullptr) {
        const auto payload = payload_of(packet.frame);
        numbers = payload ? numbers_of(*payload) : std::nullopt;
    }
    const bool numbered = numbers && !numbers->restarts;
    const std::uint8_t session = numbers ? numbers->session : 0;
    auto line = std::find_if(lines.begin(), lines.end(), [&](const ChunkLine& each) {
        return each.interface == packet.interface && (!numbers || each.session == session);
    });
    if (line == lines.end()) {
        line = lines.insert(lines.end(),
                            {static_cast<std::uint16_t>(packet.interface), session, 0, 0, 0});
    }
    ++line->packets;
    if (numbered) {
        line->first = line->first == 0 ? numbers->first : line->first;
        line->last = numbers->last;
    }
}

std::optional<ChunkRecord> read_record(Cursor& cursor) {
    const auto size = cursor.take_little<std::uint32_t>();
    const auto checksum = cursor.take_little<std::uint32_t>();
    const auto bytes = size && checksum ? cursor.take(*size) : std::nullopt;
    if (!bytes || bytes->size() < record_fields_bytes ||
        (bytes->size() - record_fields_bytes) % line_bytes != 0 ||
        nic::crc32c(*bytes) != *checksum) {
        return std::nullopt;
    }
    Cursor fields{*bytes};
    ChunkRecord record;
    record.offset = *fields.take_little<std::uint64_t>();
    record.bytes = *fields.take_little<std::uint32_t>();
    record.checksum = *fields.take_little<std::uint32_t>();
    record.packets = *fields.take_little<std::uint32_t>();
    const std::size_t lines = *fields.take_little<std::uint32_t>();
    record.not_recorded = *fields.take_little<std::uint64_t>();
    record.first_ts_ns = *fields.take_little<std::int64_t>();
    record.last_ts_ns = *fields.take_little<std::int64_t>();
    if (lines > lines_max || lines * line_bytes != fields.left()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < lines; ++i) {
        ChunkLine& line = record.lines.emplace_back();
        line.interface = *fields.take_little<std::uint16_t>();
        line.session = *fields.take_little<std::uint8_t>();
        static_cast<void>(fields.take(1));
        line.packets = *fields.take_little<std::uint32_t>();
        line.first = *fields.take_little<std::uint64_t>();
        line.last = *fields.take_little<std::uint64_t>();
    }
    return record;
}

/// The records up to the first wrong byte, sorted by offset. Nothing if the head is wrong.
std::optional<SegmentIndex> read_records(std::span<const std::byte> bytes, bool& is_whole) {
    Cursor cursor{bytes};
    SegmentIndex index;
    const auto begin = cursor.take_little<std::uint64_t>();
    const auto first_chunk_at = cursor.take_little<std::uint64_t>();
    if (begin != magic || !first_chunk_at) {
        return std::nullopt;
    }
    index.first_chunk_at = *first_chunk_at;
    is_whole = true;
    while (is_whole && cursor.left() != 0) {
        auto record = read_record(cursor);
        is_whole = record.has_value();
        if (record) {
            index.chunks.push_back(std::move(*record));
        }
    }
    // Several writes may be under way at once, so the records are in the order of their ends.
    std::sort(index.chunks.begin(), index.chunks.end(),
              [](const auto& a, const auto& b) { return a.offset < b.offset; });
    return index;
}

}  // namespace

ChunkRecord record_of(const nic::ChunkHead& head, std::uint64_t offset,
                      std::span<const std::byte> chunk, NumbersOf numbers_of) {
    ChunkRecord record{
        offset,    head.bytes, head.checksum, head.packets, head.not_recorded, INT64_MAX,
        INT64_MIN, {}};
    ChunkPackets packets{chunk};
    while (const auto packet = packets.next()) {
        record.first_ts_ns = std::min(record.first_ts_ns, packet->ts_ns);
        record.last_ts_ns = std::max(record.last_ts_ns, packet->ts_ns);
        add_packet(record.lines, *packet, numbers_of);
    }
    return record;
}

std::uint64_t SegmentIndex::end() const {
    return chunks.empty() ? first_chunk_at : chunks.back().offset + chunks.back().bytes;
}

std::string_view plain_path(std::string_view segment) {
    return segment.ends_with(compressed_suffix)
               ? segment.substr(0, segment.size() - compressed_suffix.size())
               : segment;
}

std::string index_path(const std::string& segment) {
    return std::string{plain_path(segment)} + ".index";
}

void append_index_head(std::vector<std::byte>& out, std::uint64_t first_chunk_at) {
    put(out, magic);
    put(out, first_chunk_at);
}

void append_record(std::vector<std::byte>& out, const ChunkRecord& record) {
    std::vector<std::byte> fields;
    put(fields, record.offset);
    put(fields, record.bytes);
    put(fields, record.checksum);
    put(fields, record.packets);
    put(fields, static_cast<std::uint32_t>(record.lines.size()));
    put(fields, record.not_recorded);
    put(fields, record.first_ts_ns);
    put(fields, record.last_ts_ns);
    for (const ChunkLine& line : record.lines) {
        put(fields, line.interface);
        put(fields, line.session);
        put(fields, std::uint8_t{0});
        put(fields, line.packets);
        put(fields, line.first);
        put(fields, line.last);
    }
    put(out, static_cast<std::uint32_t>(fields.size()));
    put(out, nic::crc32c(fields));
    out.insert(out.end(), fields.begin(), fields.end());
}

std::optional<std::int64_t> first_time_in(std::span<const std::byte> bytes) {
    bool is_whole = false;
    const auto index = read_records(bytes, is_whole);
    if (!index || index->chunks.empty()) {
        return std::nullopt;
    }
    return std::ranges::min(index->chunks, {}, &ChunkRecord::first_ts_ns).first_ts_ns;
}

std::optional<SegmentIndex> read_growing_index(std::span<const std::byte> bytes) {
    bool is_whole = false;
    auto index = read_records(bytes, is_whole);
    if (!index) {
        return std::nullopt;
    }
    std::uint64_t end = index->first_chunk_at;
    const auto hole = std::ranges::find_if(index->chunks, [&end](const ChunkRecord& chunk) {
        return chunk.offset != std::exchange(end, chunk.offset + chunk.bytes);
    });
    index->chunks.erase(hole, index->chunks.end());
    return index;
}

std::optional<SegmentIndex> read_index(std::span<const std::byte> bytes) {
    bool is_whole = false;
    auto index = read_records(bytes, is_whole);
    if (!index || !is_whole) {
        return std::nullopt;
    }
    std::uint64_t end = index->first_chunk_at;
    for (const ChunkRecord& chunk : index->chunks) {
        if (chunk.offset < end) {
            return std::nullopt;
        }
        end = chunk.offset + chunk.bytes;
    }
    return index;
}

}  // namespace pinstrike::feed
