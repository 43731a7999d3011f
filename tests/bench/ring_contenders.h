// path: cold
//
// Queues of one producer and one consumer behind one interface: ours, boost's, DPDK's and
// moodycamel::ReaderWriterQueue. Each is used as its authors intend, with bulk operations if it has
// any. push() makes its records visible to the other side before it returns. pop() takes the
// records that are there, at most a batch, and adds their words to `total`.
#pragma once

#include "actors/threads/ring.h"
#include "tests/bench/ring_dpdk.h"

#include <boost/lockfree/spsc_queue.hpp>
#include <readerwriterqueue/readerwriterqueue.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::bench {

inline constexpr std::size_t batch_records = 32;

/// All words hold the same count, so that a torn or lost record makes the sum wrong.
template <std::size_t words_count>
struct alignas(words_count * 8) Record {
    std::array<std::uint64_t, words_count> words;
};

template <class R>
inline void fill(std::span<R> records, std::uint64_t& next) {
    for (R& record : records) {
        record.words.fill(next++);
    }
}

template <class R>
inline std::uint64_t sum(std::span<const R> records) {
    std::uint64_t total = 0;
    for (const R& record : records) {
        for (const std::uint64_t word : record.words) {
            total += word;
        }
    }
    return total;
}

template <class R>
class Ours {
  public:
    static constexpr const char* name = "pinstrike";

    explicit Ours(std::size_t capacity) : halves_(actors::Ring<R>::make(capacity)) {}

    std::size_t push(std::size_t count, std::uint64_t& next) {
        R* slots = halves_.producer.claim(count);
        if (slots == nullptr) {
            return 0;
        }
        fill(std::span{slots, count}, next);
        halves_.producer.publish();
        return count;
    }

    std::size_t pop(std::uint64_t& total) {
        const std::span<const R> records = halves_.consumer.peek(batch_records);
        total += sum(records);
        halves_.consumer.release(records.size());
        return records.size();
    }

  private:
    typename actors::Ring<R>::Halves halves_;
};

template <class R>
class Boost {
  public:
    static constexpr const char* name = "boost::lockfree::spsc_queue";

    explicit Boost(std::size_t capacity) : queue_(capacity) {}

    std::size_t push(std::size_t count, std::uint64_t& next) {
        if (queue_.write_available() < count) {
            return 0;
        }
        std::array<R, batch_records> records;
        fill(std::span{records}.first(count), next);
        return queue_.push(records.data(), count);
    }

    std::size_t pop(std::uint64_t& total) {
        std::array<R, batch_records> records;
        const std::size_t count = queue_.pop(records.data(), records.size());
        total += sum(std::span<const R>{records}.first(count));
        return count;
    }

  private:
    boost::lockfree::spsc_queue<R> queue_;
};

template <class R>
class Dpdk {
  public:
    static constexpr const char* name = "rte_ring";

    explicit Dpdk(std::size_t capacity) : ring_(make_dpdk_ring(capacity, sizeof(R))) {}

    std::size_t push(std::size_t count, std::uint64_t& next) {
        std::array<R, batch_records> records;
        std::uint64_t after = next;
        fill(std::span{records}.first(count), after);
        const std::size_t pushed = dpdk_ring_push<sizeof(R)>(ring_.get(), records.data(), count);
        next += pushed;
        return pushed;
    }

    std::size_t pop(std::uint64_t& total) {
        std::array<R, batch_records> records;
        const std::size_t count =
            dpdk_ring_pop<sizeof(R)>(ring_.get(), records.data(), records.size());
        total += sum(std::span<const R>{records}.first(count));
        return count;
    }

  private:
    DpdkRingPointer ring_;
};

/// It has no bulk operations, so a batch is as many pushes. It never grows, because try_enqueue
/// does not allocate.
template <class R>
class Moodycamel {
  public:
    static constexpr const char* name = "moodycamel::ReaderWriterQueue";

    explicit Moodycamel(std::size_t capacity) : queue_(capacity) {}

    std::size_t push(std::size_t count, std::uint64_t& next) {
        std::size_t pushed = 0;
        for (; pushed < count; ++pushed) {
            R record;
            record.words.fill(next);
            if (!queue_.try_enqueue(record)) {
                break;
            }
            ++next;
        }
        return pushed;
    }

    std::size_t pop(std::uint64_t& total) {
        std::size_t count = 0;
        for (R record; count < batch_records && queue_.try_dequeue(record); ++count) {
            total += sum(std::span<const R>{&record, 1});
        }
        return count;
    }

  private:
    moodycamel::ReaderWriterQueue<R> queue_;
};

}  // namespace pinstrike::bench
