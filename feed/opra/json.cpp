// path: cold
#include "feed/event/decimal.h"
#include "feed/event/event.h"
#include "feed/event/json_writer.h"
#include "feed/opra/datagram_lines.h"

#include <fmt/format.h>

namespace pinstrike::feed::opra {

namespace {

/// A JSON object with the members that write_fields() adds.
class MessageJson : public JsonWriter {
  public:
    using JsonWriter::JsonWriter;

    void decimal(std::string_view name, std::int64_t value, char code) {
        text(name, decimal_text(value, decimals(code)));
    }

    void best(std::string_view name, const wire::Appendage& best) {
        JsonWriter inner = object(name);
        inner.character("participant", best.participant);
        inner.text("price", decimal_text(best.price, decimals(best.code)));
        inner.number("size", best.size);
        inner.end();
    }
};

}  // namespace

std::string date_text(const wire::Expiration& expiration) {
    const int month = expiration.letter - (is_call(expiration) ? 'A' : 'M') + 1;
    return fmt::format("{}-{:02}-{:02}", 2000 + expiration.year, month, expiration.day);
}

void append_json(std::string& out, Origin origin, const wire::DecodedBlock& block,
                 std::size_t index) {
    const wire::Message& message = block.messages[index];
    const wire::Header& header = message.header;
    MessageJson json{out};
    json.number("line", origin.line);
    json.character("stream", origin.stream);
    json.number("seq", number_of(block, index));
    json.number("ts_ns", time_ns_of(block.header));
    json.number("session", block.header.session);
    json.boolean("retransmitted", block.header.retransmission == 'V');
    json.character("category", message.category());
    json.character("type", header.type);
    json.character("indicator", header.indicator);
    json.character("participant", header.participant);
    json.number("transaction_id", header.transaction_id);
    json.number("reference", header.reference);
    std::visit([&](const auto& body) { write_fields(json, header, body); }, message.body);
    json.end();
    out += '\n';
}

void append_json(std::string& out, const BlockError& error) {
    JsonWriter json{out};
    json.text("error", error.reason);
    json.number("line", error.origin.line);
    json.character("stream", error.origin.stream);
    if (error.sequence) {
        json.number("seq", *error.sequence);
    }
    json.number("packet", error.packet);
    json.end();
    out += '\n';
}

}  // namespace pinstrike::feed::opra
