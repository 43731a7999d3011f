// path: cold
#include "actors/export/csv_columns.h"

#include "actors/export/record_format.h"
#include "feed/dbn/records.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace pinstrike::actors {
namespace csv {
namespace {

using namespace feed::dbn;
using enum CsvValue;

/// The column of one of the ratios of a leg.
constexpr CsvColumn leg_ratio(std::string_view name, std::size_t which) {
    constexpr std::size_t bytes = sizeof(std::int32_t);
    return {name, difference,
            static_cast<std::uint16_t>(offsetof(DefinitionRecord, leg_ratios) + which * bytes),
            bytes};
}

// clang-format off
/// The column of a member of `Row`.
#define PINSTRIKE_COLUMN(name, value, member) \
    CsvColumn{name, value, offsetof(Row, member), sizeof(Row{}.member)}

template <std::size_t... Counts>
constexpr auto joined(const std::array<CsvColumn, Counts>&... parts) {
    std::array<CsvColumn, (Counts + ...)> whole{};
    auto at = whole.begin();
    ((at = std::ranges::copy(parts, at).out), ...);
    return whole;
}

/// All columns of a record but the symbol.
template <class Row>
constexpr std::array<CsvColumn, 0> columns{};

template <class Row>
constexpr std::array receive_column{PINSTRIKE_COLUMN("ts_recv", time, receive_ns)};

template <class Row>
constexpr std::array header_columns{
    PINSTRIKE_COLUMN("ts_event", time, header.event_ns),
    PINSTRIKE_COLUMN("rtype", number, header.type),
    PINSTRIKE_COLUMN("publisher_id", number, header.publisher),
    PINSTRIKE_COLUMN("instrument_id", number, header.instrument),
};

/// Of a trade, and of a record with the best at one exchange.
template <class Row>
constexpr std::array message_columns{
    PINSTRIKE_COLUMN("action", letter, action),
    PINSTRIKE_COLUMN("side", letter, side),
    PINSTRIKE_COLUMN("depth", number, depth),
    PINSTRIKE_COLUMN("price", price, price),
    PINSTRIKE_COLUMN("size", number, size),
    PINSTRIKE_COLUMN("flags", number, flags),
    PINSTRIKE_COLUMN("ts_in_delta", difference, ts_in_delta_ns),
    PINSTRIKE_COLUMN("sequence", number, sequence),
};

template <class Row>
constexpr std::array best_columns{
    PINSTRIKE_COLUMN("bid_px_00", price, level.bid_price),
    PINSTRIKE_COLUMN("ask_px_00", price, level.ask_price),
    PINSTRIKE_COLUMN("bid_sz_00", number, level.bid_size),
    PINSTRIKE_COLUMN("ask_sz_00", number, level.ask_size),
};

/// The exchanges of a consolidated best.
template <class Row>
constexpr std::array publisher_columns{
    PINSTRIKE_COLUMN("bid_pb_00", number, level.bid_publisher),
    PINSTRIKE_COLUMN("ask_pb_00", number, level.ask_publisher),
};

template <>
constexpr auto columns<feed::dbn::TradeRecord> = [] {
    using Row = feed::dbn::TradeRecord;
    return joined(receive_column<Row>, header_columns<Row>, message_columns<Row>);
}();

template <>
constexpr auto columns<VenueRecord> = [] {
    using Row = VenueRecord;
    const std::array counts{
        PINSTRIKE_COLUMN("bid_ct_00", number, level.bid_count),
        PINSTRIKE_COLUMN("ask_ct_00", number, level.ask_count),
    };
    return joined(receive_column<Row>, header_columns<Row>, message_columns<Row>, best_columns<Row>,
                  counts);
}();

template <>
constexpr auto columns<ConsolidatedRecord> = [] {
    using Row = ConsolidatedRecord;
    const std::array own{
        PINSTRIKE_COLUMN("action", letter, action),
        PINSTRIKE_COLUMN("side", letter, side),
        PINSTRIKE_COLUMN("price", price, price),
        PINSTRIKE_COLUMN("size", number, size),
        PINSTRIKE_COLUMN("flags", number, flags),
        PINSTRIKE_COLUMN("ts_in_delta", difference, ts_in_delta_ns),
    };
    return joined(receive_column<Row>, header_columns<Row>, own, best_columns<Row>,
                  publisher_columns<Row>);
}();

template <>
constexpr auto columns<IntervalRecord> = [] {
    using Row = IntervalRecord;
    const std::array own{
        PINSTRIKE_COLUMN("side", letter, side),
        PINSTRIKE_COLUMN("price", price, price),
        PINSTRIKE_COLUMN("size", number, size),
        PINSTRIKE_COLUMN("flags", number, flags),
    };
    return joined(receive_column<Row>, header_columns<Row>, own, best_columns<Row>,
                  publisher_columns<Row>);
}();

template <>
constexpr auto columns<BarRecord> = [] {
    using Row = BarRecord;
    const std::array own{
        PINSTRIKE_COLUMN("open", price, open),
        PINSTRIKE_COLUMN("high", price, high),
        PINSTRIKE_COLUMN("low", price, low),
        PINSTRIKE_COLUMN("close", price, close),
        PINSTRIKE_COLUMN("volume", number, volume),
    };
    return joined(header_columns<Row>, own);
}();

template <>
constexpr auto columns<StatisticRecord> = [] {
    using Row = StatisticRecord;
    const std::array own{
        PINSTRIKE_COLUMN("ts_ref", time, reference_ns),
        PINSTRIKE_COLUMN("price", price, price),
        PINSTRIKE_COLUMN("quantity", difference_or_none, quantity),
        PINSTRIKE_COLUMN("sequence", number, sequence),
        PINSTRIKE_COLUMN("ts_in_delta", difference, ts_in_delta_ns),
        PINSTRIKE_COLUMN("stat_type", number, kind),
        PINSTRIKE_COLUMN("channel_id", number, channel),
        PINSTRIKE_COLUMN("update_action", number, update_action),
        PINSTRIKE_COLUMN("stat_flags", number, flags),
    };
    return joined(receive_column<Row>, header_columns<Row>, own);
}();

template <>
constexpr auto columns<DefinitionRecord> = [] {
    using Row = DefinitionRecord;
    const std::array own{
        PINSTRIKE_COLUMN("raw_symbol", text, raw_symbol),
        PINSTRIKE_COLUMN("security_update_action", letter, security_update_action),
        PINSTRIKE_COLUMN("instrument_class", letter, instrument_class),
        PINSTRIKE_COLUMN("min_price_increment", price, min_price_increment),
        PINSTRIKE_COLUMN("display_factor", price, display_factor),
        PINSTRIKE_COLUMN("expiration", time, expiration_ns),
        PINSTRIKE_COLUMN("activation", time, activation_ns),
        PINSTRIKE_COLUMN("high_limit_price", price, high_limit_price),
        PINSTRIKE_COLUMN("low_limit_price", price, low_limit_price),
        PINSTRIKE_COLUMN("max_price_variation", price, max_price_variation),
        PINSTRIKE_COLUMN("unit_of_measure_qty", price, unit_of_measure_quantity),
        PINSTRIKE_COLUMN("min_price_increment_amount", price, min_price_increment_amount),
        PINSTRIKE_COLUMN("price_ratio", price, price_ratio),
        PINSTRIKE_COLUMN("inst_attrib_value", difference_or_none, instrument_attributes),
        PINSTRIKE_COLUMN("underlying_id", number, underlying_id),
        PINSTRIKE_COLUMN("raw_instrument_id", number, raw_instrument),
        PINSTRIKE_COLUMN("market_depth_implied", difference_or_none, market_depth_implied),
        PINSTRIKE_COLUMN("market_depth", difference_or_none, market_depth),
        PINSTRIKE_COLUMN("market_segment_id", number_or_none, market_segment_id),
        PINSTRIKE_COLUMN("max_trade_vol", number_or_none, max_trade_volume),
        PINSTRIKE_COLUMN("min_lot_size", difference_or_none, min_lot_size),
        PINSTRIKE_COLUMN("min_lot_size_block", difference_or_none, min_lot_size_block),
        PINSTRIKE_COLUMN("min_lot_size_round_lot", difference_or_none, min_lot_size_round_lot),
        PINSTRIKE_COLUMN("min_trade_vol", number_or_none, min_trade_volume),
        PINSTRIKE_COLUMN("contract_multiplier", difference_or_none, contract_multiplier),
        PINSTRIKE_COLUMN("decay_quantity", difference_or_none, decay_quantity),
        PINSTRIKE_COLUMN("original_contract_size", difference_or_none, original_contract_size),
        PINSTRIKE_COLUMN("appl_id", difference_or_none, application_id),
        PINSTRIKE_COLUMN("maturity_year", number_or_none, maturity_year),
        PINSTRIKE_COLUMN("decay_start_date", number_or_none, decay_start_date),
        PINSTRIKE_COLUMN("channel_id", number, channel),
        PINSTRIKE_COLUMN("currency", text, currency),
        PINSTRIKE_COLUMN("settl_currency", text, settlement_currency),
        PINSTRIKE_COLUMN("secsubtype", text, security_subtype),
        PINSTRIKE_COLUMN("group", text, group),
        PINSTRIKE_COLUMN("exchange", text, exchange),
        PINSTRIKE_COLUMN("asset", text, asset),
        PINSTRIKE_COLUMN("cfi", text, cfi),
        PINSTRIKE_COLUMN("security_type", text, security_type),
        PINSTRIKE_COLUMN("unit_of_measure", text, unit_of_measure),
        PINSTRIKE_COLUMN("underlying", text, underlying),
        PINSTRIKE_COLUMN("strike_price_currency", text, strike_price_currency),
        PINSTRIKE_COLUMN("strike_price", price, strike_price),
        PINSTRIKE_COLUMN("match_algorithm", letter, match_algorithm),
        PINSTRIKE_COLUMN("main_fraction", number_or_none, main_fraction),
        PINSTRIKE_COLUMN("price_display_format", number_or_none, price_display_format),
        PINSTRIKE_COLUMN("sub_fraction", number_or_none, sub_fraction),
        PINSTRIKE_COLUMN("underlying_product", number_or_none, underlying_product),
        PINSTRIKE_COLUMN("maturity_month", number_or_none, maturity_month),
        PINSTRIKE_COLUMN("maturity_day", number_or_none, maturity_day),
        PINSTRIKE_COLUMN("maturity_week", number_or_none, maturity_week),
        PINSTRIKE_COLUMN("user_defined_instrument", letter, user_defined_instrument),
        PINSTRIKE_COLUMN("contract_multiplier_unit", difference_or_none, contract_multiplier_unit),
        PINSTRIKE_COLUMN("flow_schedule_type", difference_or_none, flow_schedule_type),
        PINSTRIKE_COLUMN("tick_rule", number_or_none, tick_rule),
        PINSTRIKE_COLUMN("leg_count", number, leg_count),
        PINSTRIKE_COLUMN("leg_index", number, leg_index),
        PINSTRIKE_COLUMN("leg_instrument_id", number, leg_instrument_id),
        PINSTRIKE_COLUMN("leg_raw_symbol", text, leg_raw_symbol),
        PINSTRIKE_COLUMN("leg_instrument_class", letter, leg_instrument_class),
        PINSTRIKE_COLUMN("leg_side", letter, leg_side),
        PINSTRIKE_COLUMN("leg_price", price, leg_price),
        PINSTRIKE_COLUMN("leg_delta", price, leg_delta),
        leg_ratio("leg_ratio_price_numerator", 0),
        leg_ratio("leg_ratio_price_denominator", 1),
        leg_ratio("leg_ratio_qty_numerator", 2),
        leg_ratio("leg_ratio_qty_denominator", 3),
        PINSTRIKE_COLUMN("leg_underlying_id", number, leg_underlying_id),
    };
    return joined(receive_column<Row>, header_columns<Row>, own);
}();

#undef PINSTRIKE_COLUMN
// clang-format on

}  // namespace
}  // namespace csv

std::span<const CsvColumn> csv_columns(feed::dbn::Schema schema) {
    return with_record_of(
        schema, []<class Row>() { return std::span<const CsvColumn>{csv::columns<Row>}; });
}

}  // namespace pinstrike::actors
