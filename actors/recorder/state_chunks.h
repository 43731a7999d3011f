// path: cold
//
// The way of a snapshot from the recovery thread, which gets the state of the books, to the
// recorder's thread, which writes it. The recovery thread fills buffers and passes each through a
// ring. It reuses a buffer after the recorder has released its place in the ring (ring.h says why
// the memory orders are enough for the bytes, too).
#pragma once

#include "actors/threads/ring.h"
#include "feed/recording/state_file.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace pinstrike::actors {

struct alignas(64) FilledStateChunk {
    enum class Kind : std::uint8_t {
        begin,   ///< a snapshot begins at `time_ns`
        frames,  ///< a chunk of it
        end,     ///< it is complete
        given_up,
    };

    Kind kind = Kind::begin;
    std::uint32_t records = 0;
    std::uint32_t series = 0;      ///< of the records
    std::uint32_t used_bytes = 0;  ///< with the space for the chunk's head
    std::int64_t time_ns = 0;      ///< wall time
    std::byte* bytes = nullptr;    ///< of kind frames
};

/// The end of the recovery thread.
class StateChunks {
  public:
    static constexpr std::size_t buffer_bytes = 256 << 10;
    static constexpr std::size_t buffers = 8;

    explicit StateChunks(Producer<FilledStateChunk> filled)
        : filled_(std::move(filled)), memory_(new std::byte[buffers * buffer_bytes]) {}

    /// The buffer of the next chunk. Empty: the recorder still has all of them.
    [[nodiscard]] std::span<std::byte> buffer() {
        const std::uint64_t number = filled_.claimed();
        return number - filled_.released() < buffers
                   ? std::span{memory_.get() + number % buffers * buffer_bytes, buffer_bytes}
                   : std::span<std::byte>{};
    }

    /// Passes on the buffer, or a mark without one. False: the recorder is too far behind.
    [[nodiscard]] bool pass(const FilledStateChunk& chunk) {
        return filled_.claimed() - filled_.released() < buffers && filled_.try_push({&chunk, 1});
    }

  private:
    Producer<FilledStateChunk> filled_;
    std::unique_ptr<std::byte[]> memory_;
};

/// Makes both ends.
[[nodiscard]] inline std::pair<std::unique_ptr<StateChunks>, Consumer<FilledStateChunk>>
make_state_chunks() {
    auto ring =
        Ring<FilledStateChunk>::make(Ring<FilledStateChunk>::slots_for(StateChunks::buffers));
    return {std::make_unique<StateChunks>(std::move(ring.producer)), std::move(ring.consumer)};
}

}  // namespace pinstrike::actors
