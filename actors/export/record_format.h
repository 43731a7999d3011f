// path: cold
//
// How records become the bytes of a file.
#pragma once

#include "actors/export/export_file.h"
#include "actors/export/record_blocks.h"
#include "feed/dbn/records.h"
#include "feed/dbn/schema.h"

#include <cstddef>
#include <memory>

namespace pinstrike::actors {

class RecordFormat {
  public:
    virtual ~RecordFormat() = default;

    /// Whether the beginning of the file is written last.
    [[nodiscard]] virtual bool begins_late() const = 0;

    // False: the file could not be written.

    [[nodiscard]] virtual bool begin(ExportFile& file) = 0;
    [[nodiscard]] virtual bool add(const RecordBlock& block, ExportFile& file) = 0;
    [[nodiscard]] virtual bool end(ExportFile& file) = 0;

  protected:
    RecordFormat() = default;
    RecordFormat(const RecordFormat&) = delete;
    RecordFormat& operator=(const RecordFormat&) = delete;
};

/// Calls use.template operator()<Record>() for the type of the records of a schema.
template <class Use>
auto with_record_of(feed::dbn::Schema schema, const Use& use) {
    using enum feed::dbn::Schema;
    switch (schema) {
        case trades:
            return use.template operator()<feed::dbn::TradeRecord>();
        case mbp_1:
        case tbbo:
            return use.template operator()<feed::dbn::VenueRecord>();
        case cmbp_1:
        case tcbbo:
            return use.template operator()<feed::dbn::ConsolidatedRecord>();
        case cbbo_1s:
        case cbbo_1m:
            return use.template operator()<feed::dbn::IntervalRecord>();
        case ohlcv_1s:
        case ohlcv_1m:
        case ohlcv_1h:
            return use.template operator()<feed::dbn::BarRecord>();
        case definition:
            return use.template operator()<feed::dbn::DefinitionRecord>();
        case statistics:
            break;
    }
    return use.template operator()<feed::dbn::StatisticRecord>();
}

/// Bytes of each record of a schema.
[[nodiscard]] std::size_t record_bytes(feed::dbn::Schema schema);

/// Where records of a schema have the time by which readers order them and look up symbols.
[[nodiscard]] std::size_t record_time_at(feed::dbn::Schema schema);

/// A DBN file, with all series of its records in the metadata.
[[nodiscard]] std::unique_ptr<RecordFormat> dbn_format(feed::dbn::Schema schema);

/// A heading, and one row for each record.
[[nodiscard]] std::unique_ptr<RecordFormat> csv_format(feed::dbn::Schema schema);

}  // namespace pinstrike::actors
