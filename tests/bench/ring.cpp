// path: cold
//
// Our ring beside boost::lockfree::spsc_queue and DPDK's rte_ring (single producer, single
// consumer), in one run: two threads on cpus 0 and 1, records of 64 bytes in batches of 32, by
// capacity. Every record is written whole and read whole. Each figure is the median of its runs,
// which take turns, so that a disturbed stretch meets all alike.
#include "actors/ring.h"

#include "actors/machine.h"
#include "tests/bench/ring_dpdk.h"

#include <boost/lockfree/spsc_queue.hpp>
#include <fmt/core.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using pinstrike::bench::Record;
constexpr std::size_t batch = 32;

/// Written and read alike for all three: eight words, the first a count.
void fill(Record* records, std::size_t count, std::uint64_t& next) {
    for (std::size_t i = 0; i < count; ++i) {
        for (std::uint64_t& word : records[i].words) {
            word = next;
        }
        ++next;
    }
}

std::uint64_t sum(std::span<const Record> records) {
    std::uint64_t total = 0;
    for (const Record& record : records) {
        for (const std::uint64_t word : record.words) {
            total += word;
        }
    }
    return total;
}

/// A queue as the measurement sees it: push says how many it took, pop how many it gave, having
/// added them to `total`.
struct Ours {
    explicit Ours(std::size_t capacity) : halves(pinstrike::actors::Ring<Record>::make(capacity)) {}

    std::size_t push(std::uint64_t& next) {
        Record* slots = halves.producer.claim(batch);
        if (slots == nullptr) {
            return 0;
        }
        fill(slots, batch, next);
        halves.producer.publish();
        return batch;
    }

    std::size_t pop(std::uint64_t& total) {
        const auto records = halves.consumer.peek(batch);
        total += sum(records);
        halves.consumer.release(records.size());
        return records.size();
    }

    pinstrike::actors::Ring<Record>::Halves halves;
};

struct Boost {
    explicit Boost(std::size_t capacity) : queue(capacity) {}

    std::size_t push(std::uint64_t& next) {
        if (queue.write_available() < batch) {
            return 0;
        }
        std::array<Record, batch> records;
        fill(records.data(), batch, next);
        return queue.push(records.data(), batch);
    }

    std::size_t pop(std::uint64_t& total) {
        std::array<Record, batch> records;
        const std::size_t count = queue.pop(records.data(), batch);
        total += sum(std::span{records}.first(count));
        return count;
    }

    boost::lockfree::spsc_queue<Record> queue;
};

struct Dpdk {
    explicit Dpdk(std::size_t capacity) : ring(pinstrike::bench::make_dpdk_ring(capacity)) {}

    std::size_t push(std::uint64_t& next) {
        if (pinstrike::bench::dpdk_ring_free(ring.get()) < batch) {
            return 0;
        }
        std::array<Record, batch> records;
        fill(records.data(), batch, next);
        return pinstrike::bench::dpdk_ring_push(ring.get(), records);
    }

    std::size_t pop(std::uint64_t& total) {
        std::array<Record, batch> records;
        const std::size_t count = pinstrike::bench::dpdk_ring_pop(ring.get(), records);
        total += sum(std::span{records}.first(count));
        return count;
    }

    pinstrike::bench::DpdkRingPointer ring;
};

/// Millions of records a second through a queue of that capacity.
template <class Queue>
double measure(std::size_t capacity, std::uint64_t records) {
    Queue queue{capacity};
    std::atomic<bool> go{false};
    std::uint64_t total = 0;
    std::thread consumer{[&] {
        pinstrike::actors::place_this_thread(1, "consumer");
        while (!go.load(std::memory_order_acquire)) {
        }
        std::uint64_t added = 0;
        for (std::uint64_t popped = 0; popped < records;) {
            const std::size_t count = queue.pop(added);
            popped += count;
            if (count == 0) {
                _mm_pause();
            }
        }
        total = added;
    }};
    pinstrike::actors::place_this_thread(0, "producer");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto begun = std::chrono::steady_clock::now();
    go.store(true, std::memory_order_release);
    std::uint64_t next = 0;
    while (next < records) {
        if (queue.push(next) == 0) {
            _mm_pause();
        }
    }
    consumer.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    if (total != (records - 1) * records / 2 * 8) {
        fmt::print(stderr, "records were lost or torn\n");
        std::exit(1);
    }
    return static_cast<double>(records) / took.count() / 1e6;
}

struct Contender {
    std::string name;
    double (*measure)(std::size_t capacity, std::uint64_t records);
    std::vector<double> runs;
};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    if (std::thread::hardware_concurrency() < 2) {
        fmt::print("skipped: needs two processors\n");
        return 77;
    }
    const int runs = argc > 1 ? std::atoi(argv[1]) : 9;
    constexpr std::uint64_t records = 1 << 24;
    fmt::print("records of 64 B in batches of {}, M records/s: median of {} runs (worst, best)\n",
               batch, runs);
    for (const std::size_t capacity : {1024U, 8192U, 65536U, 262144U}) {
        std::vector<Contender> contenders{{"pinstrike", measure<Ours>, {}},
                                          {"boost", measure<Boost>, {}},
                                          {"rte_ring", measure<Dpdk>, {}}};
        for (int run = 0; run < runs; ++run) {
            for (Contender& contender : contenders) {
                contender.runs.push_back(contender.measure(capacity, records));
            }
        }
        fmt::print("capacity {:>6}:", capacity);
        for (const Contender& contender : contenders) {
            const auto [low, high] =
                std::minmax_element(contender.runs.begin(), contender.runs.end());
            fmt::print("  {} {:.0f} ({:.0f}, {:.0f})", contender.name, median(contender.runs), *low,
                       *high);
        }
        fmt::print("\n");
    }
    return 0;
}
