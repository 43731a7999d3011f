// path: cold
#include "tests/feed/opra/decoded.h"

#include "feed/opra/encode.h"
#include "feed/opra/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace pinstrike::feed::opra {

namespace {

/// Builds the series key byte by byte, independently of the program's own packing.
SeriesKey key_of(const wire::Symbol& symbol, const wire::Expiration& expiration,
                 std::int64_t strike, char code, bool gth) {
    std::array<unsigned char, 8> bytes{};
    std::memcpy(bytes.data(), symbol.data(), symbol.size());
    bytes[5] = static_cast<unsigned char>(expiration.letter + (gth ? 0x80 : 0));
    bytes[6] = expiration.day;
    bytes[7] = expiration.year;
    for (unsigned i = decimals(code); i < 8; ++i) {
        strike *= 10;
    }
    return {.name = std::bit_cast<std::uint64_t>(bytes), .strike_e8 = strike};
}

SeriesKey key_of(const wire::Series& series, bool gth) {
    return key_of(series.symbol, series.expiration, series.strike, series.strike_code, gth);
}

SeriesKey key_of(const wire::ShortQuote& quote, bool gth) {
    wire::Symbol symbol = wire::blank_symbol;
    std::copy(quote.symbol.begin(), quote.symbol.end(), symbol.begin());
    return key_of(symbol, quote.expiration, quote.strike, 'A', gth);
}

SeriesKey key_of(const wire::LongQuote& quote, bool gth) {
    return key_of(quote.series, gth);
}

char code_of(const wire::ShortQuote& /*quote*/) {
    return 'B';
}

char code_of(const wire::LongQuote& quote) {
    return quote.price_code;
}

class Comparison {
  public:
    Comparison(const std::vector<Event>& event, const wire::Message& message, bool gth)
        : event_(event),
          head_(event.front().header),
          body_(event.front().body),
          header_(message.header),
          gth_(gth) {
        same("participant", head_.participant, header_.participant);
        same("type", head_.type, header_.type);
        same("indicator", head_.indicator, header_.indicator);
        same("records", std::size_t{head_.records}, event.size());
        std::visit([this](const auto& body) { compare(body); }, message.body);
    }

    [[nodiscard]] const std::string& found() const { return found_; }

  private:
    template <class A, class B>
    void same(const char* what, const A& a, const B& b) {
        if (!(a == b) && found_.empty()) {
            found_ = what;
        }
    }

    void kind(EventKind wanted, std::size_t records, char code) {
        same("kind", head_.kind, wanted);
        same("records", event_.size(), records);
        same("code", head_.code, code);
    }

    void compare(const wire::LastSale& sale) {
        kind(EventKind::trade, 1, sale.price_code);
        same("series", body_.trade.series, key_of(sale.series, gth_));
        same("price", body_.trade.price, sale.price);
        same("volume", body_.trade.volume, sale.volume);
        same("trade_id", body_.trade.trade_id, sale.trade_id);
        same("reference", body_.trade.reference, header_.reference);
    }

    void compare(const wire::OpenInterest& interest) {
        kind(EventKind::open_interest, 1, 'I');
        same("series", body_.open_interest.series, key_of(interest.series, gth_));
        same("open_interest", body_.open_interest.open_interest, interest.open_interest);
    }

    void compare(const wire::EndOfDay& day) {
        kind(EventKind::end_of_day, 2, day.price_code);
        if (!found_.empty()) {
            return;
        }
        const auto& rest = rest_of<EndOfDayRest>(event_.front());
        same("series", body_.end_of_day.series, key_of(day.series, gth_));
        same("volume", body_.end_of_day.volume, day.volume);
        same("open_interest", body_.end_of_day.open_interest, day.open_interest);
        same("open", body_.end_of_day.open, day.open);
        same("high", body_.end_of_day.high, day.high);
        same("low", rest.low, day.low);
        same("last", rest.last, day.last);
        same("net_change", rest.net_change, day.net_change);
        same("underlying_code", rest.underlying_code, day.underlying_code);
        same("underlying", rest.underlying, day.underlying);
        same("bid", rest.bid, day.bid);
        same("offer", rest.offer, day.offer);
    }

