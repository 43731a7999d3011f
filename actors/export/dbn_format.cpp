// path: cold
#include "actors/export/record_format.h"
#include "actors/market/instruments.h"
#include "feed/dbn/metadata.h"
#include "feed/dbn/osi_symbol.h"
#include "feed/dbn/records.h"
#include "feed/dbn/values.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

using feed::dbn::Schema;

template <class Value>
Value value_at(const std::byte* at) {
    Value value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

class DbnFormat final : public RecordFormat {
  public:
    explicit DbnFormat(Schema schema)
        : schema_(schema), record_bytes_(record_bytes(schema)), time_at_(record_time_at(schema)) {}

    [[nodiscard]] bool begins_late() const override { return true; }

    [[nodiscard]] bool begin(ExportFile& /*file*/) override { return true; }

    [[nodiscard]] bool add(const RecordBlock& block, ExportFile& file) override {
        for (const pinstrike_key& key : block.series) {
            if (key.id >= series_.size()) {
                series_.resize(key.id + std::size_t{1});
            }
            series_[key.id].key = key;
        }
        const std::span<const std::byte> records = block.records();
        for (std::size_t at = 0; at < records.size(); at += record_bytes_) {
            const auto header = value_at<feed::dbn::RecordHeader>(&records[at]);
            const auto time_ns = value_at<std::uint64_t>(&records[at + time_at_]);
            series_[header.instrument].occurs = true;
            if (time_ns != feed::dbn::undefined_time) {
                first_ns_ = std::min(first_ns_, time_ns);
                last_ns_ = std::max(last_ns_, time_ns);
            }
        }
        return file.write(records);
    }

    [[nodiscard]] bool end(ExportFile& file) override {
        feed::dbn::FileContent content{.schema = schema_, .symbols = symbols()};
        if (first_ns_ <= last_ns_) {
            content.start_ns = first_ns_;
            content.end_ns = last_ns_ + 1;
        }
        return file.write_beginning(
            feed::dbn::file_metadata(feed::dbn::dataset, content, file.beginning_multiple_bytes()));
    }

  private:
    struct Series {
        pinstrike_key key{};
        bool occurs = false;
    };

    /// Both sessions of a series have one symbol.
    [[nodiscard]] std::vector<feed::dbn::MappedSymbol> symbols() const {
        std::vector<std::pair<std::string, std::uint32_t>> names;
        for (const Series& series : series_) {
            if (series.occurs) {
                names.emplace_back(feed::dbn::osi_symbol(name_of(series.key)), series.key.id);
            }
        }
        std::sort(names.begin(), names.end());
        std::vector<feed::dbn::MappedSymbol> symbols;
        for (auto& [name, id] : names) {
            if (symbols.empty() || symbols.back().symbol != name) {
                symbols.push_back({std::move(name), {}});
            }
            symbols.back().instruments.push_back(id);
        }
        return symbols;
    }

    Schema schema_;
    std::size_t record_bytes_;
    std::size_t time_at_;
    std::vector<Series> series_;  ///< by id
    std::uint64_t first_ns_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last_ns_ = 0;
};

}  // namespace

std::size_t record_bytes(Schema schema) {
    return with_record_of(schema, []<class Record>() { return sizeof(Record); });
}

std::size_t record_time_at(Schema schema) {
    return with_record_of(schema, []<class Record>() {
        if constexpr (requires(Record record) { record.receive_ns; }) {
            return offsetof(Record, receive_ns);
        } else {
            return offsetof(feed::dbn::RecordHeader, event_ns);
        }
    });
}

std::unique_ptr<RecordFormat> dbn_format(Schema schema) {
    return std::make_unique<DbnFormat>(schema);
}

}  // namespace pinstrike::actors
