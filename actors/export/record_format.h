// path: cold
//
// How records become the bytes of a file.
#pragma once

#include "actors/export/export_file.h"
#include "actors/export/record_blocks.h"
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

/// Bytes of each record of a schema.
[[nodiscard]] std::size_t record_bytes(feed::dbn::Schema schema);

/// Where records of a schema have the time by which readers order them and look up symbols.
[[nodiscard]] std::size_t record_time_at(feed::dbn::Schema schema);

/// A DBN file, with all series of its records in the metadata.
[[nodiscard]] std::unique_ptr<RecordFormat> dbn_format(feed::dbn::Schema schema);

/// A heading, and one row for each record.
[[nodiscard]] std::unique_ptr<RecordFormat> csv_format(feed::dbn::Schema schema);

}  // namespace pinstrike::actors
