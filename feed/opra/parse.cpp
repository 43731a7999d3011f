// path: cold
#include "feed/opra/parse.h"

#include "feed/opra/wire_fields.h"

#include <variant>

namespace pinstrike::feed::opra {

namespace {

/// Makes the body one of this category, without its fields. No body has the category: it stays.
template <class... Bodies>
void begin_body(std::variant<Bodies...>& body, char category) {
    static_cast<void>(
        ((Bodies::category == category && (body.template emplace<Bodies>(), true)) || ...));
}

/// The message at `m`, which inspect_message() found decodable.
wire::Message parse_message(const std::byte* m) {
    wire::Message message;
    begin_body(message.body, get_char<message::category>(m));
    pass_fields(m, message.header);
    std::visit([m](auto& body) { pass_fields(m, body); }, message.body);
    return message;
}

}  // namespace

Parsed parse_block(std::span<const std::byte> payload, bool verify_checksum) {
    Opra::Scratch scratch;
    Block checked;
    Parsed parsed;
    parsed.result = Opra::check(payload, verify_checksum, scratch, checked);
    if (!parsed.result.accepted) {
        return parsed;
    }
    const std::byte* start = checked.bytes.data();
    wire::DecodedBlock& whole = parsed.block.emplace();
    whole.header = {.retransmission = get_char<block::retransmission>(start),
                    .session = checked.session,
                    .sequence = static_cast<std::uint32_t>(checked.sequence),
                    .seconds = get<block::seconds>(start),
                    .nanoseconds = get<block::nanoseconds>(start)};
    whole.messages_count = static_cast<std::uint8_t>(checked.messages);
    std::size_t end = block::header_bytes;
    for (unsigned i = 0; i < checked.decodable; ++i) {
        const std::size_t at = checked.places[i].offset;
        end = at + inspect_message(start + at, checked.bytes.size() - at).bytes;
        whole.messages.push_back(parse_message(start + at));
    }
    const auto tail = checked.bytes.subspan(end);
    whole.tail.assign(tail.begin(), tail.end());
    return parsed;
}

}  // namespace pinstrike::feed::opra
