// path: cold
//
// From messages to blocks on the wire. No allocation but what a Text brings along; a block of 33
// short quotes takes well under a microsecond.
#pragma once

#include "feed/opra/message.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::feed::opra {

/// Bytes on the wire. The indicator of `header` says whether a quote's appendages count.
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::LastSale& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::OpenInterest& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::EndOfDay& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::LongQuote& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::ShortQuote& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::Text& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::Control& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::SeriesMap& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Header& header, const wire::Underlying& body);
[[nodiscard]] std::size_t encoded_bytes(const wire::Message& message);

/// Writes encoded_bytes() bytes at `m`, which must have room for them.
void encode(std::byte* m, const wire::Header& header, const wire::LastSale& body);
void encode(std::byte* m, const wire::Header& header, const wire::OpenInterest& body);
void encode(std::byte* m, const wire::Header& header, const wire::EndOfDay& body);
void encode(std::byte* m, const wire::Header& header, const wire::LongQuote& body);
void encode(std::byte* m, const wire::Header& header, const wire::ShortQuote& body);
void encode(std::byte* m, const wire::Header& header, const wire::Text& body);
void encode(std::byte* m, const wire::Header& header, const wire::Control& body);
void encode(std::byte* m, const wire::Header& header, const wire::SeriesMap& body);
void encode(std::byte* m, const wire::Header& header, const wire::Underlying& body);
void encode(std::byte* m, const wire::Message& message);

/// Writes the checksum that the block should carry into it; at least 21 bytes.
void fix_checksum(std::span<std::byte> block_bytes);

/// Packs messages into one block.
///
///     BlockBuilder builder{buffer};              // at least block::bytes_max bytes
///     builder.begin(header);
///     while (builder.add(message_header, quote)) { ... }
///     send(builder.finish());
class BlockBuilder {
  public:
    /// `out` must outlive the builder and hold block::bytes_max bytes.
    explicit BlockBuilder(std::span<std::byte> out);

    void begin(const wire::BlockHeader& header);

    /// False, and nothing changed, where the block would grow beyond 1000 bytes (pad included) or
    /// 255 messages.
    template <class Body>
    [[nodiscard]] bool add(const wire::Header& header, const Body& body) {
        std::byte* at = room_for(encoded_bytes(header, body));
        if (at == nullptr) {
            return false;
        }
        encode(at, header, body);
        return true;
    }

    [[nodiscard]] bool add(const wire::Message& message);

    [[nodiscard]] unsigned messages() const { return messages_; }

    /// Bytes so far, without a pad.
    [[nodiscard]] std::size_t bytes() const { return used_; }

    /// Pad, size, count and checksum; the whole block, in the buffer given at construction.
    [[nodiscard]] std::span<std::byte> finish();

  private:
    [[nodiscard]] std::byte* room_for(std::size_t bytes);

    std::span<std::byte> out_;
    std::size_t used_ = 0;
    unsigned messages_ = 0;
};

/// The bytes of a block as it was parsed: its tail instead of a pad of our own.
[[nodiscard]] std::vector<std::byte> encode(const wire::Block& block);

}  // namespace pinstrike::feed::opra
