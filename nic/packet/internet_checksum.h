// path: hot
//
// The Internet checksum (RFC 1071): the one's complement of the one's complement sum of 16-bit
// words. The sum does not depend on the order of the words, and the byte order matters only for a
// final swap. So the words are added in the byte order of the host (little-endian), 32 bytes at a
// time, as 32-bit halves in 64-bit lanes, which never overflow. The code uses vector types because
// the compiler's own vectorization spends more time on the unaligned ends of a short datagram than
// on the sum.
#pragma once

#include "nic/packet/bytes.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinstrike::nic {

/// An unfolded sum of words in host order; sums of even-length pieces may be added to each other.
using ChecksumSum = std::uint64_t;

/// The sum of the two 32-bit halves of the eight bytes at `at`.
inline ChecksumSum checksum_word(const std::byte* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return (word & 0xFFFFFFFF) + (word >> 32);
}

/// checksum_sum() of fewer than 32 bytes, such as header options and datagrams too short for market
/// data. Out of line to keep the inlined path small.
[[gnu::noinline]] inline ChecksumSum checksum_sum_short(const std::byte* bytes,
                                                        std::size_t length) noexcept {
    const std::byte* const end = bytes + length;
    ChecksumSum sum = 0;
    for (; end - bytes >= 4; bytes += 4) {
        std::uint32_t word;
        std::memcpy(&word, bytes, sizeof word);
        sum += word;
    }
    if ((length & 2) != 0) {
        std::uint16_t word;
        std::memcpy(&word, bytes, sizeof word);
        sum += word;
        bytes += sizeof word;
    }
    return sum + ((length & 1) != 0 ? static_cast<std::uint8_t>(*bytes) : 0);
}

/// The sum of `length` bytes. If the length is odd, a zero byte is assumed at the end.
[[gnu::always_inline]] inline ChecksumSum checksum_sum(const std::byte* bytes,
                                                       std::size_t length) noexcept {
    using Lanes __attribute__((vector_size(32))) = std::uint64_t;
    constexpr auto lanes_bytes = static_cast<std::ptrdiff_t>(sizeof(Lanes));
    if (length < sizeof(Lanes)) [[unlikely]] {
        return checksum_sum_short(bytes, length);
    }
    const std::byte* const end = bytes + length;
    Lanes halves{};
    Lanes more_halves{};  // a second accumulator, so that additions do not depend on each other
    for (; end - bytes >= 2 * lanes_bytes; bytes += 2 * lanes_bytes) {
        Lanes words;
        Lanes more_words;
        std::memcpy(&words, bytes, sizeof words);
        std::memcpy(&more_words, bytes + sizeof words, sizeof more_words);
        halves += (words & 0xFFFFFFFF) + (words >> 32);
        more_halves += (more_words & 0xFFFFFFFF) + (more_words >> 32);
    }
    if (end - bytes >= lanes_bytes) {
        Lanes words;
        std::memcpy(&words, bytes, sizeof words);
        halves += (words & 0xFFFFFFFF) + (words >> 32);
        bytes += lanes_bytes;
    }
    halves += more_halves;
    // If the length is odd, the last bytes are loaded at an odd offset, so their words have swapped
    // bytes. In one's complement, swapping back is a multiplication by 256.
    const auto last = (Lanes)last_bytes(end, static_cast<std::size_t>(end - bytes));
    halves += ((last & 0xFFFFFFFF) + (last >> 32)) << (length % 2 * 8);
    return halves[0] + halves[1] + halves[2] + halves[3];
}

/// Out of line, because headers rarely have options.
[[gnu::noinline]] inline ChecksumSum ipv4_options_sum(const std::byte* options,
                                                      std::size_t length) noexcept {
    return checksum_sum(options, length);
}

/// The sum of an IPv4 header of `length` bytes, at least 20. Nearly every header has 20 bytes, and
/// for these this is much cheaper than checksum_sum().
inline ChecksumSum ipv4_header_sum(const std::byte* header, std::size_t length) noexcept {
    constexpr std::size_t fixed_bytes = 20;
    std::uint32_t middle;
    std::memcpy(&middle, header + 8, sizeof middle);
    // Source and destination address are loaded as one word because udp_pseudo_sum() loads the same
    // word.
    const ChecksumSum fixed = checksum_word(header) + middle + checksum_word(header + 12);
    if (length == fixed_bytes) [[likely]] {
        return fixed;
    }
    return fixed + ipv4_options_sum(header + fixed_bytes, length - fixed_bytes);
}

/// The 16-bit one's complement sum, in host order; 0xFFFF for data that contains its correct
/// checksum.
inline std::uint16_t checksum_fold(ChecksumSum sum) noexcept {
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(sum);
}

/// True if the sum of data that contains its checksum, and is not all zero, is correct. A correct
/// sum folds to 0xFFFF, so it is a multiple of 0xFFFF.
inline bool checksum_is_whole(ChecksumSum sum) noexcept {
    return sum % 0xFFFF == 0;
}

/// Stores the checksum of `sum` at `at` in network byte order.
inline void store_checksum(std::byte* at, ChecksumSum sum) noexcept {
    const auto raw = static_cast<std::uint16_t>(~checksum_fold(sum));
    std::memcpy(at, &raw, sizeof raw);
}

/// The sum of UDP's pseudo header (RFC 768). `addresses` are the 8 bytes of source and destination
/// address in the IPv4 header.
inline ChecksumSum udp_pseudo_sum(const std::byte* addresses, std::uint16_t udp_length) noexcept {
    return checksum_word(addresses) + __builtin_bswap16(17) + __builtin_bswap16(udp_length);
}

}  // namespace pinstrike::nic
