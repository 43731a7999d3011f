// path: cold
#include "nic/capture/recording_chunk.h"

#include "nic/packet/bytes.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <cstring>

namespace pinstrike::nic {

namespace {

// The fields of the head, little-endian, and their offsets. The bytes between are 0.
constexpr std::uint32_t magic = 0x314B4843;  // "CHK1": the last digit is the version
constexpr std::size_t length_at = 4;
constexpr std::size_t magic_at = 8;
constexpr std::size_t bytes_at = 16;
constexpr std::size_t checksum_at = 20;
constexpr std::size_t packets_at = 24;
constexpr std::size_t number_at = 32;
constexpr std::size_t not_recorded_at = 40;
constexpr std::size_t head_checksum_at = 56;  // of the bytes before it
constexpr std::size_t length_again_at = 60;

template <class T>
void store(std::byte* at, T value) noexcept {
    std::memcpy(at, &value, sizeof value);
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept {
    constexpr std::size_t piece_bytes = 1U << 30U;  // the library counts in int
    std::uint32_t sum = ~0U;
    while (!bytes.empty()) {
        const auto piece = bytes.first(std::min(bytes.size(), piece_bytes));
        // The library takes a pointer to bytes that it does not change.
        auto* const at = reinterpret_cast<unsigned char*>(  // tidy: ISA-L's interface
            const_cast<std::byte*>(piece.data()));
        sum = crc32_iscsi(at, static_cast<int>(piece.size()), sum);
        bytes = bytes.subspan(piece.size());
    }
    return ~sum;
}

void store_chunk_head(std::span<std::byte, chunk_head_bytes> to, const ChunkHead& head) noexcept {
    std::byte* const at = to.data();
    std::memset(at, 0, chunk_head_bytes);
    store(at, pcapng_local_block);
    store<std::uint32_t>(at + length_at, chunk_head_bytes);
    store(at + magic_at, magic);
    store(at + bytes_at, head.bytes);
    store(at + checksum_at, head.checksum);
    store(at + packets_at, head.packets);
    store(at + number_at, head.number);
    store(at + not_recorded_at, head.not_recorded);
    store(at + head_checksum_at, crc32c(to.first<head_checksum_at>()));
    store<std::uint32_t>(at + length_again_at, chunk_head_bytes);
}

std::optional<ChunkHead> load_chunk_head(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < chunk_head_bytes) {
        return std::nullopt;
    }
    const std::byte* const at = bytes.data();
    const auto u32 = [at](std::size_t offset) { return load_native<std::uint32_t>(at + offset); };
    const bool whole = u32(0) == pcapng_local_block && u32(length_at) == chunk_head_bytes &&
                       u32(magic_at) == magic &&
                       u32(head_checksum_at) == crc32c(bytes.first(head_checksum_at)) &&
                       u32(length_again_at) == chunk_head_bytes;
    const std::uint32_t size = u32(bytes_at);
    if (!whole || size < chunk_head_bytes || size > chunk_bytes_max ||
        size % chunk_alignment_bytes != 0) {
        return std::nullopt;
    }
    return ChunkHead{size, u32(checksum_at), u32(packets_at),
                     load_native<std::uint64_t>(at + number_at),
                     load_native<std::uint64_t>(at + not_recorded_at)};
}

bool is_whole(const ChunkHead& head, std::span<const std::byte> bytes) noexcept {
    return bytes.size() >= head.bytes &&
           crc32c(bytes.subspan(chunk_head_bytes, head.bytes - chunk_head_bytes)) == head.checksum;
}

}  // namespace pinstrike::nic
