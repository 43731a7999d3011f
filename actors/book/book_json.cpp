// path: cold
#include "actors/book/book_json.h"

#include "config/whole_file.h"
#include "feed/event/decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace pinstrike::actors {

namespace {

std::string symbol_of(const feed::SeriesKey& key) {
    const auto bytes = key.bytes();
    const std::string_view padded{bytes.data(), feed::SeriesKey::symbol_bytes};
    return std::string{padded.substr(0, padded.find_last_not_of(' ') + 1)};
}

void add_price(feed::JsonWriter& json, std::string_view name, const std::optional<Price>& price) {
    if (price) {
        json.text(name, feed::normalised_decimal(price->e8()));
    } else {
        json.null(name);
    }
}

/// A best quote, or the last trade, which also has a type.
template <class Stated>
void add_stated(feed::JsonWriter& json, std::string_view name,
                const std::optional<Stated>& stated) {
    if (!stated) {
        json.null(name);
        return;
    }
    feed::JsonWriter inner = json.object(name);
    inner.character("participant", stated->participant);
    inner.text("price", feed::normalised_decimal(stated->price.e8()));
    inner.number("size", stated->size);
    if constexpr (std::is_same_v<Stated, LastTrade>) {
        inner.character("type", stated->type);
    }
    inner.end();
}

void append_series(std::string& out, const SeriesState& state) {
    feed::JsonWriter json{out};
    add_series(json, state);
    json.end();
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

bool flush(std::string& text, std::FILE* file) {
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    text.clear();
    return written;
}

/// False, with errno set, if not everything was written.
bool write_all(std::span<const Book* const> books, std::FILE* file) {
    constexpr std::size_t chunk_bytes = 1 << 20;
    std::string text;
    for (const Listed& series : list_all(books)) {
        append_series(text, *series.book->find(series.key));
        text += '\n';
        if (text.size() >= chunk_bytes && !flush(text, file)) {
            return false;
        }
    }
    return flush(text, file);
}

}  // namespace

void add_series(feed::JsonWriter& json, const SeriesState& state) {
    const feed::SeriesKey& key = state.key;
    json.text("symbol", symbol_of(key));
    json.text("expiration", fmt::format("{:04}-{:02}-{:02}", key.year(), key.month(), key.day()));
    json.character("right", key.call() ? 'C' : 'P');
    json.text("strike", feed::normalised_decimal(key.strike_e8));
    json.number("line", state.line);
    add_stated(json, "best_bid", state.bid);
    add_stated(json, "best_offer", state.offer);
    json.text("bid_state", name_of(state.bid_state));
    json.text("offer_state", name_of(state.offer_state));
    add_price(json, "open", state.open);
    add_price(json, "high", state.high);
    add_price(json, "low", state.low);
    add_stated(json, "last", state.last);
    json.number("volume", state.volume);
    json.number("trades", state.trades);
    json.number("quotes", state.quotes);
    if (state.open_interest) {
        json.number("open_interest", *state.open_interest);
    } else {
        json.null("open_interest");
    }
}

std::string series_json(const SeriesState& state) {
    std::string text;
    append_series(text, state);
    return text;
}

void write_books(std::span<const Book* const> books, const std::string& path, Problems& problems) {
    if (!write_whole(path, [&](std::FILE* file) { return write_all(books, file); })) {
        const int error = errno;
        add_problem(problems, path, fmt::format("cannot write the book: {}", std::strerror(error)),
                    remedy_of(error));
    }
}

}  // namespace pinstrike::actors
