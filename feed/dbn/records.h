// path: hot
//
// The records of DBN (Databento Binary Encoding), version 3, as they are on the wire:
// little-endian, like this program's processors, and without padding. A record is made in memory
// and sent as its bytes.
//
// Prices are in units of 1e-9, times in nanoseconds since the Unix epoch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace pinstrike::feed::dbn {

inline constexpr std::int64_t undefined_price = std::numeric_limits<std::int64_t>::max();
inline constexpr std::uint64_t undefined_time = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint32_t undefined_u32 = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::int32_t undefined_i32 = std::numeric_limits<std::int32_t>::max();
inline constexpr std::uint16_t undefined_u16 = std::numeric_limits<std::uint16_t>::max();
inline constexpr std::int16_t undefined_i16 = std::numeric_limits<std::int16_t>::max();

/// Characters of a symbol, with the terminating zero.
inline constexpr std::size_t symbol_bytes = 71;

enum class RecordType : std::uint8_t {
    trade = 0x00,
    mbp_1 = 0x01,
    definition = 0x13,
    error = 0x15,
    symbol_mapping = 0x16,
    system = 0x17,
    statistics = 0x18,
    ohlcv_1s = 0x20,
    ohlcv_1m = 0x21,
    ohlcv_1h = 0x22,
    cmbp_1 = 0xB1,
    cbbo_1s = 0xC0,
    cbbo_1m = 0xC1,
    tcbbo = 0xC2,
};

/// Bits of `flags`.
enum RecordFlag : std::uint8_t {
    flag_publisher_specific = 2,
    flag_maybe_bad_book = 4,
    flag_snapshot = 32,
    flag_top_of_book = 64,
    flag_last = 128,
};

struct RecordHeader {
    std::uint8_t length = 0;  ///< of the whole record, in units of 4 bytes
    RecordType type = RecordType::trade;
    std::uint16_t publisher = 0;
    std::uint32_t instrument = 0;
    std::uint64_t event_ns = undefined_time;
};

/// The header of a record of type R.
template <class R>
[[nodiscard]] constexpr RecordHeader header_of(RecordType type, std::uint16_t publisher,
                                               std::uint32_t instrument, std::uint64_t event_ns) {
    static_assert(sizeof(R) % 4 == 0 && std::is_trivially_copyable_v<R>);
    return {static_cast<std::uint8_t>(sizeof(R) / 4), type, publisher, instrument, event_ns};
}

template <class R>
[[nodiscard]] std::span<const std::byte> bytes_of(const R& record) {
    return std::as_bytes(std::span{&record, 1});
}

/// Schema trades.
struct TradeRecord {
    RecordHeader header;
    std::int64_t price = undefined_price;
    std::uint32_t size = 0;
    char action = 'T';
    char side = 'N';
    std::uint8_t flags = 0;
    std::uint8_t depth = 0;
    std::uint64_t receive_ns = undefined_time;
    std::int32_t ts_in_delta_ns = 0;
    std::uint32_t sequence = 0;
};

/// The best bid and offer with the venues that state them.
struct ConsolidatedLevel {
    std::int64_t bid_price = undefined_price;
    std::int64_t ask_price = undefined_price;
    std::uint32_t bid_size = 0;
    std::uint32_t ask_size = 0;
    std::uint16_t bid_publisher = 0;
    std::array<std::uint8_t, 2> reserved0{};
    std::uint16_t ask_publisher = 0;
    std::array<std::uint8_t, 2> reserved1{};

    friend bool operator==(const ConsolidatedLevel&, const ConsolidatedLevel&) = default;
};

/// Schemas cmbp-1 and tcbbo.
struct ConsolidatedRecord {
    RecordHeader header;
    std::int64_t price = undefined_price;
    std::uint32_t size = 0;
    char action = 'A';
    char side = 'N';
    std::uint8_t flags = 0;
    std::uint8_t reserved0 = 0;
    std::uint64_t receive_ns = undefined_time;
    std::int32_t ts_in_delta_ns = 0;
    std::array<std::uint8_t, 4> reserved1{};
    ConsolidatedLevel level;
};

