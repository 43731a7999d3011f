// path: cold
#include "feed/opra/encode.h"

#include "config/check.h"
#include "feed/opra/checksum.h"

#include <cstring>

namespace pinstrike::feed::opra {

namespace {

template <Field F, std::size_t N>
void put_chars(std::byte* m, const std::array<char, N>& chars) {
    static_assert(N == F.bytes);
    std::memcpy(m + F.at, chars.data(), N);
}

template <Field F>
void put_expiration(std::byte* m, const wire::Expiration& expiration) {
    static_assert(F.bytes == 3);
    m[F.at] = static_cast<std::byte>(expiration.letter);
    m[F.at + 1] = std::byte{expiration.day};
    m[F.at + 2] = std::byte{expiration.year};
}

void put_header(std::byte* m, const wire::Header& header, char category) {
    put<message::participant>(m, header.participant);
    put<message::category>(m, category);
    put<message::type>(m, header.type);
    put<message::indicator>(m, header.indicator);
    put<message::transaction_id>(m, header.transaction_id);
    put<message::reference>(m, header.reference);
}

/// For categories a, d, f and k, which have the series in the same place.
void put_series(std::byte* m, const wire::Series& series, std::uint8_t reserved) {
    put_chars<long_quote::symbol>(m, series.symbol);
    put<long_quote::reserved>(m, reserved);
    put_expiration<long_quote::expiration>(m, series.expiration);
    put<long_quote::strike_code>(m, series.strike_code);
    put<long_quote::strike>(m, series.strike);
}

void put_appendage(std::byte* at, const wire::Appendage& best) {
    put<appendage::participant>(at, best.participant);
    put<appendage::code>(at, best.code);
    put<appendage::price>(at, best.price);
    put<appendage::size>(at, best.size);
}

template <class Quote>
void put_appendages(std::byte* at, char indicator, const Quote& quote) {
    const IndicatorEffect effect = effect_of(indicator);
    if (effect.bid == BestEffect::appendage) {
        put_appendage(at, quote.best_bid);
        at += appendage::bytes;
    }
    if (effect.offer == BestEffect::appendage) {
        put_appendage(at, quote.best_offer);
    }
}

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

std::size_t encoded_bytes(const wire::Header& /*header*/, const wire::LastSale& /*body*/) {
    return last_sale::bytes;
}

std::size_t encoded_bytes(const wire::Header& /*header*/, const wire::OpenInterest& /*body*/) {
    return open_interest::bytes;
}

std::size_t encoded_bytes(const wire::Header& /*header*/, const wire::EndOfDay& /*body*/) {
    return end_of_day::bytes;
}

std::size_t encoded_bytes(const wire::Header& header, const wire::LongQuote& /*body*/) {
    return long_quote::bytes + appendages_of(header.indicator);
}

std::size_t encoded_bytes(const wire::Header& header, const wire::ShortQuote& /*body*/) {
    return short_quote::bytes + appendages_of(header.indicator);
}

std::size_t encoded_bytes(const wire::Header& /*header*/, const wire::Text& body) {
    return text::bytes + body.text.size();
}

std::size_t encoded_bytes(const wire::Header& /*header*/, const wire::Control& /*body*/) {
    return control::bytes;
}

std::size_t encoded_bytes(const wire::Header& /*header*/, const wire::SeriesMap& /*body*/) {
    return series_map::bytes;
}

std::size_t encoded_bytes(const wire::Header& /*header*/, const wire::Underlying& /*body*/) {
    return underlying::bytes;
}

std::size_t encoded_bytes(const wire::Message& message) {
    return std::visit([&message](const auto& body) { return encoded_bytes(message.header, body); },
                      message.body);
}

void encode(std::byte* m, const wire::Header& header, const wire::LastSale& body) {
    put_header(m, header, body.category);
    put_series(m, body.series, body.reserved);
    put<last_sale::volume>(m, body.volume);
    put<last_sale::price_code>(m, body.price_code);
    put<last_sale::price>(m, body.price);
    put<last_sale::trade_id>(m, body.trade_id);
    put<last_sale::reserved_tail>(m, body.reserved_tail);
}

void encode(std::byte* m, const wire::Header& header, const wire::OpenInterest& body) {
    put_header(m, header, body.category);
    put_series(m, body.series, body.reserved);
    put<open_interest::open_interest>(m, body.open_interest);
}

void encode(std::byte* m, const wire::Header& header, const wire::EndOfDay& body) {
    put_header(m, header, body.category);
    put_series(m, body.series, body.reserved);
    put<end_of_day::volume>(m, body.volume);
    put<end_of_day::open_interest>(m, body.open_interest);
    put<end_of_day::price_code>(m, body.price_code);
    put<end_of_day::open>(m, body.open);
    put<end_of_day::high>(m, body.high);
    put<end_of_day::low>(m, body.low);
    put<end_of_day::last>(m, body.last);
    put<end_of_day::net_change>(m, body.net_change);
    put<end_of_day::underlying_code>(m, body.underlying_code);
    put<end_of_day::underlying>(m, body.underlying);
    put<end_of_day::bid>(m, body.bid);
    put<end_of_day::offer>(m, body.offer);
}

void encode(std::byte* m, const wire::Header& header, const wire::LongQuote& body) {
    put_header(m, header, body.category);
    put_series(m, body.series, body.reserved);
    put<long_quote::price_code>(m, body.price_code);
    put<long_quote::bid>(m, body.bid);
    put<long_quote::bid_size>(m, body.bid_size);
    put<long_quote::offer>(m, body.offer);
    put<long_quote::offer_size>(m, body.offer_size);
    put_appendages(m + long_quote::bytes, header.indicator, body);
}

void encode(std::byte* m, const wire::Header& header, const wire::ShortQuote& body) {
    put_header(m, header, body.category);
    put_chars<short_quote::symbol>(m, body.symbol);
    put_expiration<short_quote::expiration>(m, body.expiration);
    put<short_quote::strike>(m, body.strike);
    put<short_quote::bid>(m, body.bid);
    put<short_quote::bid_size>(m, body.bid_size);
    put<short_quote::offer>(m, body.offer);
    put<short_quote::offer_size>(m, body.offer_size);
    put_appendages(m + short_quote::bytes, header.indicator, body);
}

void encode(std::byte* m, const wire::Header& header, const wire::Text& body) {
    put_header(m, header, body.category);
    put<text::length>(m, static_cast<std::uint16_t>(body.text.size()));
    std::memcpy(m + text::bytes, body.text.data(), body.text.size());
}

void encode(std::byte* m, const wire::Header& header, const wire::Control& body) {
    put_header(m, header, body.category);
}

void encode(std::byte* m, const wire::Header& header, const wire::SeriesMap& body) {
    put_header(m, header, body.category);
    put_chars<series_map::symbol>(m, body.series.symbol);
    put_expiration<series_map::expiration>(m, body.series.expiration);
    put<series_map::strike_code>(m, body.series.strike_code);
    put<series_map::strike>(m, body.series.strike);
    put<series_map::mapped_line>(m, body.mapped_line);
    std::memcpy(m + series_map::reserved.at, body.reserved.data(), body.reserved.size());
}

void encode(std::byte* m, const wire::Header& header, const wire::Underlying& body) {
    put_header(m, header, body.category);
    put_chars<underlying::symbol>(m, body.symbol);
    put<underlying::reserved>(m, body.reserved);
    put<underlying::code>(m, body.code);
    put<underlying::bid>(m, body.first);
    put<underlying::offer>(m, body.second);
}

void encode(std::byte* m, const wire::Message& message) {
    std::visit([&](const auto& body) { encode(m, message.header, body); }, message.body);
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

std::byte* BlockBuilder::room_for(std::size_t bytes) {
    // The limit is even, so a block that fits without its pad fits with it.
    static_assert(block::bytes_max % 2 == 0);
    if (used_ + bytes > block::bytes_max || messages_ == block::messages_max) {
        return nullptr;
    }
    std::byte* at = out_.data() + used_;
    used_ += bytes;
    ++messages_;
    return at;
}

bool BlockBuilder::add(const wire::Message& message) {
    return std::visit([&](const auto& body) { return add(message.header, body); }, message.body);
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
