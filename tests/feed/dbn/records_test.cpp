// path: cold
//
// The layouts of records, their values, and the metadata, against the tables of the format.
#include "feed/dbn/records.h"

#include "feed/dbn/metadata.h"
#include "feed/dbn/schema.h"
#include "feed/dbn/values.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::feed::dbn {
namespace {

using Place = std::pair<std::size_t, std::size_t>;

// The offset and the size of a field.
#define PLACE(Record, field) (Place{offsetof(Record, field), sizeof(Record::field)})

TEST(RecordLayout, of_the_header) {
    EXPECT_EQ(PLACE(RecordHeader, length), Place(0, 1));
    EXPECT_EQ(PLACE(RecordHeader, type), Place(1, 1));
    EXPECT_EQ(PLACE(RecordHeader, publisher), Place(2, 2));
    EXPECT_EQ(PLACE(RecordHeader, instrument), Place(4, 4));
    EXPECT_EQ(PLACE(RecordHeader, event_ns), Place(8, 8));
}

TEST(RecordLayout, of_trades) {
    EXPECT_EQ(PLACE(TradeRecord, header), Place(0, 16));
    EXPECT_EQ(PLACE(TradeRecord, price), Place(16, 8));
    EXPECT_EQ(PLACE(TradeRecord, size), Place(24, 4));
    EXPECT_EQ(PLACE(TradeRecord, action), Place(28, 1));
    EXPECT_EQ(PLACE(TradeRecord, side), Place(29, 1));
    EXPECT_EQ(PLACE(TradeRecord, flags), Place(30, 1));
    EXPECT_EQ(PLACE(TradeRecord, depth), Place(31, 1));
    EXPECT_EQ(PLACE(TradeRecord, receive_ns), Place(32, 8));
    EXPECT_EQ(PLACE(TradeRecord, ts_in_delta_ns), Place(40, 4));
    EXPECT_EQ(PLACE(TradeRecord, sequence), Place(44, 4));
}

TEST(RecordLayout, of_the_consolidated_best) {
    EXPECT_EQ(PLACE(ConsolidatedRecord, price), Place(16, 8));
    EXPECT_EQ(PLACE(ConsolidatedRecord, size), Place(24, 4));
    EXPECT_EQ(PLACE(ConsolidatedRecord, action), Place(28, 1));
    EXPECT_EQ(PLACE(ConsolidatedRecord, side), Place(29, 1));
    EXPECT_EQ(PLACE(ConsolidatedRecord, flags), Place(30, 1));
    EXPECT_EQ(PLACE(ConsolidatedRecord, receive_ns), Place(32, 8));
    EXPECT_EQ(PLACE(ConsolidatedRecord, ts_in_delta_ns), Place(40, 4));
    EXPECT_EQ(PLACE(ConsolidatedRecord, level), Place(48, 32));
    EXPECT_EQ(PLACE(IntervalRecord, price), Place(16, 8));
    EXPECT_EQ(PLACE(IntervalRecord, size), Place(24, 4));
    EXPECT_EQ(PLACE(IntervalRecord, reserved0), Place(28, 1));
    EXPECT_EQ(PLACE(IntervalRecord, side), Place(29, 1));
    EXPECT_EQ(PLACE(IntervalRecord, flags), Place(30, 1));
    EXPECT_EQ(PLACE(IntervalRecord, receive_ns), Place(32, 8));
    EXPECT_EQ(PLACE(IntervalRecord, level), Place(48, 32));
    EXPECT_EQ(PLACE(ConsolidatedLevel, bid_price), Place(0, 8));
    EXPECT_EQ(PLACE(ConsolidatedLevel, ask_price), Place(8, 8));
    EXPECT_EQ(PLACE(ConsolidatedLevel, bid_size), Place(16, 4));
    EXPECT_EQ(PLACE(ConsolidatedLevel, ask_size), Place(20, 4));
    EXPECT_EQ(PLACE(ConsolidatedLevel, bid_publisher), Place(24, 2));
    EXPECT_EQ(PLACE(ConsolidatedLevel, ask_publisher), Place(28, 2));
}

TEST(RecordLayout, of_the_best_of_one_venue) {
    EXPECT_EQ(PLACE(VenueRecord, price), Place(16, 8));
    EXPECT_EQ(PLACE(VenueRecord, size), Place(24, 4));
    EXPECT_EQ(PLACE(VenueRecord, action), Place(28, 1));
    EXPECT_EQ(PLACE(VenueRecord, side), Place(29, 1));
    EXPECT_EQ(PLACE(VenueRecord, flags), Place(30, 1));
    EXPECT_EQ(PLACE(VenueRecord, depth), Place(31, 1));
    EXPECT_EQ(PLACE(VenueRecord, receive_ns), Place(32, 8));
    EXPECT_EQ(PLACE(VenueRecord, ts_in_delta_ns), Place(40, 4));
    EXPECT_EQ(PLACE(VenueRecord, sequence), Place(44, 4));
    EXPECT_EQ(PLACE(VenueRecord, level), Place(48, 32));
    EXPECT_EQ(PLACE(VenueLevel, bid_price), Place(0, 8));
    EXPECT_EQ(PLACE(VenueLevel, ask_price), Place(8, 8));
    EXPECT_EQ(PLACE(VenueLevel, bid_size), Place(16, 4));
    EXPECT_EQ(PLACE(VenueLevel, ask_size), Place(20, 4));
    EXPECT_EQ(PLACE(VenueLevel, bid_count), Place(24, 4));
    EXPECT_EQ(PLACE(VenueLevel, ask_count), Place(28, 4));
}

TEST(RecordLayout, of_bars_and_statistics) {
    EXPECT_EQ(PLACE(BarRecord, open), Place(16, 8));
    EXPECT_EQ(PLACE(BarRecord, high), Place(24, 8));
    EXPECT_EQ(PLACE(BarRecord, low), Place(32, 8));
    EXPECT_EQ(PLACE(BarRecord, close), Place(40, 8));
    EXPECT_EQ(PLACE(BarRecord, volume), Place(48, 8));
    EXPECT_EQ(PLACE(StatisticRecord, receive_ns), Place(16, 8));
    EXPECT_EQ(PLACE(StatisticRecord, reference_ns), Place(24, 8));
    EXPECT_EQ(PLACE(StatisticRecord, price), Place(32, 8));
    EXPECT_EQ(PLACE(StatisticRecord, quantity), Place(40, 8));
    EXPECT_EQ(PLACE(StatisticRecord, sequence), Place(48, 4));
    EXPECT_EQ(PLACE(StatisticRecord, ts_in_delta_ns), Place(52, 4));
    EXPECT_EQ(PLACE(StatisticRecord, kind), Place(56, 2));
    EXPECT_EQ(PLACE(StatisticRecord, channel), Place(58, 2));
    EXPECT_EQ(PLACE(StatisticRecord, update_action), Place(60, 1));
    EXPECT_EQ(PLACE(StatisticRecord, flags), Place(61, 1));
    EXPECT_EQ(PLACE(StatisticRecord, reserved), Place(62, 18));
}

TEST(RecordLayout, of_what_a_gateway_says) {
    EXPECT_EQ(PLACE(SymbolMappingRecord, in_type), Place(16, 1));
    EXPECT_EQ(PLACE(SymbolMappingRecord, in_symbol), Place(17, 71));
    EXPECT_EQ(PLACE(SymbolMappingRecord, out_type), Place(88, 1));
    EXPECT_EQ(PLACE(SymbolMappingRecord, out_symbol), Place(89, 71));
    EXPECT_EQ(PLACE(SymbolMappingRecord, start_ns), Place(160, 8));
    EXPECT_EQ(PLACE(SymbolMappingRecord, end_ns), Place(168, 8));
    EXPECT_EQ(PLACE(ErrorRecord, text), Place(16, 302));
    EXPECT_EQ(PLACE(ErrorRecord, code), Place(318, 1));
    EXPECT_EQ(PLACE(ErrorRecord, is_last), Place(319, 1));
    EXPECT_EQ(PLACE(SystemRecord, text), Place(16, 303));
    EXPECT_EQ(PLACE(SystemRecord, code), Place(319, 1));
    EXPECT_EQ(static_cast<int>(SymbolType::instrument_id), 0);
    EXPECT_EQ(static_cast<int>(SymbolType::raw_symbol), 1);
    EXPECT_EQ(static_cast<int>(SymbolType::parent), 4);
}

TEST(RecordLayout, of_the_numbers_of_a_definition) {
    EXPECT_EQ(PLACE(DefinitionRecord, receive_ns), Place(16, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, min_price_increment), Place(24, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, display_factor), Place(32, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, expiration_ns), Place(40, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, activation_ns), Place(48, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, high_limit_price), Place(56, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, low_limit_price), Place(64, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, max_price_variation), Place(72, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, unit_of_measure_quantity), Place(80, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, min_price_increment_amount), Place(88, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, price_ratio), Place(96, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, strike_price), Place(104, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, raw_instrument), Place(112, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_price), Place(120, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_delta), Place(128, 8));
    EXPECT_EQ(PLACE(DefinitionRecord, instrument_attributes), Place(136, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, underlying_id), Place(140, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, market_depth_implied), Place(144, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, market_depth), Place(148, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, market_segment_id), Place(152, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, max_trade_volume), Place(156, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, min_lot_size), Place(160, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, min_lot_size_block), Place(164, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, min_lot_size_round_lot), Place(168, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, min_trade_volume), Place(172, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, contract_multiplier), Place(176, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, decay_quantity), Place(180, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, original_contract_size), Place(184, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_instrument_id), Place(188, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_ratios), Place(192, 16));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_underlying_id), Place(208, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, application_id), Place(212, 2));
    EXPECT_EQ(PLACE(DefinitionRecord, maturity_year), Place(214, 2));
    EXPECT_EQ(PLACE(DefinitionRecord, decay_start_date), Place(216, 2));
    EXPECT_EQ(PLACE(DefinitionRecord, channel), Place(218, 2));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_count), Place(220, 2));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_index), Place(222, 2));
}

