// path: cold
#include "actors/command/chain_output.h"

#include "actors/book/book_json.h"
#include "actors/publish/reader/value.h"
#include "config/wall_time.h"
#include "feed/event/decimal.h"
#include "feed/event/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace pinstrike::command {
namespace {

using Values = std::span<const pinstrike_value>;

constexpr std::string_view plain = "\x1b[0m";
constexpr std::string_view bold = "\x1b[1m";
constexpr std::string_view dim = "\x1b[2m";
constexpr std::string_view yellow = "\x1b[33m";

std::string date_text(std::uint32_t date) {
    return fmt::format("{:04}-{:02}-{:02}", date / 10000, date / 100 % 100, date % 100);
}

std::string_view state_text(const pinstrike_best& side) {
    return side.state == PINSTRIKE_SIDE_UNKNOWN ? "unknown"
           : side.state == PINSTRIKE_SIDE_STALE ? "stale"
                                                : "fresh";
}

std::string_view session_text(const pinstrike_key& key) {
    return key.gth != 0 ? "GTH" : "regular";
}

double number_of(std::int32_t value, unsigned decimals) {
    return value / std::pow(10.0, decimals);
}

/// "12.35 x 40 C", with a mark if it is stale.
std::string side_text(const pinstrike_value& value, const pinstrike_best& side) {
    if (value.old == PINSTRIKE_UNREADABLE || side.state == PINSTRIKE_SIDE_UNKNOWN) {
        return "?";
    }
    const std::string_view mark = side.state == PINSTRIKE_SIDE_STALE ? "*" : "";
    if (side.present == 0) {
        return fmt::format("{}-", mark);
    }
    return fmt::format("{}{} x {} {}", mark, feed::decimal_text(side.price, side.decimals),
                       side.size, side.participant);
}

/// The time since the latest message: "12ms", "3.4s", "5m", "2h".
std::string age_text(const pinstrike_value& value, std::int64_t now) {
    if (value.changed_ns == 0) {
        return "?";
    }
    const double seconds =
        static_cast<double>(std::max<std::int64_t>(now - value.changed_ns, 0)) / 1e9;
    if (seconds < 1) {
        return fmt::format("{:.0f}ms", seconds * 1e3);
    }
    if (seconds < 100) {
        return fmt::format("{:.1f}s", seconds);
    }
    if (seconds < 6000) {
        return fmt::format("{:.0f}m", seconds / 60);
    }
    return seconds < 360000 ? fmt::format("{:.0f}h", seconds / 3600)
                            : fmt::format("{:.0f}d", seconds / 86400);
}

std::string open_interest_text(const pinstrike_value& value) {
    return value.has_open_interest != 0 ? fmt::format("{}", value.open_interest) : "?";
}

/// The call and the put of one strike; null: the feed does not list it.
struct Row {
    std::int64_t strike_e8 = 0;
    const pinstrike_value* call = nullptr;
    const pinstrike_value* put = nullptr;
};

/// Values of one root, expiration and session.
struct ChainSection {
    const pinstrike_key* key = nullptr;
    std::vector<Row> rows;
};

bool same_section(const pinstrike_key& a, const pinstrike_key& b) {
    return std::string_view{a.root} == b.root && a.expiration == b.expiration && a.gth == b.gth;
}

std::vector<ChainSection> sections_of(Values values) {
    std::vector<ChainSection> sections;
    for (const pinstrike_value& value : values) {
        const auto found = std::ranges::find_if(sections.rbegin(), sections.rend(), [&](auto& one) {
            return same_section(*one.key, value.key);
        });
        ChainSection& section =
            found != sections.rend() ? *found : sections.emplace_back(ChainSection{&value.key, {}});
        if (section.rows.empty() || section.rows.back().strike_e8 != value.key.strike_e8) {
            section.rows.push_back({value.key.strike_e8, nullptr, nullptr});
        }
        (value.key.right == 'C' ? section.rows.back().call : section.rows.back().put) = &value;
    }
    return sections;
}

void keep_nearest(std::vector<ChainSection>& sections) {
    std::vector<ChainSection> kept;
    for (ChainSection& section : sections) {
        const bool later = std::ranges::any_of(kept, [&](const ChainSection& other) {
            return std::string_view{other.key->root} == section.key->root &&
                   other.key->gth == section.key->gth;
        });
        if (!later) {
            kept.push_back(std::move(section));
        }
    }
    sections = std::move(kept);
}

std::optional<double> mid(const pinstrike_value* value) {
    if (value == nullptr || value->bid.present == 0 || value->offer.present == 0) {
        return std::nullopt;
    }
    return (number_of(value->bid.price, value->bid.decimals) +
            number_of(value->offer.price, value->offer.decimals)) /
           2;
}

/// The row whose call and put cost most nearly the same; the middle row if no row has both.
std::size_t at_the_money(const std::vector<Row>& rows) {
    std::size_t best = rows.size() / 2;
    double least = -1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto call = mid(rows[i].call);
        const auto put = mid(rows[i].put);
        if (call && put && (least < 0 || std::abs(*call - *put) < least)) {
            least = std::abs(*call - *put);
            best = i;
        }
    }
    return best;
}

