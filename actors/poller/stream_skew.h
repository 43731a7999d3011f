// path: hot
//
// Measures the skew between the two streams of a line: the time between the two copies of a block.
// It follows one block at a time, so that the cost is one compare for each block.
#pragma once

#include "config/histogram.h"
#include "feed/event/block.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace pinstrike::actors {

class StreamSkew {
  public:
    /// Called for the first copy of a block. If the stream whose copy is awaited brings a newer
    /// block first, that stream lost its copy.
    void first(const feed::Block& block, feed::Stream stream) noexcept {
        if (!waiting_ || stream != stream_) {
            waiting_ = true;
            sequence_ = block.sequence;
            stream_ = stream;
            ts_receive_ns_ = block.ts_receive_ns;
        }
    }

    /// Called for a duplicate, which may belong to the block followed, or to an older or newer one.
    [[gnu::always_inline]] void second(const feed::Block& block, feed::Stream stream) noexcept {
        if (!waiting_ || stream == stream_) {
            return;
        }
        if (block.sequence == sequence_) {
            (*ahead_ns_)[static_cast<std::size_t>(stream_)].record(block.ts_receive_ns -
                                                                   ts_receive_ns_);
        }
        // After a block newer than the one followed, the awaited copy will not come. The low 32
        // bits decide, because numbers may wrap.
        waiting_ = static_cast<std::int32_t>(block.sequence - sequence_) < 0;
    }

    /// The numbering restarts.
    void reset() noexcept { waiting_ = false; }

    /// Nanoseconds by which this stream was ahead, for blocks that it brought first.
    [[nodiscard]] const Histogram& of(feed::Stream stream) const noexcept {
        return (*ahead_ns_)[static_cast<std::size_t>(stream)];
    }

  private:
    bool waiting_ = false;
    feed::Stream stream_ = feed::Stream::a;
    std::uint64_t sequence_ = 0;
    std::int64_t ts_receive_ns_ = 0;
    /// Allocated separately, so that the members that every block touches stay small.
    std::unique_ptr<std::array<Histogram, feed::streams_count>> ahead_ns_ =
        std::make_unique<std::array<Histogram, feed::streams_count>>();  // tidy: allowed, at start
};

}  // namespace pinstrike::actors
