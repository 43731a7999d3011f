// path: cold
//
// A feed published in a folder of the test, written by books in this process.
#pragma once

#include "actors/book/book.h"
#include "actors/publish/memory_file.h"
#include "actors/publish/stamp.h"
#include "tests/actors/book/events.h"
#include "tests/actors/book/session.h"
#include "tests/actors/publish/publish_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::actors::test {

/// A published feed and its books, one for each core.
class PublishedFeed {
  public:
    static constexpr BookConfig config{.series_capacity = 64};

    explicit PublishedFeed(std::size_t cores_count = 1, std::size_t stream_records = 4096,
                           bool kept = false, std::size_t series_capacity = config.series_capacity,
                           std::uint64_t number_last = feed::Numbering{}.last) {
        const BookConfig each{.series_capacity = series_capacity};
        MemoryPlan plan{.feed = "test", .cores = {}, .nodes = {}, .shape = book_shape(each, 1)};
        plan.shape.stream_records = stream_records;
        plan.kept = kept;
        plan.trade_date = 20261127;
        plan.number_last = number_last;
        for (std::size_t i = 0; i < cores_count; ++i) {
            plan.cores.push_back("core" + std::to_string(i));
        }
        Problems problems;
        file = MemoryFile::make(plan, problems);
        EXPECT_NE(file, nullptr) << (problems.empty() ? "" : problems.front().text);
        for (std::size_t i = 0; i < cores_count; ++i) {
            books.push_back(std::make_unique<Book>(each, file->core(i)));
            books.back()->on_start({});
        }
        show_life();
        file->set_live();
    }

    /// As the timers of the cores do.
    void show_life() {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        for (const auto& book : books) {
            book->on_timer(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
        }
    }

    std::unique_ptr<MemoryFile> file;
    std::vector<std::unique_ptr<Book>> books;
};

/// A day of random events, with times of receipt a few thousand a millisecond.
class Day {
  public:
    static constexpr std::int64_t start_ns = 1'795'000'000'000'000'000;

    explicit Day(std::uint64_t seed) : session(seed) {}

    /// The records of some random events.
    [[nodiscard]] std::vector<feed::Event> next(unsigned steps) {
        Events events;
        for (unsigned i = 0; i < steps; ++i) {
            session.step(events);
        }
        const auto records = events.batch().records();
        std::vector<feed::Event> out{records.begin(), records.end()};
        for (std::size_t at = 0; at < out.size(); at += out[at].header.records) {
            time_ns_ += session.below(200) == 0 ? 30'000'000 : session.below(700);
            out[at].header.ts_receive_ns = time_ns_;
        }
        return out;
    }

    Session session;

  private:
    std::int64_t time_ns_ = start_ns;
};

/// The stamps of a core's events.
class Stamps {
  public:
    /// The stamp of each event of some records.
    [[nodiscard]] std::vector<std::uint64_t> next(const std::vector<feed::Event>& records) {
        std::vector<std::uint64_t> stamps;
        for (const feed::Event& event : EventBatch{records}) {
            stamps.push_back(clock_.next(event.header.ts_receive_ns));
        }
        return stamps;
    }

  private:
    StampClock clock_;
};

}  // namespace pinstrike::actors::test
