// path: hot
//
// Records of any length in a ring: a head of one slot, which says how many bytes follow, then the
// slots with these bytes. The bytes are contiguous because the ring's memory is mapped twice. Head
// and bytes are claimed and published together, so a reader that sees the head sees the bytes;
// ring.h says why its memory orders are enough, and there is no atomic here. The reader still
// checks the length, so it never reads past the published slots.
//
// `Head` is trivially copyable and has bytes_behind(), the number of bytes that follow it.
#pragma once

#include "actors/threads/ring.h"
#include "config/check.h"

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace pinstrike::actors {

/// The slots of a record with this many bytes, its head included.
template <class Head>
[[nodiscard]] constexpr std::size_t record_slots(std::size_t bytes) {
    return 1 + (bytes + sizeof(Head) - 1) / sizeof(Head);
}

/// Claims a record and copies `bytes` behind its head; the caller fills the head. Null: the ring is
/// full.
template <class Head>
[[nodiscard]] Head* claim_record(Producer<Head>& ring, std::span<const std::byte> bytes) noexcept {
    Head* const head = ring.claim(record_slots<Head>(bytes.size()));
    if (head != nullptr && !bytes.empty()) {
        std::memcpy(static_cast<void*>(head + 1), bytes.data(), bytes.size());
    }
    return head;
}

/// A record in the ring, valid until its slots are released.
template <class Head>
struct RecordView {
    const Head& head;
    std::span<const std::byte> bytes;
    std::size_t slots;  ///< slots to release
};

/// The first record of `waiting`, which must not be empty.
template <class Head>
[[nodiscard]] RecordView<Head> first_record(std::span<const Head> waiting) noexcept {
    const Head& head = waiting.front();
    const std::size_t bytes = head.bytes_behind();
    const std::size_t slots = record_slots<Head>(bytes);
    PINSTRIKE_CHECK(slots <= waiting.size());
    return {head, std::as_bytes(waiting.subspan(1)).first(bytes), slots};
}

/// The oldest record; nullopt if the ring is empty.
template <class Head>
[[nodiscard]] std::optional<RecordView<Head>> peek_record(Consumer<Head>& ring) noexcept {
    const std::span<const Head> oldest = ring.peek(1);
    if (oldest.empty()) {
        return std::nullopt;
    }
    return first_record(ring.peek(record_slots<Head>(oldest.front().bytes_behind())));
}

}  // namespace pinstrike::actors