TEST(RecordLayout, of_the_texts_of_a_definition) {
    EXPECT_EQ(PLACE(DefinitionRecord, currency), Place(224, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, settlement_currency), Place(228, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, security_subtype), Place(232, 6));
    EXPECT_EQ(PLACE(DefinitionRecord, raw_symbol), Place(238, 71));
    EXPECT_EQ(PLACE(DefinitionRecord, group), Place(309, 21));
    EXPECT_EQ(PLACE(DefinitionRecord, exchange), Place(330, 5));
    EXPECT_EQ(PLACE(DefinitionRecord, asset), Place(335, 11));
    EXPECT_EQ(PLACE(DefinitionRecord, cfi), Place(346, 7));
    EXPECT_EQ(PLACE(DefinitionRecord, security_type), Place(353, 7));
    EXPECT_EQ(PLACE(DefinitionRecord, unit_of_measure), Place(360, 31));
    EXPECT_EQ(PLACE(DefinitionRecord, underlying), Place(391, 21));
    EXPECT_EQ(PLACE(DefinitionRecord, strike_price_currency), Place(412, 4));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_raw_symbol), Place(416, 71));
    EXPECT_EQ(PLACE(DefinitionRecord, instrument_class), Place(487, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, match_algorithm), Place(488, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, main_fraction), Place(489, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, price_display_format), Place(490, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, sub_fraction), Place(491, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, underlying_product), Place(492, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, security_update_action), Place(493, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, maturity_month), Place(494, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, maturity_day), Place(495, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, maturity_week), Place(496, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, user_defined_instrument), Place(497, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, contract_multiplier_unit), Place(498, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, flow_schedule_type), Place(499, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, tick_rule), Place(500, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_instrument_class), Place(501, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, leg_side), Place(502, 1));
    EXPECT_EQ(PLACE(DefinitionRecord, reserved), Place(503, 17));
}