/// Schemas cbbo-1s and cbbo-1m.
struct IntervalRecord {
    RecordHeader header;                   ///< event_ns: of the last trade
    std::int64_t price = undefined_price;  ///< of the last trade
    std::uint32_t size = 0;                ///< of the last trade
    std::uint8_t reserved0 = 0;
    char side = 'N';
    std::uint8_t flags = 0;
    std::uint8_t reserved1 = 0;
    std::uint64_t receive_ns = undefined_time;  ///< the end of the interval
    std::array<std::uint8_t, 8> reserved2{};
    ConsolidatedLevel level;
};

/// The bid and offer of one venue.
struct VenueLevel {
    std::int64_t bid_price = undefined_price;
    std::int64_t ask_price = undefined_price;
    std::uint32_t bid_size = 0;
    std::uint32_t ask_size = 0;
    std::uint32_t bid_count = 0;
    std::uint32_t ask_count = 0;
};

/// Schemas mbp-1 and tbbo.
struct VenueRecord {
    RecordHeader header;
    std::int64_t price = undefined_price;
    std::uint32_t size = 0;
    char action = 'A';
    char side = 'N';
    std::uint8_t flags = 0;
    std::uint8_t depth = 0;
    std::uint64_t receive_ns = undefined_time;
    std::int32_t ts_in_delta_ns = 0;
    std::uint32_t sequence = 0;
    VenueLevel level;
};

/// Schemas ohlcv-1s, ohlcv-1m and ohlcv-1h.
struct BarRecord {
    RecordHeader header;  ///< event_ns: the start of the interval
    std::int64_t open = undefined_price;
    std::int64_t high = undefined_price;
    std::int64_t low = undefined_price;
    std::int64_t close = undefined_price;
    std::uint64_t volume = 0;
};

enum class StatisticKind : std::uint16_t {
    opening_price = 1,
    session_low = 4,
    session_high = 5,
    cleared_volume = 6,
    open_interest = 9,
    close_price = 11,
    net_change = 12,
};

/// Schema statistics.
struct StatisticRecord {
    RecordHeader header;
    std::uint64_t receive_ns = undefined_time;
    std::uint64_t reference_ns = undefined_time;
    std::int64_t price = undefined_price;
    std::int64_t quantity = undefined_price;  ///< undefined: 2^63 - 1, as of a price
    std::uint32_t sequence = 0;
    std::int32_t ts_in_delta_ns = 0;
    StatisticKind kind = StatisticKind::open_interest;
    std::uint16_t channel = 0;
    std::uint8_t update_action = 1;
    std::uint8_t flags = 0;
    std::array<std::uint8_t, 18> reserved{};
};

/// How a client names instruments. The numbers are those of SymbolMapping.
enum class SymbolType : std::uint8_t { instrument_id = 0, raw_symbol = 1, parent = 4 };

struct SymbolMappingRecord {
    RecordHeader header;
    SymbolType in_type = SymbolType::raw_symbol;
    std::array<char, symbol_bytes> in_symbol{};
    SymbolType out_type = SymbolType::raw_symbol;
    std::array<char, symbol_bytes> out_symbol{};
    std::uint64_t start_ns = undefined_time;
    std::uint64_t end_ns = undefined_time;
};

struct ErrorRecord {
    RecordHeader header;
    std::array<char, 302> text{};
    std::uint8_t code = 0;
    std::uint8_t is_last = 1;
};

struct SystemRecord {
    RecordHeader header;
    std::array<char, 303> text{};
    std::uint8_t code = 0;
};

