// path: hot
//
// A codec that ends the path of a packet after one stage. The benchmark gives it to the poller of
// the program (actors/poller/poller.h), so the stages before the end are those of the program. The
// times of two such pollers differ by the cost of the stages between their ends.
#pragma once

#include "actors/bench/stages/stage.h"
#include "actors/poller/sharding.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/limits.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace pinstrike::actors {

/// Prevents the compiler from removing the computation of a value that nothing reads.
template <class T>
inline void keep(const T& value) noexcept {
    asm volatile("" : : "r,m"(value) : "memory");
}

/// An EventSink (feed/event/event_sink.h) for events that nothing reads. It reserves the same few
/// slots again and again, so that they stay in the cache.
class ScratchSlots {
  public:
    /// If `routes`, finds the core of each message that was reserved slots, among `cores_count`
    /// cores.
    ScratchSlots(std::size_t cores_count, bool routes)
        : cores_count_(cores_count), routes_(routes) {}

    feed::Event* next_slots(std::size_t records) noexcept {
        return records <= slots_.size() ? slots_.data() : nullptr;
    }

    void commit(std::size_t /*messages*/, std::size_t records) noexcept {
        for (std::size_t i = 0; routes_ && i < records; i += slots_[i].header.records) {
            keep(core_of(slots_[i].body.series, Sharding::series, cores_count_));
        }
    }

    void push(std::span<const feed::Event> message) noexcept { keep(message.data()); }

    void broadcast(const feed::Event& /*event*/) noexcept {}

    void filtered() noexcept {}

    [[nodiscard]] static bool wants_tests() noexcept { return false; }

  private:
    std::size_t cores_count_;
    bool routes_;
    std::array<feed::Event, 2 * feed::block_messages_max> slots_{};
};

/// `last` is find_line, check, arbitrate, decode or route: the last stage of the path.
template <class Codec, Stage last>
class CutCodec : public Codec {
  public:
    /// Must be called before the first packet. The lines of all pollers of this type share the
    /// slots.
    static void set_cores(std::size_t cores_count) {
        slots = ScratchSlots{cores_count, last == Stage::route};
    }

    [[gnu::always_inline]] feed::OpenResult open(std::span<const std::byte>& rest,
                                                 bool verify_checksum, feed::Block& block) {
        if constexpr (last == Stage::find_line) {
            keep(std::exchange(rest, {}).data());
            return {};
        } else {
            feed::OpenResult result = Codec::open(rest, verify_checksum, block);
            if constexpr (last == Stage::check) {
                keep(block.messages);
                keep(block.bytes.data());
                result.accepted = false;
            }
            return result;
        }
    }

    template <class Sink>
    [[gnu::always_inline]] bool decode_fast(const feed::Block& block, const feed::Header& base,
                                            bool gth, Sink& /*sink*/) {
        if constexpr (last == Stage::arbitrate) {
            keep(block.messages);
            return true;
        } else {
            const bool decoded = Codec::decode_fast(block, base, gth, slots);
            keep(&slots);
            return decoded;
        }
    }

    template <class Sink>
    void decode(const feed::Block& block, unsigned first, unsigned count, const feed::Header& base,
                bool gth, Sink& /*sink*/) {
        if constexpr (last != Stage::arbitrate) {
            Codec::decode(block, first, count, base, gth, slots);
            keep(&slots);
        }
    }

  private:
    static inline ScratchSlots slots{1, false};
};

}  // namespace pinstrike::actors