template <class Record>
unsigned length_of(std::size_t bytes) {
    EXPECT_EQ(sizeof(Record), bytes);
    const RecordHeader header = header_of<Record>(RecordType::tcbbo, 0x0102, 0x01001A5B, 9);
    EXPECT_EQ(header.type, RecordType::tcbbo);
    EXPECT_EQ(header.publisher, 0x0102);
    EXPECT_EQ(header.instrument, 0x01001A5BU);
    EXPECT_EQ(header.event_ns, 9U);
    return header.length;
}

TEST(RecordHeaders, have_the_length_in_units_of_4_bytes) {
    EXPECT_EQ(length_of<TradeRecord>(48), 12U);
    EXPECT_EQ(length_of<BarRecord>(56), 14U);
    EXPECT_EQ(length_of<ConsolidatedRecord>(80), 20U);
    EXPECT_EQ(length_of<IntervalRecord>(80), 20U);
    EXPECT_EQ(length_of<VenueRecord>(80), 20U);
    EXPECT_EQ(length_of<StatisticRecord>(80), 20U);
    EXPECT_EQ(length_of<SymbolMappingRecord>(176), 44U);
    EXPECT_EQ(length_of<ErrorRecord>(320), 80U);
    EXPECT_EQ(length_of<SystemRecord>(320), 80U);
    EXPECT_EQ(length_of<DefinitionRecord>(520), 130U);
}

