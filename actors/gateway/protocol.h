// path: cold
//
// The text lines of a DBN live session: what the gateway greets with, and what a client asks for.
// A line is pairs key=value, joined by '|'. Lines come from outside: unknown keys are passed over,
// and everything else that is wrong is reported with what was found and expected.
#pragma once

#include "feed/dbn/schema.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::gateway {

/// What is done for a client that reads too slowly, if the schema leaves the choice.
enum class SlowReader : std::uint8_t { skip, warn };

struct LoginRequest {
    std::string auth;  ///< lower-case hex of the answer, '-', the last characters of the key
    bool ts_out = false;
    bool zstd = false;
    unsigned heartbeat_seconds = 30;
    SlowReader slow_reader = SlowReader::skip;
    std::string client;
};

/// Which instruments a line names.
struct SymbolList {
    feed::dbn::SymbolType type = feed::dbn::SymbolType::raw_symbol;
    bool all = false;
    std::vector<std::string> symbols;  ///< upper case
};

/// What a line after the login asks for.
struct Request {
    enum class Kind : std::uint8_t { subscribe, unsubscribe, start };

    Kind kind = Kind::subscribe;
    feed::dbn::Schema schema = feed::dbn::Schema::trades;
    SymbolList list;
    bool is_last = true;

    // Of subscribe.

    bool has_start = false;
    std::int64_t start_ns = 0;  ///< 0: all there is
    bool snapshot = false;
    std::uint32_t id = 0;
};

/// A value, or the text of an error.
template <class T>
struct Parsed {
    std::optional<T> value;
    std::string error;
};

/// A decimal number below 2^32: an instrument id as a symbol, or the id of a request.
[[nodiscard]] std::optional<std::uint32_t> number_of(std::string_view text);

[[nodiscard]] Parsed<LoginRequest> parse_login(std::string_view line);
[[nodiscard]] Parsed<Request> parse_request(std::string_view line);

/// A text that can stand in a line or record: printable ASCII without '|', cut to `bytes_max`.
[[nodiscard]] std::string protocol_text(std::string_view text, std::size_t bytes_max);

}  // namespace pinstrike::actors::gateway
