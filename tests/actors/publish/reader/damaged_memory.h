// path: cold
//
// Published memory in a buffer, which is damaged, read and restored.
#pragma once

#include "actors/publish/reader/error.h"
#include "actors/publish/reader/event_stream.h"
#include "tests/actors/book/events.h"
#include "tests/actors/book/session.h"
#include "tests/actors/publish/reader/feed_image.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pinstrike::actors::test {

class DamagedMemory {
  public:
    DamagedMemory() {
        Book book{config, image_.memory()};
        Session session{3};
        for (int batch = 0; batch < 5; ++batch) {
            Events events;
            for (int i = 0; i < 60; ++i) {
                session.step(events);
            }
            events.play(book);
        }
        choose_targets();
    }

    /// Changes a byte: one of those that matter, by its number.
    void damage(std::uint16_t target, std::uint8_t change) {
        const std::size_t at = targets_[target % targets_.size()];
        undo_.emplace_back(at, bytes()[at]);
        bytes()[at] ^= std::byte{change};
    }

    void restore() {
        for (; !undo_.empty(); undo_.pop_back()) {
            bytes()[undo_.back().first] = undo_.back().second;
        }
    }

    /// Attaches, reads the state of all series, and polls a stream from its first event on.
    void read() {
        try {
            auto feed = image_.attach();
            std::array<pinstrike_value, 64> values;
            feed->chain({}, values.data(), values.size());
            const std::uint64_t tail = std::exchange(core().tail, 0);
            reader::EventStream stream{std::move(feed), {}};
            core().tail = tail;
            std::array<pinstrike_record, 64> records;
            for (int i = 0; i < 20; ++i) {
                stream.poll(records);
            }
            ++reads_;
        } catch (const reader::Error&) {
            ++errors_;  // the damage was found
        }
    }

    /// Reads in which no damage was found.
    [[nodiscard]] unsigned reads_without_error() const { return reads_; }

  private:
    static constexpr BookConfig config{.series_capacity = 64};

    static CoreShape shape() {
        CoreShape shape = book_shape(config, 1);
        shape.stream_records = 1024;
        return shape;
    }

    [[nodiscard]] std::byte* bytes() const { return image_.bytes(); }

    [[nodiscard]] pinstrike_core& core() const { return image_.core(); }

    /// All bytes but the lines that no event concerns and the unused part of the stream.
    void choose_targets() {
        const pinstrike_core& core = this->core();
        const auto add = [this](std::size_t from, std::size_t count) {
            for (std::size_t at = from; at < from + count; ++at) {
                targets_.push_back(static_cast<std::uint32_t>(at));
            }
        };
        add(0, FeedImage::arrays_at);
        add(core.entries.at, core.entries.count * sizeof(pinstrike_entry));
        add(core.groups.at, core.groups.count * sizeof(pinstrike_group));
        add(core.trades.at, core.trades.count * sizeof(pinstrike_trades));
        add(core.series.at, core.series.count * sizeof(pinstrike_series));
        add(core.roots.at, core.roots.count * sizeof(pinstrike_root));
        add(core.lines.at, (Session::lines_count + 1) * sizeof(pinstrike_line));
        add(core.stream.at, core.tail * sizeof(feed::Event));
    }

    FeedImage image_{shape()};
    std::vector<std::uint32_t> targets_;
    std::vector<std::pair<std::size_t, std::byte>> undo_;
    unsigned reads_ = 0;
    unsigned errors_ = 0;
};

}  // namespace pinstrike::actors::test
