// path: cold
#include "actors/book/book_json.h"

#include "config/whole_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace pinstrike::actors {

namespace {

using Text = fmt::memory_buffer;

void add(Text& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

/// Adds a character of the feed to a JSON string. A byte above 127 becomes U+0080 to U+00FF.
void add_byte(Text& out, char character) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte == '"' || byte == '\\') {
        out.push_back('\\');
        out.push_back(character);
    } else if (byte < 0x20 || byte == 0x7F) {
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    } else if (byte < 0x80) {
        out.push_back(character);
    } else {
        out.push_back(static_cast<char>(0xC0 | byte >> 6));
        out.push_back(static_cast<char>(0x80 | (byte & 0x3F)));
    }
}

void add_symbol(Text& out, const feed::SeriesKey& key) {
    const auto bytes = key.bytes();
    std::size_t length = feed::SeriesKey::symbol_bytes;
    while (length > 0 && bytes[length - 1] == ' ') {
        --length;
    }
    for (std::size_t i = 0; i < length; ++i) {
        add_byte(out, bytes[i]);
    }
}

void add_decimal(Text& out, std::int64_t price_e8) {
    constexpr std::uint64_t one = 100'000'000;
    const auto raw = static_cast<std::uint64_t>(price_e8);
    const std::uint64_t magnitude = price_e8 < 0 ? ~raw + 1 : raw;
    if (price_e8 < 0) {
        out.push_back('-');
    }
    fmt::format_to(std::back_inserter(out), "{}", magnitude / one);
    if (std::uint64_t rest = magnitude % one; rest != 0) {
        int places = 8;
        for (; rest % 10 == 0; --places) {
            rest /= 10;
        }
        fmt::format_to(std::back_inserter(out), ".{:0{}}", rest, places);
    }
}

void add_price(Text& out, const Price& price) {
    out.push_back('"');
    add_decimal(out, price.e8());
    out.push_back('"');
}

void add_optional_price(Text& out, std::string_view key, const std::optional<Price>& price) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":", key);
    if (price) {
        add_price(out, *price);
    } else {
        add(out, "null");
    }
}

void add_side(Text& out, std::string_view key, const std::optional<BestQuote>& best) {
    fmt::format_to(std::back_inserter(out), ",\"{}\":", key);
    if (!best) {
        add(out, "null");
        return;
    }
    add(out, "{\"participant\":\"");
    add_byte(out, best->participant);
    add(out, "\",\"price\":");
    add_price(out, best->price);
    fmt::format_to(std::back_inserter(out), ",\"size\":{}}}", best->size);
}

void add_last(Text& out, const std::optional<LastTrade>& last) {
    add(out, ",\"last\":");
    if (!last) {
        add(out, "null");
        return;
    }
    add(out, "{\"participant\":\"");
    add_byte(out, last->participant);
    add(out, "\",\"price\":");
    add_price(out, last->price);
    fmt::format_to(std::back_inserter(out), ",\"size\":{},\"type\":\"", last->size);
    add_byte(out, last->type);
    add(out, "\"}");
}

void add_series(Text& out, const SeriesState& state) {
    add(out, "{\"symbol\":\"");
    add_symbol(out, state.key);
    fmt::format_to(std::back_inserter(out),
                   "\",\"expiration\":\"{:04}-{:02}-{:02}\",\"right\":\"{}\",\"strike\":\"",
                   state.key.year(), state.key.month(), state.key.day(),
                   state.key.call() ? 'C' : 'P');
    add_decimal(out, state.key.strike_e8);
    fmt::format_to(std::back_inserter(out), "\",\"line\":{}", state.line);
    add_side(out, "best_bid", state.bid);
    add_side(out, "best_offer", state.offer);
    fmt::format_to(std::back_inserter(out), ",\"bid_state\":\"{}\",\"offer_state\":\"{}\"",
                   name_of(state.bid_state), name_of(state.offer_state));
    add_optional_price(out, "open", state.open);
    add_optional_price(out, "high", state.high);
    add_optional_price(out, "low", state.low);
    add_last(out, state.last);
    fmt::format_to(std::back_inserter(out), ",\"volume\":{},\"trades\":{},\"quotes\":{}",
                   state.volume, state.trades, state.quotes);
    if (state.open_interest) {
        fmt::format_to(std::back_inserter(out), ",\"open_interest\":{}}}", *state.open_interest);
    } else {
        add(out, ",\"open_interest\":null}");
    }
}

/// A series and its sort key in the file.
struct Listed {
    std::uint64_t name;  ///< symbol, year, month, day, right, most significant first
    std::int64_t strike_e8;
    feed::SeriesKey key;
    const Book* book;

    [[nodiscard]] auto order() const { return std::tuple{name, strike_e8, key.gth()}; }
};

std::uint64_t sortable_name(const feed::SeriesKey& key) {
    const auto bytes = key.bytes();
    std::uint64_t name = 0;
    for (std::size_t i = 0; i < feed::SeriesKey::symbol_bytes; ++i) {
        name = name << 8 | static_cast<unsigned char>(bytes[i]);
    }
    name = name << 8 | (key.year() - 2000);
    name = name << 4 | key.month();
    name = name << 8 | key.day();
    return name << 1 | (key.call() ? 0 : 1);
}

std::vector<Listed> list_all(std::span<const Book* const> books) {
    std::vector<Listed> listed;
    for (const Book* const book : books) {
        book->for_each_series([&](const feed::SeriesKey& key) {
            listed.push_back({sortable_name(key), key.strike_e8, key, book});
        });
    }
    std::sort(listed.begin(), listed.end(),
              [](const Listed& a, const Listed& b) { return a.order() < b.order(); });
    return listed;
}

bool flush(Text& text, std::FILE* file) {
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    text.clear();
    return written;
}

/// False, with errno set, if not everything was written.
bool write_all(std::span<const Book* const> books, std::FILE* file) {
    constexpr std::size_t chunk_bytes = 1 << 20;
    Text text;
    for (const Listed& series : list_all(books)) {
        add_series(text, *series.book->find(series.key));
        text.push_back('\n');
        if (text.size() >= chunk_bytes && !flush(text, file)) {
            return false;
        }
    }
    return flush(text, file);
}

}  // namespace

std::string series_json(const SeriesState& state) {
    Text text;
    add_series(text, state);
    return fmt::to_string(text);
}

std::string normalised_decimal(std::int64_t price_e8) {
    Text text;
    add_decimal(text, price_e8);
    return fmt::to_string(text);
}

void write_books(std::span<const Book* const> books, const std::string& path, Problems& problems) {
    if (!write_whole(path, [&](std::FILE* file) { return write_all(books, file); })) {
        const int error = errno;
        tell(problems, path, fmt::format("cannot write the book: {}", std::strerror(error)),
             remedy_of(error));
    }
}

}  // namespace pinstrike::actors