    template <class Quote>
    void compare_quote(const Quote& quote) {
        const IndicatorEffect effect = effect_of(header_.indicator);
        const bool bid = effect.bid == BestEffect::appendage;
        const bool offer = effect.offer == BestEffect::appendage;
        kind(EventKind::quote, bid || offer ? 2 : 1, code_of(quote));
        same("series", body_.quote.series, key_of(quote, gth_));
        same("bid", body_.quote.bid, quote.bid);
        same("bid_size", body_.quote.bid_size, quote.bid_size);
        same("offer", body_.quote.offer, quote.offer);
        same("offer_size", body_.quote.offer_size, quote.offer_size);
        if (event_.size() == 2) {
            const auto& rest = rest_of<QuoteBest>(event_.front());
            compare_best(rest.bid, quote.best_bid, bid);
            compare_best(rest.offer, quote.best_offer, offer);
            same("transaction_id", rest.transaction_id, header_.transaction_id);
            same("reference", rest.reference, header_.reference);
        }
    }

    void compare_best(const Best& best, const wire::Appendage& sent, bool present) {
        same("best participant", best.participant, present ? sent.participant : '\0');
        same("best price", best.price, present ? sent.price : 0);
        same("best size", best.size, present ? sent.size : 0);
        same("best code", best.code, present ? sent.code : 'I');
    }

    void compare(const wire::LongQuote& quote) { compare_quote(quote); }

    void compare(const wire::ShortQuote& quote) { compare_quote(quote); }

    void compare(const wire::Text& text) {
        const std::size_t length = text.text.size();
        kind(EventKind::text, length <= 30 ? 1 : 2 + (length - 31) / 64, 'I');
        same("length", std::size_t{body_.text.length_bytes}, length);
        if (found_.empty()) {
            std::string said{body_.text.text, std::min<std::size_t>(length, 30)};
            for (std::size_t i = 1; i < event_.size(); ++i) {
                said.append(reinterpret_cast<const char*>(&event_[i]), 64);
            }
            said.resize(length);
            same("text", said, text.text);
        }
    }

    void compare(const wire::Control& /*control*/) {
        kind(EventKind::control, 1, 'I');
        const Forget forget = header_.type == 'P'   ? Forget::quotes
                              : header_.type == 'C' ? Forget::day
                                                    : Forget::nothing;
        same("forget", body_.control.forget, forget);
    }

    void compare(const wire::SeriesMap& map) {
        kind(EventKind::series_map, 1, 'I');
        same("series", body_.series_map.series, key_of(map.series, gth_));
        same("mapped_line", body_.series_map.mapped_line, map.mapped_line);
    }

    void compare(const wire::Underlying& underlying) {
        kind(EventKind::underlying, 1, underlying.code);
        const bool two = header_.type == 'I';
        const SeriesKey key = key_of(underlying.symbol, {}, 0, 'I', false);
        same("symbol", body_.underlying.symbol, key.symbol_word());
        same("value", body_.underlying.value, two ? 0 : underlying.first);
        same("bid", body_.underlying.bid, two ? underlying.first : 0);
        same("offer", body_.underlying.offer, two ? underlying.second : 0);
    }

    const std::vector<Event>& event_;
    const Header& head_;
    const Event::Body& body_;
    const wire::Header& header_;
    bool gth_;
    std::string found_;
};

Header base_of(const Block& block) {
    Header base;
    base.line = 17;
    base.session = block.session;
    base.ts_exchange_ns = block.ts_exchange_ns;
    base.ts_receive_ns = 99;
    return base;
}

}  // namespace

std::vector<std::byte> encode(const wire::DecodedBlock& parsed) {
    std::vector<std::byte> bytes(block::bytes_max);
    BlockBuilder{bytes}.begin(parsed.header);
    bytes.resize(block::header_bytes);
    for (const wire::Message& message : parsed.messages) {
        bytes.resize(bytes.size() + encoded_bytes(message));
        encode(bytes.data() + bytes.size() - encoded_bytes(message), message);
    }
    bytes.insert(bytes.end(), parsed.tail.begin(), parsed.tail.end());
    put<block::size>(bytes.data(), static_cast<std::uint16_t>(bytes.size()));
    put<block::messages>(bytes.data(), parsed.messages_count);
    fix_checksum(bytes);
    return bytes;
}

