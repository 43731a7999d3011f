// path: cold
//
// Feeds and streams as Python's module has them: pinstrike.h with errors as exceptions and rows as
// results. None of these functions needs Python's lock.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/python/rows.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pinstrike::python {

/// What a call could not do, in a sentence.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

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

/// pinstrike_filter with the lists that it points to.
class Filter {
  public:
    Filter(std::vector<std::string> roots, std::vector<std::uint32_t> ids,
           const pinstrike_filter& others);

    [[nodiscard]] pinstrike_filter get() const;

  private:
    std::vector<std::string> roots_;
    std::vector<const char*> names_;
    std::vector<std::uint32_t> ids_;
    pinstrike_filter others_;
};

struct Close {
    void operator()(pinstrike_feed* feed) const { pinstrike_close(feed); }

    void operator()(pinstrike_stream* stream) const { pinstrike_unsubscribe(stream); }
};

using FeedHandle = std::unique_ptr<pinstrike_feed, Close>;
using StreamHandle = std::unique_ptr<pinstrike_stream, Close>;

/// An attached feed, for any thread.
class Feed {
  public:
    /// Throws Error.
    explicit Feed(const std::string& name);

    pinstrike_condition condition();
    std::int64_t start_ns();
    std::uint32_t trade_date();

    /// Of another start of the feed if this one is over. Throws Error.
    Block chain(const Filter& filter, Prices prices);

  private:
    std::mutex mutex_;
    FeedHandle feed_;
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

    /// Only kinds at the places in `wanted` are given. Throws Error.
    Stream(const std::string& name, const Filter& filter, Prices prices, Places wanted);

    /// The state with which the stream begins, or that was read again last.
    Block snapshot();

    enum class Wait : std::uint8_t { messages, timeout, over };

    /// Throws Error.
    Wait wait(std::int64_t timeout_ns);

    pinstrike_condition condition();
    std::int64_t start_ns();

    /// From at most `max` records; a batch ends with a snapshot. Throws Error.
    Batch poll(std::size_t max);

    /// Reads at most `max` records if all were taken. Returns how many there are to take. Throws
    /// Error.
    std::size_t read(std::size_t max);

    /// Takes the next record of a wanted kind, which is valid until read(); null: there is none.
    /// `place` becomes that of its kind.
    const pinstrike_record* next(std::size_t& place);

    [[nodiscard]] const MessageLayouts& layouts() const { return layouts_; }

  private:
    FeedHandle feed_;
    StreamHandle stream_;
    const MessageLayouts& layouts_;
    const Layout<pinstrike_value>& series_layout_;
    Places wanted_;
    std::vector<pinstrike_record> records_;
    std::vector<pinstrike_value> values_;  ///< memory for the next snapshot
    std::size_t count_ = 0;                ///< of records_
    std::size_t taken_ = 0;                ///< of them
    bool read_again_ = false;              ///< a record that was taken says that there is new state
    std::array<std::size_t, kinds_count> rows_max_{};  ///< of the batch before
};

/// The names of the feeds that are published on this host.
[[nodiscard]] std::vector<std::string> feed_names();

}  // namespace pinstrike::python