void keep_around(std::vector<Row>& rows, std::size_t count) {
    if (count == 0 || rows.size() <= count) {
        return;
    }
    const std::size_t middle = at_the_money(rows);
    const std::size_t first = std::min(middle - std::min(middle, count / 2), rows.size() - count);
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(first + count), rows.end());
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(first));
}

/// A cell of fixed width, in the colour of its side's state.
std::string cell(const pinstrike_value* value, const pinstrike_best* side, std::size_t width,
                 bool terminal) {
    const std::string text = value == nullptr ? "" : side_text(*value, *side);
    std::string padded = fmt::format("{:>{}}", text, width);
    if (!terminal || value == nullptr) {
        return padded;
    }
    const bool stale = side->state == PINSTRIKE_SIDE_STALE || value->old != PINSTRIKE_CURRENT;
    const bool weak = side->state == PINSTRIKE_SIDE_UNKNOWN || side->present == 0;
    return stale  ? fmt::format("{}{}{}", yellow, padded, plain)
           : weak ? fmt::format("{}{}{}", dim, padded, plain)
                  : padded;
}

void append_section(std::string& out, const ChainSection& section, const ChainView& view,
                    std::int64_t now) {
    constexpr std::size_t price_width = 17;
    const auto name = view.terminal ? bold : std::string_view{};
    const auto end = view.terminal ? plain : std::string_view{};
    out += fmt::format("\n{}{} {}{} {}\n", name, section.key->root,
                       date_text(section.key->expiration), end, session_text(*section.key));
    out += fmt::format("{:>7} {:>5} {:>{}} {:>{}}  {:^9}  {:>{}} {:>{}} {:>5} {:>7}\n", "OI", "AGE",
                       "CALL BID", price_width, "OFFER", price_width, "STRIKE", "PUT BID",
                       price_width, "OFFER", price_width, "AGE", "OI");
    for (const Row& row : section.rows) {
        const auto [strike, call, put] = row;
        out += fmt::format(
            "{:>7} {:>5} {} {}  {}{:^9}{}  {} {} {:>5} {:>7}\n",
            call == nullptr ? "" : open_interest_text(*call),
            call == nullptr ? "" : age_text(*call, now),
            cell(call, call == nullptr ? nullptr : &call->bid, price_width, view.terminal),
            cell(call, call == nullptr ? nullptr : &call->offer, price_width, view.terminal), name,
            feed::normalised_decimal(strike), end,
            cell(put, put == nullptr ? nullptr : &put->bid, price_width, view.terminal),
            cell(put, put == nullptr ? nullptr : &put->offer, price_width, view.terminal),
            put == nullptr ? "" : age_text(*put, now),
            put == nullptr ? "" : open_interest_text(*put));
    }
}

std::string table_text(const client::feed& feed, Values values, const ChainView& view) {
    std::vector<ChainSection> sections = sections_of(values);
    if (view.nearest_only) {
        keep_nearest(sections);
    }
    // A value that could not be read says nothing of the feed.
    const bool old = std::ranges::any_of(
        values, [](const pinstrike_value& value) { return value.old == PINSTRIKE_OLD; });
    std::string out = fmt::format("feed {}: {}{}; {} series\n", feed.name(),
                                  pinstrike_condition_name(feed.condition()),
                                  old ? ", values are old" : "", values.size());
    const std::int64_t now = wall_ns();
    for (ChainSection& section : sections) {
        keep_around(section.rows, view.around);
        append_section(out, section, view, now);
    }
    return out;
}

