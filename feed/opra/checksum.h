// path: hot
#pragma once

#include "feed/opra/layout.h"
#include "nic/packet/bytes.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pinstrike::feed::opra {

/// The sum of all bytes as unsigned numbers.
[[nodiscard]] inline std::uint32_t byte_sum(std::span<const std::byte> bytes) {
    const std::byte* at = bytes.data();
    const std::byte* const end = at + bytes.size();
    if (bytes.size() < 32) [[unlikely]] {
        std::uint32_t sum = 0;
        for (; at != end; ++at) {
            sum += static_cast<std::uint8_t>(*at);
        }
        return sum;
    }
    // vpsadbw against zero adds eight bytes at a time into a 64-bit lane.
    const __m256i zero = _mm256_setzero_si256();
    __m256i lanes = zero;
    for (; end - at >= 32; at += 32) {
        __m256i chunk;
        std::memcpy(&chunk, at, sizeof chunk);
        lanes = _mm256_add_epi64(lanes, _mm256_sad_epu8(chunk, zero));
    }
    const __m256i rest = nic::last_bytes(end, static_cast<std::size_t>(end - at));
    lanes = _mm256_add_epi64(lanes, _mm256_sad_epu8(rest, zero));
    const __m128i halves =
        _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si64(halves) + _mm_extract_epi64(halves, 1));
}

/// The checksum that a block of at least 21 bytes should carry: the low 16 bits of the sum of all
/// its bytes, including the pad, except the two bytes of the checksum (OPRA Block Header).
[[nodiscard]] inline std::uint16_t checksum_of(std::span<const std::byte> block_bytes) {
    const auto own = static_cast<std::uint8_t>(block_bytes[block::checksum.at]) +
                     static_cast<std::uint8_t>(block_bytes[block::checksum.at + 1]);
    return static_cast<std::uint16_t>(byte_sum(block_bytes) - static_cast<std::uint32_t>(own));
}

}  // namespace pinstrike::feed::opra
