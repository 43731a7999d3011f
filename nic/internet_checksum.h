// path: hot
//
// The Internet checksum (RFC 1071): the one's complement of the one's complement sum of 16-bit
// words. The sum does not care for byte order but for a final swap, so words are added as the host
// loads them, 32 bits at a time into 64-bit lanes, which the compiler turns into vector code.
#pragma once

#include "nic/bytes.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinstrike::nic {

/// An unfolded sum of words in host order; sums of even-length pieces may be added to each other.
using ChecksumSum = std::uint64_t;

/// The sum of `length` bytes; an odd last byte counts as followed by a zero. At most 2^32 words.
inline ChecksumSum checksum_sum(const std::byte* bytes, std::size_t length) noexcept {
    const std::size_t words_count = length / 4;
    ChecksumSum sum = 0;
    for (std::size_t i = 0; i < words_count; ++i) {
        std::uint32_t word;
        std::memcpy(&word, bytes + i * 4, sizeof word);
        sum += word;
    }
    const std::size_t rest = length % 4;
    if (rest != 0) {
        std::uint32_t word = 0;
        std::memcpy(&word, bytes + words_count * 4, rest);
        sum += word;
    }
    return sum;
}

/// The 16-bit one's complement sum, in host order; 0xFFFF over data that contains its checksum.
inline std::uint16_t checksum_fold(ChecksumSum sum) noexcept {
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

/// Stores the checksum of `sum` at `at`, as the network wants it.
inline void store_checksum(std::byte* at, ChecksumSum sum) noexcept {
    const auto raw = static_cast<std::uint16_t>(~checksum_fold(sum));
    std::memcpy(at, &raw, sizeof raw);
}

/// The sum of UDP's pseudo header; `addresses` are the 8 bytes of source and destination in the
/// IPv4 header (RFC 768).
inline ChecksumSum udp_pseudo_sum(const std::byte* addresses, std::uint16_t udp_length) noexcept {
    return checksum_sum(addresses, 8) + __builtin_bswap16(17) + __builtin_bswap16(udp_length);
}

}  // namespace pinstrike::nic