actors::Price price_of(std::int32_t value, unsigned decimals) {
    return {value, feed::code_of(decimals)};
}

/// Without trailing zeros, as in the output of `--book`.
std::string exact_text(std::int32_t value, unsigned decimals) {
    return feed::normalised_decimal(price_of(value, decimals).e8());
}

std::string price_text(const pinstrike_price& price) {
    return price.present != 0 ? exact_text(price.value, price.decimals) : "";
}

void append_csv_side(std::string& out, const pinstrike_best& side) {
    if (side.present != 0) {
        out += fmt::format(",{},{},{},{}", exact_text(side.price, side.decimals), side.size,
                           side.participant, state_text(side));
    } else {
        out += fmt::format(",,,,{}", state_text(side));
    }
}

std::string csv_text(Values values) {
    std::string out =
        "root,expiration,strike,right,session,id,line,bid,bid_size,bid_participant,bid_state,"
        "offer,offer_size,offer_participant,offer_state,open,high,low,last,last_size,volume,trades,"
        "quotes,open_interest,changed_ns,old\n";
    for (const pinstrike_value& value : values) {
        const pinstrike_key& key = value.key;
        out += fmt::format("{},{},{},{},{},{},{}", key.root, date_text(key.expiration),
                           feed::normalised_decimal(key.strike_e8), key.right, session_text(key),
                           key.id, value.line);
        append_csv_side(out, value.bid);
        append_csv_side(out, value.offer);
        out +=
            fmt::format(",{},{},{},{},{},{},{},{},{},{},{}\n", price_text(value.open),
                        price_text(value.high), price_text(value.low), price_text(value.last),
                        value.last.present != 0 ? fmt::format("{}", value.last_size) : "",
                        value.volume, value.trades, value.quotes,
                        value.has_open_interest != 0 ? fmt::format("{}", value.open_interest) : "",
                        value.changed_ns, static_cast<int>(value.old));
    }
    return out;
}

std::optional<actors::Price> price_of(const pinstrike_price& price) {
    return price.present != 0 ? std::optional{price_of(price.value, price.decimals)} : std::nullopt;
}

std::optional<actors::BestQuote> best_of(const pinstrike_best& side) {
    if (side.present == 0) {
        return std::nullopt;
    }
    return actors::BestQuote{side.participant, price_of(side.price, side.decimals), side.size};
}

actors::SideState state_of(const pinstrike_best& side) {
    return side.state == PINSTRIKE_SIDE_UNKNOWN ? actors::SideState::unknown
           : side.state == PINSTRIKE_SIDE_STALE ? actors::SideState::stale
                                                : actors::SideState::fresh;
}

/// The value as a book of this program holds it.
actors::SeriesState series_state_of(const pinstrike_value& value) {
    actors::SeriesState state;
    state.key = reader::series_key_of(value.key).value_or(feed::SeriesKey{});
    state.line = value.line;
    state.bid = best_of(value.bid);
    state.offer = best_of(value.offer);
    state.bid_state = state_of(value.bid);
    state.offer_state = state_of(value.offer);
    state.open = price_of(value.open);
    state.high = price_of(value.high);
    state.low = price_of(value.low);
    if (const auto last = price_of(value.last)) {
        state.last =
            actors::LastTrade{value.last_participant, *last, value.last_size, value.last_type};
    }
    state.volume = value.volume;
    state.trades = value.trades;
    state.quotes = value.quotes;
    if (value.has_open_interest != 0) {
        state.open_interest = value.open_interest;
    }
    return state;
}

/// The members of `--book`, and those that only published values have.
std::string json_text(Values values) {
    std::string out;
    for (const pinstrike_value& value : values) {
        feed::JsonWriter json{out};
        actors::add_series(json, series_state_of(value));
        json.text("session", session_text(value.key));
        json.number("id", value.key.id);
        json.number("changed_ns", value.changed_ns);
        json.boolean("old", value.old == PINSTRIKE_OLD);
        if (value.old == PINSTRIKE_UNREADABLE) {  // only the key is valid
            json.boolean("unreadable", true);
        }
        json.end();
        out += '\n';
    }
    return out;
}

}  // namespace

std::string chain_text(const client::feed& feed, Values values, const ChainView& view) {
    return view.form == ChainForm::csv    ? csv_text(values)
           : view.form == ChainForm::json ? json_text(values)
                                          : table_text(feed, values, view);
}

}  // namespace pinstrike::command
