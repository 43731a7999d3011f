// path: cold
#include "actors/market/market_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace pinstrike::actors {
namespace {

template <std::size_t Count>
void put(std::array<char, Count>& field, std::string_view text) {
    field.fill('\0');
    text.copy(field.data(), Count - 1);
}

/// 00:00 UTC of a date such as 20261218.
std::uint64_t midnight_of(std::uint32_t date) {
    using namespace std::chrono;
    const year_month_day day{year{static_cast<int>(date / 10'000)}, month{date / 100 % 100},
                             std::chrono::day{date % 100}};
    return static_cast<std::uint64_t>(
        duration_cast<nanoseconds>(sys_days{day}.time_since_epoch()).count());
}

}  // namespace

feed::dbn::DefinitionRecord definition_of(const pinstrike_key& key, const Instrument& at,
                                          std::int64_t now_ns) {
    const feed::dbn::SeriesName name = name_of(key);
    auto out = RecordFrame::of_state(key.id, at, now_ns)
                   .begin<feed::dbn::DefinitionRecord>(feed::dbn::RecordType::definition,
                                                       feed::dbn::consolidated_publisher);
    out.expiration_ns = midnight_of(name.expiration);
    constexpr std::int64_t e8_in_e9 = 10;
    out.strike_price = name.strike_e8 * e8_in_e9;
    out.raw_instrument = key.id;
    out.channel = at.line;
    put(out.raw_symbol, feed::dbn::osi_symbol(name));
    put(out.group, fmt::format("{}{}", feed::dbn::group_prefix, at.line));
    put(out.exchange, feed::dbn::exchange);
    put(out.asset, name.root);
    put(out.underlying, name.root);
    out.instrument_class = name.right;
    return out;
}

}  // namespace pinstrike::actors