/// Schema definition.
struct DefinitionRecord {
    RecordHeader header;
    std::uint64_t receive_ns = undefined_time;
    std::int64_t min_price_increment = undefined_price;
    std::int64_t display_factor = undefined_price;
    std::uint64_t expiration_ns = undefined_time;
    std::uint64_t activation_ns = undefined_time;
    std::int64_t high_limit_price = undefined_price;
    std::int64_t low_limit_price = undefined_price;
    std::int64_t max_price_variation = undefined_price;
    std::int64_t unit_of_measure_quantity = undefined_price;
    std::int64_t min_price_increment_amount = undefined_price;
    std::int64_t price_ratio = undefined_price;
    std::int64_t strike_price = undefined_price;
    std::uint64_t raw_instrument = 0;
    std::int64_t leg_price = undefined_price;
    std::int64_t leg_delta = undefined_price;
    std::int32_t instrument_attributes = undefined_i32;
    std::uint32_t underlying_id = 0;
    std::int32_t market_depth_implied = undefined_i32;
    std::int32_t market_depth = undefined_i32;
    std::uint32_t market_segment_id = undefined_u32;
    std::uint32_t max_trade_volume = undefined_u32;
    std::int32_t min_lot_size = undefined_i32;
    std::int32_t min_lot_size_block = undefined_i32;
    std::int32_t min_lot_size_round_lot = undefined_i32;
    std::uint32_t min_trade_volume = undefined_u32;
    std::int32_t contract_multiplier = undefined_i32;
    std::int32_t decay_quantity = undefined_i32;
    std::int32_t original_contract_size = undefined_i32;
    std::uint32_t leg_instrument_id = 0;
    std::array<std::int32_t, 4> leg_ratios{};
    std::uint32_t leg_underlying_id = 0;
    std::int16_t application_id = undefined_i16;
    std::uint16_t maturity_year = undefined_u16;
    std::uint16_t decay_start_date = undefined_u16;
    std::uint16_t channel = 0;
    std::uint16_t leg_count = 0;
    std::uint16_t leg_index = 0;
    std::array<char, 4> currency{'U', 'S', 'D'};
    std::array<char, 4> settlement_currency{};
    std::array<char, 6> security_subtype{};
    std::array<char, symbol_bytes> raw_symbol{};
    std::array<char, 21> group{};
    std::array<char, 5> exchange{};
    std::array<char, 11> asset{};
    std::array<char, 7> cfi{};
    std::array<char, 7> security_type{'O', 'P', 'T'};
    std::array<char, 31> unit_of_measure{'U', 'S', 'D'};
    std::array<char, 21> underlying{};
    std::array<char, 4> strike_price_currency{'U', 'S', 'D'};
    std::array<char, symbol_bytes> leg_raw_symbol{};
    char instrument_class = 'C';
    char match_algorithm = ' ';
    std::uint8_t main_fraction = 255;
    std::uint8_t price_display_format = 255;
    std::uint8_t sub_fraction = 255;
    std::uint8_t underlying_product = 255;
    char security_update_action = 'A';
    std::uint8_t maturity_month = 255;
    std::uint8_t maturity_day = 255;
    std::uint8_t maturity_week = 255;
    char user_defined_instrument = 'N';
    std::int8_t contract_multiplier_unit = 127;
    std::int8_t flow_schedule_type = 127;
    std::uint8_t tick_rule = 255;
    char leg_instrument_class = ' ';
    char leg_side = 'N';
    std::array<std::uint8_t, 17> reserved{};
};

static_assert(sizeof(RecordHeader) == 16 && sizeof(TradeRecord) == 48);
static_assert(sizeof(ConsolidatedLevel) == 32 && sizeof(ConsolidatedRecord) == 80);
static_assert(sizeof(IntervalRecord) == 80 && sizeof(VenueRecord) == 80);
static_assert(sizeof(BarRecord) == 56 && sizeof(StatisticRecord) == 80);
static_assert(sizeof(SymbolMappingRecord) == 176 && sizeof(ErrorRecord) == 320);
static_assert(sizeof(SystemRecord) == 320 && sizeof(DefinitionRecord) == 520);

}  // namespace pinstrike::feed::dbn
