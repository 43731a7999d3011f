// path: cold
//
// Messages as text for people: origin, time and category in columns, then the fields of the
// message.
#include "config/time_units.h"
#include "feed/event/decimal.h"
#include "feed/event/event.h"
#include "feed/opra/datagram_lines.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <iterator>

namespace pinstrike::feed::opra {

namespace {

/// Writes bytes that are not printable ASCII as \xNN, so that a message stays on one line.
void append_printable(std::string& out, std::string_view bytes) {
    for (const char c : bytes) {
        if (c >= ' ' && c <= '~') {
            out += c;
        } else {
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
}

class TextWriter {
  public:
    explicit TextWriter(std::string& out) : out_(out) {}

    void text(std::string_view name, std::string_view value) {
        key(name);
        append_printable(out_, value);
    }

    template <class Integer>
    void number(std::string_view name, Integer value) {
        key(name);
        fmt::format_to(std::back_inserter(out_), "{}", value);
    }

    void decimal(std::string_view name, std::int64_t value, char code) {
        key(name);
        append_decimal(out_, value, decimals(code));
    }

    void best(std::string_view name, const wire::Appendage& best) {
        key(name);
        append_decimal(out_, best.price, decimals(best.code));
        fmt::format_to(std::back_inserter(out_), "x{}@", best.size);
        append_printable(out_, {&best.participant, 1});
    }

  private:
    void key(std::string_view name) {
        out_ += ' ';
        out_ += name;
        out_ += '=';
    }

    std::string& out_;
};

}  // namespace

void append_text(std::string& out, Origin origin, const wire::DecodedBlock& block,
                 std::size_t index) {
    const wire::Message& message = block.messages[index];
    const wire::Header& header = message.header;
    // While a leap second is smeared, the nanoseconds may be a second or more.
    constexpr std::uint32_t second_ns = 1'000'000'000;
    const std::time_t seconds =
        std::time_t{block.header.seconds} + block.header.nanoseconds / second_ns;
    fmt::format_to(std::back_inserter(out), "{:>3}{} {:>10} {:%Y-%m-%dT%H:%M:%S}.{:09}Z {}",
                   origin.line, origin.stream, number_of(block, index), fmt::gmtime(seconds),
                   block.header.nanoseconds % second_ns,
                   block.header.retransmission == 'V' ? "V " : "");
    append_printable(out, {&header.participant, 1});
    fmt::format_to(std::back_inserter(out), " {:<13} [",
                   std::visit([](const auto& body) { return body.name; }, message.body));
    append_printable(out, {&header.type, 1});
    append_printable(out, {&header.indicator, 1});
    out += ']';
    TextWriter text{out};
    std::visit([&](const auto& body) { write_fields(text, header, body); }, message.body);
    out += '\n';
}

void append_text(std::string& out, const BlockError& error) {
    fmt::format_to(std::back_inserter(out), "{:>3}{} {:>10} packet {}: {}\n", error.origin.line,
                   error.origin.stream,
                   error.sequence ? std::to_string(*error.sequence) : std::string{"-"},
                   error.packet, error.reason);
}

}  // namespace pinstrike::feed::opra
