// path: cold
//
// Published memory whose book a benchmark drives itself.
#pragma once

#include "actors/book/book.h"
#include "actors/core/core.h"
#include "actors/publish/memory_file.h"
#include "config/problem.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace pinstrike::command {

/// The records of each batch that a book or a stream gets, as from a core.
inline constexpr std::size_t bench_batch_records = actors::default_batch_records;

/// Calls take(EventBatch) for batches of whole messages.
template <class Take>
void for_each_batch(std::span<const feed::Event> records, Take&& take) {
    while (!records.empty()) {
        std::size_t count = records.front().header.records;
        while (count < records.size() &&
               count + records[count].header.records <= bench_batch_records) {
            count += records[count].header.records;
        }
        take(actors::EventBatch{records.first(count), records.size() - count});
        records = records.subspan(count);
    }
}

/// A feed with one core, which is published while this exists.
class PublishedBook {
  public:
    /// `stream_records` 0: without a stream. Null, with a Problem: it cannot be published.
    static std::unique_ptr<PublishedBook> make(const std::string& feed,
                                               actors::PublishMemory memory, std::size_t series,
                                               std::size_t stream_records, Problems& problems) {
        const actors::BookConfig config{.series_capacity = series};
        actors::MemoryPlan plan{.feed = feed,
                                .memory = memory,
                                .cores = {"core"},
                                .nodes = {},
                                .shape = actors::book_shape(config, 1)};
        plan.shape.stream_records = stream_records;
        auto file = actors::MemoryFile::make(std::move(plan), problems);
        if (file == nullptr) {
            return nullptr;
        }
        auto published = std::make_unique<PublishedBook>(config, std::move(file));
        published->book.on_start({});
        published->file->set_live();
        return published;
    }

    PublishedBook(const actors::BookConfig& config, std::unique_ptr<actors::MemoryFile> made)
        : file(std::move(made)), book(config, file->core(0)) {}

    void apply(std::span<const feed::Event> records) {
        for_each_batch(records, [this](actors::EventBatch batch) { book.on_events(batch); });
    }

    std::unique_ptr<actors::MemoryFile> file;
    actors::Book book;
};

}  // namespace pinstrike::command
