// path: cold
//
// Encodes messages as blocks on the wire. BlockBuilder allocates nothing; only a Text has memory of
// its own. A block of 33 short quotes takes well under a microsecond.
#pragma once

#include "feed/opra/message.h"

#include <cstddef>
#include <span>

namespace pinstrike::feed::opra {

/// The length of a message on the wire. The indicator of a quote says which of its appendages
/// count.
[[nodiscard]] std::size_t encoded_bytes(const wire::Message& message);

/// Writes encoded_bytes() bytes at `m`. The caller has checked that they fit.
void encode(std::byte* m, const wire::Message& message);

/// Computes the checksum of a block of at least 21 bytes and writes it into the block.
void fix_checksum(std::span<std::byte> block_bytes);

/// Packs messages into one block.
///
///     BlockBuilder builder{buffer};              // at least block::bytes_max bytes
///     builder.begin(header);
///     while (builder.add(message)) { ... }
///     send(builder.finish());
class BlockBuilder {
  public:
    /// `out` must outlive the builder and hold block::bytes_max bytes.
    explicit BlockBuilder(std::span<std::byte> out);

    void begin(const wire::BlockHeader& header);

    /// False: nothing was added, because the block would exceed 1000 bytes (including the pad) or
    /// 255 messages.
    [[nodiscard]] bool add(const wire::Message& message);

    [[nodiscard]] unsigned messages() const { return messages_; }

    /// The length so far, without a pad.
    [[nodiscard]] std::size_t bytes() const { return used_; }

    /// Adds pad, size, count and checksum. Returns the whole block, in the buffer given at
    /// construction.
    [[nodiscard]] std::span<std::byte> finish();

  private:
    std::span<std::byte> out_;
    std::size_t used_ = 0;
    unsigned messages_ = 0;
};

}  // namespace pinstrike::feed::opra
