// path: cold
#include "feed/opra/json.h"

#include "feed/event/decimal.h"
#include "feed/event/event.h"

#include <fmt/format.h>

#include <iterator>

namespace pinstrike::feed::opra {

namespace {

template <class Integer>
void append_integer(std::string& out, Integer value) {
    const fmt::format_int digits{value};
    out.append(digits.data(), digits.size());
}

/// Writes bytes above 127 as escaped U+0080 to U+00FF, so that the output is ASCII, because many
/// readers take U+0085 for the end of a line.
void append_escaped(std::string& out, std::string_view bytes) {
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte >= 0x20 && byte < 0x7F) {
            out += c;
        } else {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
        }
    }
}

class JsonWriter {
  public:
    explicit JsonWriter(std::string& out) : out_(out) { out_ += '{'; }

    void end() { out_ += '}'; }

    void text(std::string_view name, std::string_view value) {
        key(name);
        out_ += '"';
        append_escaped(out_, value);
        out_ += '"';
    }

    void character(std::string_view name, char value) { text(name, {&value, 1}); }

    template <class Integer>
    void number(std::string_view name, Integer value) {
        key(name);
        append_integer(out_, value);
    }

    void boolean(std::string_view name, bool value) {
        key(name);
        out_ += value ? "true" : "false";
    }

    void decimal(std::string_view name, std::int64_t value, char code) {
        key(name);
        out_ += '"';
        append_decimal(out_, value, decimals(code));
        out_ += '"';
    }

    void best(std::string_view name, const wire::Appendage& best) {
        key(name);
        JsonWriter inner{out_};
        inner.character("participant", best.participant);
        inner.decimal("price", best.price, best.code);
        inner.number("size", best.size);
        inner.end();
    }

  private:
    void key(std::string_view name) {
        if (!first_) {
            out_ += ',';
        }
        first_ = false;
        out_ += '"';
        out_ += name;
        out_ += "\":";
    }

    std::string& out_;
    bool first_ = true;
};

}  // namespace

std::string date_text(const wire::Expiration& expiration) {
    const int month = expiration.letter - (is_call(expiration) ? 'A' : 'M') + 1;
    return fmt::format("{}-{:02}-{:02}", 2000 + expiration.year, month, expiration.day);
}

void append_json(std::string& out, Origin origin, const wire::Block& block, std::size_t index) {
    const wire::Message& message = block.messages[index];
    const wire::Header& header = message.header;
    JsonWriter json{out};
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
