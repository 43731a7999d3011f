// path: hot
//
// By how much one stream of a line is ahead of the other: the time between the two copies of a
// block, of one block at a time, so that it costs a compare.
#pragma once

#include "config/histogram.h"
#include "feed/event/block.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace pinstrike::actors {

class StreamLead {
  public:
    /// The first copy of a block was taken. If the stream that is waited for brings a newer one
    /// first, it had lost its copy.
    void first(const feed::Block& block, feed::Stream stream) noexcept {
        if (!waiting_ || stream != stream_) {
            waiting_ = true;
            sequence_ = block.sequence;
            stream_ = stream;
            ts_receive_ns_ = block.ts_receive_ns;
        }
    }

    /// Its other copy, or that of an older or a newer block.
    [[gnu::always_inline]] void second(const feed::Block& block, feed::Stream stream) noexcept {
        if (!waiting_ || stream == stream_) {
            return;
        }
        if (block.sequence == sequence_) {
            (*ahead_ns_)[static_cast<std::size_t>(stream_)].record(block.ts_receive_ns -
                                                                   ts_receive_ns_);
        }
        // If it is newer than the one waited for, that copy will not come any more. The low 32 bits
        // decide, because numbers may wrap.
        waiting_ = static_cast<std::int32_t>(block.sequence - sequence_) < 0;
    }

    /// Numbers begin anew.
    void reset() noexcept { waiting_ = false; }

    /// By how much the stream was ahead, where it was first.
    [[nodiscard]] const Histogram& of(feed::Stream stream) const noexcept {
        return (*ahead_ns_)[static_cast<std::size_t>(stream)];
    }

  private:
    bool waiting_ = false;
    feed::Stream stream_ = feed::Stream::a;
    std::uint64_t sequence_ = 0;
    std::int64_t ts_receive_ns_ = 0;
    /// Apart, so that what every block touches stays small.
    std::unique_ptr<std::array<Histogram, feed::streams_count>> ahead_ns_ =
        std::make_unique<std::array<Histogram, feed::streams_count>>();  // tidy: allowed, at start
};

}  // namespace pinstrike::actors