namespace {

/// Compares the results of both parsers for the block as a whole.
std::string compare_blocks(const OpenResult& result, const Block& block, const Parsed& parsed) {
    if (result.accepted != parsed.block.has_value() || result.reasons != parsed.result.reasons) {
        return "verdict";
    }
    if (!result.accepted) {
        return result.reasons == 0 ? "refused without a reason" : "";
    }
    if (encode(*parsed.block) != std::vector<std::byte>(block.bytes.begin(), block.bytes.end())) {
        return "encoded again, the bytes differ";
    }
    const bool cut = block.decodable < block.messages;
    if (cut && (result.reasons & ~remarks) == 0) {
        return "undecodable without a reason";
    }
    return parsed.block->messages.size() == block.decodable ? "" : "decodable";
}

/// Compares all events of an accepted block with its messages.
std::string compare_events(const Collector& collector, const Block& block, const Parsed& parsed,
                           bool gth) {
    if (collector.messages.size() != block.decodable) {
        return "events";
    }
    for (unsigned i = 0; i < block.decodable; ++i) {
        const auto& event = collector.messages[i];
        const Header& header = event.front().header;
        if (header.sequence != number_of(*parsed.block, i) || header.line != 17 ||
            header.ts_exchange_ns != time_ns_of(parsed.block->header) ||
            header.ts_receive_ns != 99 || header.session != parsed.block->header.session ||
            header.venue != Venue::opra || header.flags != 0) {
            return fmt::format("message {}: header", i);
        }
        if (const auto what = difference(event, parsed.block->messages[i], gth); !what.empty()) {
            return fmt::format("message {}: {}", i, what);
        }
    }
    return {};
}

/// Whether decode_fast() must accept the block, judged by the full parser's result.
bool should_decode_fast(const OpenResult& result, const Block& block, const Parsed& parsed) {
    constexpr std::uint32_t of_no_account = reason_bit(BlockReject::bytes_after_block) |
                                            reason_bit(BlockReject::retransmission_unknown);
    constexpr std::uint64_t numbers = std::uint64_t{1} << 32;
    return (result.reasons & ~of_no_account) == 0 &&
           std::uint64_t{block.sequence} + block.messages <= numbers &&
           std::all_of(parsed.block->messages.begin(), parsed.block->messages.end(),
                       [](const wire::Message& message) {
                           return std::string_view{"kqaYdfR"}.find(message.category()) !=
                                  std::string_view::npos;
                       });
}

/// Checks that decode_fast() decodes all messages of a block or none, and gives the same
/// events.
std::string fast_path_disagreement(std::span<const std::byte> exact, bool verify_checksum,
                                   const OpenResult& result, const Parsed& parsed, bool gth) {
    Block block;
    Collector collector{true};
    if (!Opra::open_repair(exact, verify_checksum, block).accepted) {
        return "opened: no, checked: yes";
    }
    const bool went = Opra::decode_fast(block, base_of(block), gth, collector);
    if (went != should_decode_fast(result, block, parsed)) {
        return fmt::format("took the fast path: {}", went);
    }
    if (!went) {
        return collector.messages.empty() ? "" : "refused by the fast path, but committed";
    }
    if (!Opra::begins_with_data(block)) {
        return "accepted by the fast path, but begins with a control";
    }
    block.decodable = block.messages;
    return compare_events(collector, block, parsed, gth);
}

}  // namespace

Collector decode_all(std::span<const std::byte> payload, bool gth, bool tests) {
    Opra::Scratch scratch;
    Block block;
    Collector collector{tests};
    if (Opra::check(payload, false, scratch, block).accepted) {
        Opra::decode(block, 0, block.decodable, base_of(block), gth, collector);
    }
    return collector;
}

std::string difference(const std::vector<Event>& event, const wire::Message& message, bool gth) {
    return Comparison{event, message, gth}.found();
}

std::string disagreement(std::span<const std::byte> payload, bool verify_checksum) {
    const std::vector<std::byte> exact(payload.begin(), payload.end());
    Opra::Scratch scratch;
    Block block;
    const OpenResult result = Opra::check(exact, verify_checksum, scratch, block);
    const Parsed parsed = parse_block(exact, verify_checksum);
    std::string found = compare_blocks(result, block, parsed);
    // If the checksum is not verified, it may be wrong, and encoding then corrects it.
    const bool repaired = !verify_checksum && found.starts_with("encoded");
    if (!result.accepted || (!found.empty() && !repaired)) {
        return found;
    }
    const bool gth = block.sequence % 2 == 0;
    if (auto what = fast_path_disagreement(exact, verify_checksum, result, parsed, gth);
        !what.empty()) {
        return what;
    }
    for (const bool reserves : {true, false}) {
        Collector collector{true, reserves};
        Opra::decode(block, 0, block.decodable, base_of(block), gth, collector);
        if (auto what = compare_events(collector, block, parsed, gth); !what.empty()) {
            return what;
        }
    }
    return {};
}

}  // namespace pinstrike::feed::opra
