// path: cold
#include "actors/gateway/protocol.h"

#include "actors/gateway/limits.h"
#include "config/time_units.h"
#include "config/yaml.h"
#include "feed/dbn/records.h"
#include "feed/dbn/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

using feed::dbn::SymbolType;

/// The pairs of a line. A pair without '=' has an empty value; of two with one key the first
/// counts.
class Pairs {
  public:
    explicit Pairs(std::string_view line) {
        while (!line.empty()) {
            const std::size_t end = std::min(line.find('|'), line.size());
            const std::string_view pair = line.substr(0, end);
            const std::size_t equals = std::min(pair.find('='), pair.size());
            pairs_.emplace_back(pair.substr(0, equals),
                                pair.substr(std::min(equals + 1, pair.size())));
            line.remove_prefix(std::min(end + 1, line.size()));
        }
    }

    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
        for (const auto& [name, value] : pairs_) {
            if (name == key) {
                return value;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string_view first_key() const {
        return pairs_.empty() ? std::string_view{} : pairs_.front().first;
    }

  private:
    std::vector<std::pair<std::string_view, std::string_view>> pairs_;
};

std::string wrong(std::string_view key, std::optional<std::string_view> found,
                  std::string_view expected) {
    return fmt::format("{}: found {}, expected {}", key, found ? shown(*found) : "nothing",
                       expected);
}

/// Checks that a key, if it is there, has one of two values. `is_second`: it has the second; an
/// absent key leaves it as it is.
std::string read_either(const Pairs& pairs, std::string_view key, std::string_view first,
                        std::string_view second, bool& is_second) {
    const auto found = pairs.find(key);
    if (found && *found != first && *found != second) {
        return wrong(key, found,
                     first == second ? std::string{first} : fmt::format("{} or {}", first, second));
    }
    is_second = found ? *found == second : is_second;
    return "";
}

std::string read_flag(const Pairs& pairs, std::string_view key, bool& into) {
    return read_either(pairs, key, "0", "1", into);
}

std::string read_slow_reader(const Pairs& pairs, SlowReader& into) {
    const auto found = pairs.find("slow_reader_behavior");
    if (found && *found == "warn") {
        into = SlowReader::warn;
    } else if (found && *found != "skip" && *found != "drop") {  // drop: clients of early 2026
        return wrong("slow_reader_behavior", found, "skip or warn");
    }
    return "";
}

std::string read_heartbeat(const Pairs& pairs, unsigned& seconds) {
    const auto found = pairs.find("heartbeat_interval_s");
    if (!found) {
        return "";
    }
    const auto value = number_of(*found);
    if (!value || *value < heartbeat_seconds_min || *value > heartbeat_seconds_max) {
        return wrong(
            "heartbeat_interval_s", found,
            fmt::format("a number from {} to {}", heartbeat_seconds_min, heartbeat_seconds_max));
    }
    seconds = *value;
    return "";
}

std::string read_schema(const Pairs& pairs, feed::dbn::Schema& into) {
    const auto found = pairs.find("schema");
    const auto schema = feed::dbn::schema_of(found.value_or(""));
    if (schema) {
        into = *schema;
        return "";
    }
    if (found && *found == "status") {
        return "schema status: no venue here sends messages about the trading state of a series";
    }
    std::string names;
    for (const std::string_view name : feed::dbn::schema_names) {
        names.append(names.empty() ? "" : ", ").append(name);
    }
    return wrong("schema", found, "one of " + names);
}

std::string trimmed_upper(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(begin);
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    std::string upper{text};
    std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return upper;
}

std::string read_symbols(const Pairs& pairs, SymbolList& list) {
    const auto type = pairs.find("stype_in");
    const std::string_view word = type.value_or("raw_symbol");
    if (word == "instrument_id") {
        list.type = SymbolType::instrument_id;
    } else if (word == "parent") {
        list.type = SymbolType::parent;
    } else if (word != "raw_symbol") {
        return wrong("stype_in", type, "raw_symbol, instrument_id or parent");
    }
    const auto found = pairs.find("symbols");
    std::string_view rest = found.value_or("");
    while (!rest.empty() && list.symbols.size() <= symbols_max) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        // A symbol that was cut here is refused for its length.
        list.symbols.push_back(
            trimmed_upper(rest.substr(0, end)).substr(0, feed::dbn::symbol_bytes));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (list.symbols.empty() || list.symbols.size() > symbols_max) {
        return fmt::format("symbols: found {} of them, expected 1 to {}, or ALL_SYMBOLS",
                           list.symbols.empty() ? "none" : "more", symbols_max);
    }
    list.all = list.symbols.size() == 1 && list.symbols.front() == "ALL_SYMBOLS";
    return "";
}

/// Nanoseconds since the Unix epoch, or ISO 8601: 2026-11-27T14:30:00, with or without a fraction
/// of a second, which is cut, and Z.
std::optional<std::int64_t> time_of(std::string_view text) {
    std::int64_t ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ns);
    if (error == std::errc{} && end == text.data() + text.size()) {
        return ns >= 0 ? std::optional{ns} : std::nullopt;
    }
    const std::string copy{text};
    std::tm time{};
    const char* const rest = ::strptime(copy.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
    if (rest == nullptr) {
        return std::nullopt;
    }
    std::string_view ending{rest};
    if (ending.starts_with('.')) {
        ending.remove_prefix(std::min(ending.find_first_not_of("0123456789", 1), ending.size()));
    }
    const std::int64_t seconds = ::timegm(&time);
    const bool fits = seconds >= 0 && seconds <= INT64_MAX / second_ns;
    return fits && (ending.empty() || ending == "Z") ? std::optional{seconds * second_ns}
                                                     : std::nullopt;
}

std::string read_start(const Pairs& pairs, Request& request) {
    const auto found = pairs.find("start");
    request.has_start = found.has_value();
    const auto time = found ? time_of(*found) : std::optional<std::int64_t>{0};
    request.start_ns = time.value_or(0);
    return time ? "" : wrong("start", found, "nanoseconds since 1970, or a time as of ISO 8601");
}

std::string read_id(const Pairs& pairs, std::uint32_t& into) {
    const auto found = pairs.find("id");
    const auto value = found ? number_of(*found) : std::optional{into};
    into = value.value_or(0);
    return value ? "" : wrong("id", found, "a number below 2^32");
}

template <class T>
Parsed<T> result_of(T value, const std::string& error) {
    return error.empty() ? Parsed<T>{std::move(value), ""} : Parsed<T>{{}, error};
}

}  // namespace

std::optional<std::uint32_t> number_of(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional{value}
                                                                    : std::nullopt;
}

Parsed<LoginRequest> parse_login(std::string_view line) {
    const Pairs pairs{line};
    LoginRequest request;
    const auto auth = pairs.find("auth");
    request.auth = auth.value_or("");
    request.client = protocol_text(pairs.find("client").value_or(""), 128);
    bool ignored = false;
    std::string error = auth ? "" : wrong("auth", auth, "the answer to the challenge");
    const auto check = [&error](std::string found) { error = error.empty() ? found : error; };
    check(read_either(pairs, "dataset", feed::dbn::dataset, feed::dbn::dataset, ignored));
    check(read_either(pairs, "encoding", "dbn", "dbn", ignored));
    check(read_either(pairs, "compression", "none", "zstd", request.zstd));
    check(read_flag(pairs, "ts_out", request.ts_out));
    check(read_heartbeat(pairs, request.heartbeat_seconds));
    check(read_slow_reader(pairs, request.slow_reader));
    return result_of(std::move(request), error);
}

Parsed<Request> parse_request(std::string_view line) {
    const Pairs pairs{line};
    Request request;
    if (pairs.first_key() == "start_session") {
        request.kind = Request::Kind::start;
        return {request, ""};
    }
    const bool adds = pairs.first_key() != "unsubscribe";
    request.kind = adds ? Request::Kind::subscribe : Request::Kind::unsubscribe;
    std::string error;
    const auto check = [&error](std::string found) { error = error.empty() ? found : error; };
    check(read_schema(pairs, request.schema));
    check(adds ? read_start(pairs, request) : "");
    check(read_symbols(pairs, request.list));
    check(adds ? read_flag(pairs, "snapshot", request.snapshot) : "");
    check(read_flag(pairs, "is_last", request.is_last));
    check(adds ? read_id(pairs, request.id) : "");
    check(request.has_start && request.snapshot
              ? "found start and snapshot, expected one of them at most"
              : "");
    return result_of(std::move(request), error);
}

std::string protocol_text(std::string_view text, std::size_t bytes_max) {
    std::string out{text.substr(0, bytes_max)};
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c < ' ' || c > '~' || c == '|'; }, ' ');
    return out;
}

}  // namespace pinstrike::actors::gateway
