// path: cold
//
// Published memory whose book a benchmark updates itself.
#pragma once

#include "actors/book/book.h"
#include "actors/core/core.h"
#include "actors/publish/memory_file.h"
#include "config/problem.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace pinstrike::actors {

/// Calls take(EventBatch) for batches of whole messages, which are as large as those of a core.
template <class Take>
void for_each_batch(std::span<const feed::Event> records, Take&& take) {
    while (!records.empty()) {
        std::size_t count = records.front().header.records;
        while (count < records.size() &&
               count + records[count].header.records <= default_batch_records) {
            count += records[count].header.records;
        }
        take(EventBatch{records.first(count), records.size() - count});
        records = records.subspan(count);
    }
}

/// A feed with one core, which is published while this exists.
class PublishedBook {
  public:
    /// `stream_records` 0: without a stream. Null, with a Problem: it cannot be published.
    static std::unique_ptr<PublishedBook> make(const std::string& feed, PublishMemory memory,
                                               std::size_t series, std::size_t stream_records,
                                               Problems& problems) {
        const BookConfig config{.series_capacity = series};
        MemoryPlan plan{.feed = feed,
                        .memory = memory,
                        .cores = {"core"},
                        .nodes = {},
                        .shape = book_shape(config, 1)};
        plan.shape.stream_records = stream_records;
        auto file = MemoryFile::make(std::move(plan), problems);
        if (file == nullptr) {
            return nullptr;
        }
        auto published = std::make_unique<PublishedBook>(config, std::move(file));
        published->book.on_start({});
        published->file->set_live();
        return published;
    }

    PublishedBook(const BookConfig& config, std::unique_ptr<MemoryFile> made)
        : file(std::move(made)), book(config, file->core(0)) {}

    void apply(std::span<const feed::Event> records) {
        for_each_batch(records, [this](EventBatch batch) { book.on_events(batch); });
    }

    std::unique_ptr<MemoryFile> file;
    Book book;
};

}  // namespace pinstrike::actors
