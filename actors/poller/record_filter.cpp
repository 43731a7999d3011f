// path: mixed, cold: construction
#include "actors/poller/record_filter.h"

#include "config/check.h"
#include "feed/event/series_key.h"
#include "nic/packet/bytes.h"
#include "nic/packet/datagram.h"

#include <nmmintrin.h>

#include <array>
#include <bit>
#include <cstring>

namespace pinstrike::actors {

namespace {

constexpr std::size_t lanes_count = 4;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::size_t round_bytes = lanes_count * word_bytes;

using Lanes = std::array<std::uint64_t, lanes_count>;

}  // namespace

// --- cold ---

LineSet line_set(const std::vector<std::uint16_t>& numbers) {
    LineSet lines;
    for (const std::uint16_t number : numbers) {
        lines.set(number);
    }
    return numbers.empty() ? lines.set() : lines;
}

LineSet places_of(const LineSet& lines, std::span<const std::uint16_t> numbers) {
    LineSet places;
    if (lines.all()) {
        return places.set();
    }
    places[0] = lines[0];
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        places[i + 1] = lines[numbers[i]];
    }
    return places;
}

RecordFilter::RecordFilter(const LineSet& places, std::size_t copies_slots)
    : places_(std::make_unique<Words>()),
      some_(std::make_unique<std::atomic<Some>>(Some::none)),
      copies_(copies_slots) {
    PINSTRIKE_CHECK(copies_slots == 0 || std::has_single_bit(copies_slots));
    want(places);
}

void RecordFilter::want(const LineSet& places) noexcept {
    for (std::size_t i = 0; i < places_->size(); ++i) {
        std::uint64_t word = 0;
        for (std::size_t bit = 0; bit < word_bits; ++bit) {
            word |= std::uint64_t{places[i * word_bits + bit]} << bit;
        }
        (*places_)[i].store(word, std::memory_order_relaxed);  // record_filter.h says why
    }
    some_->store(places.all()   ? Some::all
                 : places.any() ? Some::some
                                : Some::none,
                 std::memory_order_relaxed);  // likewise
}

// --- hot ---

namespace {

void add_round(Lanes& lanes, const std::byte* bytes) noexcept {
    for (std::size_t i = 0; i < lanes_count; ++i) {
        lanes[i] = _mm_crc32_u64(lanes[i], nic::load_native<std::uint64_t>(bytes + i * word_bytes));
    }
}

/// Four sums (CRC-32C) of every fourth word, which the processor computes at the same time, folded
/// into one number.
std::uint64_t fingerprint(std::span<const std::byte> payload, std::size_t line) noexcept {
    const std::byte* at = payload.data();
    std::size_t left = payload.size();
    Lanes lanes{left, line, 0, 0};
    for (; left >= round_bytes; left -= round_bytes, at += round_bytes) {
        add_round(lanes, at);
    }
    if (left != 0) {
        std::array<std::byte, round_bytes> rest{};
        std::memcpy(rest.data(), at, left);
        add_round(lanes, rest.data());
    }
    // Sums of zeros are 0, and a factor of 0 would hide the other one.
    return feed::fold((lanes[0] << 32 | lanes[1]) ^ 0xD6E8'FEB8'6659'FD93ULL,
                      (lanes[2] << 32 | lanes[3]) ^ 0x9E37'79B9'7F4A'7C15ULL);
}

}  // namespace

bool RecordFilter::is_first(const nic::Packet& packet, std::uint32_t interface,
                            Mark& mark) noexcept {
    constexpr std::uint64_t spread = 0x9E37'79B9'7F4A'7C15ULL;
    nic::Datagram datagram;
    if (nic::parse_udp(packet, nic::ChecksumCheck::off, datagram) != nic::not_dropped) {
        return true;
    }
    const std::uint64_t stream = (interface - 1) % interfaces_each_line;
    const std::uint64_t line = (interface - 1) / interfaces_each_line;
    // No mark of either stream is 0.
    const std::uint64_t value = fingerprint(datagram.payload, line) | 3;
    mark.value = value ^ 1 ^ stream;
    mark.slot = static_cast<std::size_t>(value * spread >> 32) & (copies_.size() - 1);
    if (copies_[mark.slot] != (mark.value ^ 1)) {
        return true;
    }
    copies_[mark.slot] = 0;
    return false;
}

}  // namespace pinstrike::actors
