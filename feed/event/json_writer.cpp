// path: cold
#include "feed/event/json_writer.h"

#include <iterator>

namespace pinstrike::feed {

void JsonWriter::text(std::string_view name, std::string_view value) {
    key(name);
    out_ += '"';
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out_ += '\\';
            out_ += c;
        } else if (byte >= 0x20 && byte < 0x7F) {
            out_ += c;
        } else {
            fmt::format_to(std::back_inserter(out_), "\\u{:04x}", byte);
        }
    }
    out_ += '"';
}

void JsonWriter::key(std::string_view name) {
    if (!first_) {
        out_ += ',';
    }
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
}

}  // namespace pinstrike::feed
