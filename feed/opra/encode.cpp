// path: cold
#include "feed/opra/encode.h"

#include "config/check.h"
#include "feed/opra/checksum.h"
#include "feed/opra/wire_fields.h"

#include <type_traits>
#include <variant>

namespace pinstrike::feed::opra {

namespace {

/// An unknown indicator counts as one without appendages, so that messages that cannot be decoded
/// can still be encoded.
std::size_t appendages_of(char indicator) {
    const std::uint8_t bytes = appendages_bytes[static_cast<std::uint8_t>(indicator)];
    return bytes == appendages_unknown ? 0 : bytes;
}

void put_block_header(std::byte* start, const wire::BlockHeader& header) {
    put<block::version>(start, std::uint8_t{6});
    put<block::feed>(start, 'O');
    put<block::retransmission>(start, header.retransmission);
    put<block::session>(start, header.session);
    put<block::sequence>(start, header.sequence);
    put<block::seconds>(start, header.seconds);
    put<block::nanoseconds>(start, header.nanoseconds);
}

}  // namespace

std::size_t encoded_bytes(const wire::Message& message) {
    return std::visit(
        [&]<class Body>(const Body& body) {
            if constexpr (std::is_same_v<Body, wire::Text>) {
                return Body::bytes + body.text.size();
            } else if constexpr (requires { body.best_bid; }) {
                return Body::bytes + appendages_of(message.header.indicator);
            } else {
                return Body::bytes;
            }
        },
        message.body);
}

void encode(std::byte* m, const wire::Message& message) {
    pass_fields(m, message.header);
    put<message::category>(m, message.category());
    std::visit([m](const auto& body) { pass_fields(m, body); }, message.body);
}

void fix_checksum(std::span<std::byte> block_bytes) {
    put<block::checksum>(block_bytes.data(), checksum_of(block_bytes));
}

BlockBuilder::BlockBuilder(std::span<std::byte> out) : out_(out) {
    PINSTRIKE_CHECK(out.size() >= block::bytes_max);
}

void BlockBuilder::begin(const wire::BlockHeader& header) {
    put_block_header(out_.data(), header);
    used_ = block::header_bytes;
    messages_ = 0;
}

bool BlockBuilder::add(const wire::Message& message) {
    // The limit is even, so a block that fits without its pad fits with it.
    static_assert(block::bytes_max % 2 == 0);
    const std::size_t bytes = encoded_bytes(message);
    if (used_ + bytes > block::bytes_max || messages_ == block::messages_max) {
        return false;
    }
    encode(out_.data() + used_, message);
    used_ += bytes;
    ++messages_;
    return true;
}

std::span<std::byte> BlockBuilder::finish() {
    std::size_t size = used_;
    if (size % 2 != 0) {
        out_[size++] = std::byte{0};
    }
    put<block::size>(out_.data(), static_cast<std::uint16_t>(size));
    put<block::messages>(out_.data(), static_cast<std::uint8_t>(messages_));
    const auto whole = out_.first(size);
    fix_checksum(whole);
    return whole;
}

}  // namespace pinstrike::feed::opra