TEST(RecordHeaders, have_the_numbers_of_the_types) {
    const std::vector<std::pair<RecordType, unsigned>> types{
        {RecordType::trade, 0x00},          {RecordType::mbp_1, 0x01},
        {RecordType::definition, 0x13},     {RecordType::error, 0x15},
        {RecordType::symbol_mapping, 0x16}, {RecordType::system, 0x17},
        {RecordType::statistics, 0x18},     {RecordType::ohlcv_1s, 0x20},
        {RecordType::ohlcv_1m, 0x21},       {RecordType::ohlcv_1h, 0x22},
        {RecordType::cmbp_1, 0xB1},         {RecordType::cbbo_1s, 0xC0},
        {RecordType::cbbo_1m, 0xC1},        {RecordType::tcbbo, 0xC2}};
    for (const auto& [type, number] : types) {
        EXPECT_EQ(static_cast<unsigned>(type), number);
    }
}

/// Fields of a record without values of its own, as a user sees them: by their offsets.
template <class T>
T at(const DefinitionRecord& record, std::size_t offset) {
    T value;
    std::memcpy(&value, bytes_of(record).data() + offset, sizeof value);
    return value;
}

TEST(Undefined, values_are_those_of_the_format) {
    EXPECT_EQ(undefined_price, 9'223'372'036'854'775'807);
    EXPECT_EQ(undefined_time, 18'446'744'073'709'551'615U);
    EXPECT_EQ(undefined_u32, 4'294'967'295U);
    EXPECT_EQ(undefined_i32, 2'147'483'647);
    EXPECT_EQ(undefined_u16, 65535U);
    EXPECT_EQ(undefined_i16, 32767);
    const DefinitionRecord record;
    for (const std::size_t offset :
         std::initializer_list<std::size_t>{24, 32, 56, 64, 72, 80, 88, 96, 120, 128}) {
        EXPECT_EQ(at<std::int64_t>(record, offset), undefined_price) << offset;
    }
    EXPECT_EQ(at<std::uint64_t>(record, 48), undefined_time);
    for (const std::size_t offset :
         std::initializer_list<std::size_t>{136, 144, 148, 160, 164, 168, 176, 180, 184}) {
        EXPECT_EQ(at<std::int32_t>(record, offset), undefined_i32) << offset;
    }
    for (const std::size_t offset : std::initializer_list<std::size_t>{152, 156, 172}) {
        EXPECT_EQ(at<std::uint32_t>(record, offset), undefined_u32) << offset;
    }
    for (const std::size_t offset :
         std::initializer_list<std::size_t>{140, 188, 192, 196, 200, 204, 208, 220}) {
        EXPECT_EQ(at<std::uint32_t>(record, offset), 0U) << offset;
    }
    EXPECT_EQ(at<std::int16_t>(record, 212), undefined_i16);
    EXPECT_EQ(at<std::uint16_t>(record, 214), undefined_u16);
    EXPECT_EQ(at<std::uint16_t>(record, 216), undefined_u16);
    for (const std::size_t offset :
         std::initializer_list<std::size_t>{489, 490, 491, 492, 494, 495, 496, 500}) {
        EXPECT_EQ(at<std::uint8_t>(record, offset), 255U) << offset;
    }
    EXPECT_EQ(at<std::int8_t>(record, 498), 127);
    EXPECT_EQ(at<std::int8_t>(record, 499), 127);
    EXPECT_EQ(at<char>(record, 488), ' ');
    EXPECT_EQ(at<char>(record, 493), 'A');
    EXPECT_EQ(at<char>(record, 497), 'N');
    EXPECT_EQ(at<char>(record, 501), ' ');
    EXPECT_EQ(at<char>(record, 502), 'N');
    EXPECT_STREQ(record.currency.data(), "USD");
    EXPECT_STREQ(record.security_type.data(), "OPT");
    EXPECT_STREQ(record.unit_of_measure.data(), "USD");
    EXPECT_STREQ(record.strike_price_currency.data(), "USD");
}

TEST(Metadata, stands_byte_for_byte_as_documented) {
    std::string expected{
        "\x44\x42\x4e\x03\x78\x00\x00\x00\x4f\x50\x52\x41\x2e\x50\x49\x4c\x4c\x41"
        "\x52\x00\x00\x00\x00\x00\xff\xff",
        26};
    expected += std::string{"\x08\x07\x06\x05\x04\x03\x02\x01"};
    expected += std::string(8, '\xff') + std::string(8, '\0');
    expected += std::string{"\xff\x00\x01\x47\x00", 5};
    expected += std::string(73, '\0');
    ASSERT_EQ(expected.size(), 128U);
    auto metadata = live_metadata(dataset, 0x0102030405060708, true);
    EXPECT_EQ(std::memcmp(metadata.data(), expected.data(), expected.size()), 0);
    metadata = live_metadata(dataset, 0x0102030405060708, false);
    expected[52] = '\0';
    EXPECT_EQ(std::memcmp(metadata.data(), expected.data(), expected.size()), 0);
}

std::string symbol_field(const std::string& symbol) {
    return symbol + std::string(71 - symbol.size(), '\0');
}

std::string number_field(std::uint32_t number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

TEST(Metadata, of_a_file_has_its_symbols_and_their_days) {
    FileContent content{
        .schema = Schema::cmbp_1,
        .start_ns = 1'795'737'599'999'999'999,  // 2026-11-26 23:59:59.999999999
        .end_ns = 1'795'824'000'000'000'000,    // after the last ns of 2026-11-27
        .symbols = {{"ABC   261218C00100000", {7, 12}}, {"XYZ   261218P0.0005", {9}}}};
    const auto metadata = file_metadata(dataset, content, 8);
    const std::string bytes{reinterpret_cast<const char*>(metadata.data()), metadata.size()};
    std::string expected = std::string{"DBN\3", 4} + number_field(656) + "OPRA.PILLAR";
    expected += std::string(5, '\0') + std::string{"\x0e\x00", 2};
    expected += std::string{reinterpret_cast<const char*>(&content.start_ns), 8};
    expected += std::string{reinterpret_cast<const char*>(&content.end_ns), 8};
    expected += std::string(8, '\0') + std::string{"\x01\x00\x00\x47\x00", 5};
    expected += std::string(53, '\0') + number_field(0) + number_field(2);
    expected += symbol_field("ABC   261218C00100000") + symbol_field("XYZ   261218P0.0005");
    expected += number_field(0) + number_field(0) + number_field(2);
    const std::string days = number_field(20261126) + number_field(20261128);
    expected += symbol_field("ABC   261218C00100000") + number_field(2);
    expected += days + symbol_field("7") + days + symbol_field("12");
    expected += symbol_field("XYZ   261218P0.0005") + number_field(1) + days + symbol_field("9");
    expected.resize((expected.size() + 7) / 8 * 8, '\0');
    EXPECT_EQ(bytes.size(), expected.size());
    EXPECT_TRUE(bytes == expected);
    EXPECT_EQ(file_metadata(dataset, content, 4096).size(), 4096U);
}

TEST(Metadata, numbers_of_schemas_are_those_of_the_format) {
    const std::map<std::string_view, unsigned> numbers{
        {"mbp-1", 1},    {"tbbo", 3},     {"trades", 4},     {"ohlcv-1s", 5},
        {"ohlcv-1m", 6}, {"ohlcv-1h", 7}, {"definition", 9}, {"statistics", 10},
        {"cmbp-1", 14},  {"cbbo-1s", 15}, {"cbbo-1m", 16},   {"tcbbo", 17}};
    ASSERT_EQ(numbers.size(), schemas_count);
    for (const auto& [name, number] : numbers) {
        EXPECT_EQ(number_of(*schema_of(name)), number) << name;
    }
}

TEST(Prices, are_in_units_of_a_billionth) {
    EXPECT_EQ(price_of(7, 0), 7'000'000'000);
    EXPECT_EQ(price_of(7, 1), 700'000'000);
    EXPECT_EQ(price_of(125, 2), 1'250'000'000);
    EXPECT_EQ(price_of(7, 3), 7'000'000);
    EXPECT_EQ(price_of(7, 4), 700'000);
    EXPECT_EQ(price_of(7, 5), 70'000);
    EXPECT_EQ(price_of(7, 6), 7'000);
    EXPECT_EQ(price_of(7, 7), 700);
    EXPECT_EQ(price_of(7, 8), 70);
    EXPECT_EQ(price_of(-150, 2), -1'500'000'000);
    EXPECT_EQ(price_of(2'147'483'647, 0), 2'147'483'647'000'000'000);
    EXPECT_EQ(price_of(-2'147'483'647 - 1, 0), -2'147'483'648'000'000'000);
}

TEST(Publishers, are_those_of_the_participants_letters) {
    const std::map<char, unsigned> publishers{
        {'A', 20}, {'B', 21}, {'C', 22}, {'D', 23},  {'E', 24}, {'G', 108}, {'H', 25},
        {'I', 26}, {'J', 27}, {'M', 28}, {'N', 29},  {'O', 30}, {'P', 31},  {'Q', 32},
        {'S', 61}, {'T', 33}, {'U', 37}, {'V', 109}, {'W', 34}, {'X', 35},  {'Z', 36}};
    for (int letter = -128; letter < 128; ++letter) {
        const auto found = publishers.find(static_cast<char>(letter));
        EXPECT_EQ(publisher_of(static_cast<char>(letter)),
                  found == publishers.end() ? 0 : found->second)
            << letter;
    }
    EXPECT_EQ(consolidated_publisher, 30U);
    EXPECT_EQ(record_flags, 194U);
}

TEST(Schemas, have_their_names) {
    EXPECT_EQ(name_of(Schema::cmbp_1), "cmbp-1");
    EXPECT_EQ(name_of(Schema::cbbo_1s), "cbbo-1s");
    EXPECT_EQ(name_of(Schema::cbbo_1m), "cbbo-1m");
    EXPECT_EQ(name_of(Schema::tcbbo), "tcbbo");
    EXPECT_EQ(name_of(Schema::trades), "trades");
    EXPECT_EQ(name_of(Schema::mbp_1), "mbp-1");
    EXPECT_EQ(name_of(Schema::tbbo), "tbbo");
    EXPECT_EQ(name_of(Schema::ohlcv_1s), "ohlcv-1s");
    EXPECT_EQ(name_of(Schema::ohlcv_1m), "ohlcv-1m");
    EXPECT_EQ(name_of(Schema::ohlcv_1h), "ohlcv-1h");
    EXPECT_EQ(name_of(Schema::definition), "definition");
    EXPECT_EQ(name_of(Schema::statistics), "statistics");
    for (const std::string_view name : schema_names) {
        EXPECT_EQ(name_of(*schema_of(name)), name);
    }
    for (const std::string_view name : {"", "mbo", "Trades", "trades ", "cmbp"}) {
        EXPECT_FALSE(schema_of(name)) << name;
    }
}

}  // namespace
}  // namespace pinstrike::feed::dbn
