// path: cold
//
// Feeds and streams as Python's module has them: pinstrike.h with errors as exceptions and rows as
// results. None of these functions needs Python's lock.
#pragma once

#include "actors/publish/pinstrike.hpp"
#include "actors/publish/python/rows.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::python {

/// Rows of one layout, which numpy views as an array. They never change once Python has them.
class Block {
  public:
    /// With memory for `rows_max` rows, which is taken when the first one is added.
    Block(std::size_t row_bytes, std::size_t rows_max)
        : row_bytes_(row_bytes), rows_max_(rows_max) {}

    /// The place of one more row. Throws std::bad_alloc.
    std::byte* add();

    /// Returns the memory that no row uses.
    void fit();

    [[nodiscard]] std::size_t rows() const { return rows_; }

    [[nodiscard]] std::byte* data() const { return memory_.get(); }

    [[nodiscard]] std::size_t bytes() const { return row_bytes_ * rows_; }

  private:
    void resize(std::size_t rows_max);

    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };

    std::size_t row_bytes_;
    std::size_t rows_max_;
    std::size_t rows_ = 0;
    std::unique_ptr<std::byte, Free> memory_;
};

/// An attached feed, for any thread.
class Feed {
  public:
    /// Throws client::error.
    explicit Feed(const std::string& name) : feed_(name) {}

    pinstrike_condition condition() { return locked(&client::feed::condition); }

    std::int64_t start_ns() { return locked(&client::feed::start_ns); }

    std::uint32_t trade_date() { return locked(&client::feed::trade_date); }

    /// Of another start of the feed if this one is over. Throws client::error.
    Block chain(const client::filter& filter, Prices prices);

  private:
    template <class Value>
    Value locked(Value (client::feed::*call)() const) {
        const std::lock_guard lock{mutex_};
        return (feed_.*call)();
    }

    std::mutex mutex_;
    client::feed feed_;
    std::vector<pinstrike_value> values_;  ///< memory for the next call
};

/// The messages of one call, by place.
struct Batch {
    std::vector<std::shared_ptr<Block>> blocks;  ///< shared with each array that views one
    std::optional<Block> snapshot;               ///< state that was read again
    std::size_t messages = 0;
};

/// A stream with a feed of its own, because a stream attaches its feed to another start by itself,
/// and a feed is not for several threads at a time. One thread at a time.
class Stream {
  public:
    using Places = std::bitset<kinds_count>;

    /// Only kinds at the places in `wanted` are given. Throws client::error.
    Stream(const std::string& name, const client::filter& filter, Prices prices, Places wanted);

    /// The state with which the stream begins, or that was read again last.
    Block snapshot();

    using Wait = client::stream::waited;

    /// Throws client::error.
    Wait wait(std::int64_t timeout_ns);

    pinstrike_condition condition();
    std::int64_t start_ns();

    /// From at most `max` records; a batch ends with a snapshot. Throws
    /// client::error.
    Batch poll(std::size_t max);

    /// Reads at most `max` records if all were taken. Returns how many there are to take. Throws
    /// client::error.
    std::size_t read(std::size_t max);

    /// Takes the next record of a wanted kind, which is valid until read(); null: there is none.
    /// `place` becomes that of its kind.
    const pinstrike_record* next(std::size_t& place);

    [[nodiscard]] const MessageLayouts& layouts() const { return layouts_; }

  private:
    client::feed feed_;
    client::stream stream_;
    const MessageLayouts& layouts_;
    const Layout<pinstrike_value>& series_layout_;
    Places wanted_;
    std::span<const pinstrike_record> records_;  ///< that are to be taken
    bool read_again_ = false;  ///< a record that was taken says that there is new state
    std::array<std::size_t, kinds_count> rows_max_{};  ///< of the batch before
};

}  // namespace pinstrike::python
