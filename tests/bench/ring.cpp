// path: cold
//
// Compares our ring with its peers in one run. Two threads on cpus 0 and 1 push records of 64 and
// of 8 bytes in batches of 32 and one by one, and send single records there and back. Every record
// is written and read in full. The runs of all contenders alternate, so that a disturbance affects
// all alike. The limits in the output are those of this machine: a cache line that two cores write
// in turn, and memcpy.
//
//     bench_ring [RUNS [FROM:TO]]
//
// FROM:TO: count only figures that were measured while the two cores were at this distance
// (distance.h).
#include "actors/topology/machine.h"
#include "tests/bench/distance.h"
#include "tests/bench/measure.h"
#include "tests/bench/ring_contenders.h"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::bench {
namespace {

constexpr std::size_t capacity_records = 8192;

/// One figure of one contender.
struct Row {
    std::string name;
    const char* unit;
    double (*measure)(std::size_t capacity);
    std::size_t capacity;
    std::vector<double> runs{};
};

/// Runs `there` on cpu 1 and `here` on cpu 0. Returns the seconds until both have ended.
template <class Here, class There>
double together(Here&& here, There&& there) {
    std::atomic<bool> go{false};
    std::thread other{[&] {
        actors::place_this_thread(1, "there");
        while (!go.load(std::memory_order_acquire)) {
        }
        there();
    }};
    actors::place_this_thread(0, "here");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto begun = std::chrono::steady_clock::now();
    go.store(true, std::memory_order_release);
    here();
    other.join();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void demand_sum(std::uint64_t total, std::uint64_t records, std::size_t words) {
    if (total != (records - 1) * records / 2 * words) {
        fmt::print(stderr, "records were lost or torn\n");
        std::exit(1);
    }
}

/// Millions of records per second, with `pushed` records per push.
template <class Queue, class R, std::size_t pushed>
double throughput(std::size_t capacity) {
    constexpr std::uint64_t records = 1 << 23;
    Queue queue{capacity};
    std::uint64_t total = 0;
    const double seconds = together(
        [&] {
            for (std::uint64_t next = 0; next < records;) {
                if (queue.push(std::min<std::size_t>(pushed, records - next), next) == 0) {
                    _mm_pause();
                }
            }
        },
        [&] {
            std::uint64_t added = 0;
            for (std::uint64_t popped = 0; popped < records;) {
                const std::size_t count = queue.pop(added);
                popped += count;
                if (count == 0) {
                    _mm_pause();
                }
            }
            total = added;
        });
    demand_sum(total, records, sizeof(R) / 8);
    return static_cast<double>(records) / seconds / 1e6;
}

/// Nanoseconds for one record there and one back.
template <class Queue, class R>
double round_trip(std::size_t capacity) {
    constexpr std::uint64_t trips = 300'000;
    Queue to{capacity};
    Queue back{capacity};
    std::uint64_t total = 0;
    const double seconds = together(
        [&] {
            for (std::uint64_t next = 0; next < trips;) {
                to.push(1, next);
                while (back.pop(total) == 0) {
                }
            }
        },
        [&] {
            std::uint64_t ignored = 0;
            for (std::uint64_t next = 0; next < trips;) {
                while (to.pop(ignored) == 0) {
                }
                back.push(1, next);
            }
        });
    demand_sum(total, trips, sizeof(R) / 8);
    return seconds * 1e9 / static_cast<double>(trips);
}

/// The same with two cache lines only: each thread writes one and waits for the other's.
double bounce(std::size_t /*capacity*/) {
    constexpr std::uint64_t trips = 300'000;

    struct alignas(128) Line {
        std::atomic<std::uint64_t> count{0};  // relaxed, because it orders no other data
    };

    Line to;
    Line back;
    const auto wait_for = [](const Line& line, std::uint64_t count) {
        while (line.count.load(std::memory_order_relaxed) < count) {
        }
    };
    const double seconds = together(
        [&] {
            for (std::uint64_t i = 1; i <= trips; ++i) {
                to.count.store(i, std::memory_order_relaxed);
                wait_for(back, i);
            }
        },
        [&] {
            for (std::uint64_t i = 1; i <= trips; ++i) {
                wait_for(to, i);
                back.count.store(i, std::memory_order_relaxed);
            }
        });
    return seconds * 1e9 / static_cast<double>(trips);
}

/// A cache line of data in each direction, which a counter in another cache line announces. A queue
/// with an index transfers at least these.
double bounce_with_data(std::size_t /*capacity*/) {
    constexpr std::uint64_t trips = 300'000;
    constexpr std::size_t slots = 64;

    struct alignas(128) Line {
        std::uint64_t word = 0;
    };

    struct Way {
        alignas(128) std::atomic<std::uint64_t> count{0};  // release and acquire order the data
        std::array<Line, slots> data;

        void send(std::uint64_t i) {
            data[i % slots].word = i;
            count.store(i, std::memory_order_release);
        }

        std::uint64_t wait_for(std::uint64_t i) {
            while (count.load(std::memory_order_acquire) < i) {
            }
            return data[i % slots].word;
        }
    };

    const auto to = std::make_unique<Way>();
    const auto back = std::make_unique<Way>();
    std::uint64_t total = 0;
    const double seconds = together(
        [&] {
            for (std::uint64_t i = 1; i <= trips; ++i) {
                to->send(i);
                total += back->wait_for(i);
            }
        },
        [&] {
            for (std::uint64_t i = 1; i <= trips; ++i) {
                back->send(to->wait_for(i));
            }
        });
    demand_sum(total - trips, trips, 1);  // each word is one more than a record's number
    return seconds * 1e9 / static_cast<double>(trips);
}

/// Millions of records per second that one thread copies into as many slots, which no thread reads.
template <class R>
double copies(std::size_t capacity) {
    constexpr std::uint64_t rounds = 1 << 10;
    std::vector<R> slots(capacity);
    std::vector<R> records(batch_records);
    const double begin = cpu_seconds();
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (std::size_t at = 0; at < capacity; at += batch_records) {
            std::memcpy(&slots[at], records.data(), batch_records * sizeof(R));
            keep(slots.data());
        }
    }
    return static_cast<double>(rounds * capacity) / (cpu_seconds() - begin) / 1e6;
}

template <class Queue, class R>
void add_contender(std::vector<Row>& rows, const char* throughput_unit) {
    const std::string size = fmt::format("{} B", sizeof(R));
    const std::string at = fmt::format("capacity {}", capacity_records);
    rows.push_back({fmt::format("{}, batches, {}: {}", size, at, Queue::name), throughput_unit,
                    throughput<Queue, R, batch_records>, capacity_records});
    rows.push_back({fmt::format("{}, single, {}: {}", size, at, Queue::name), throughput_unit,
                    throughput<Queue, R, 1>, capacity_records});
    rows.push_back({fmt::format("{}, round trip: {}", size, Queue::name), "ns",
                    round_trip<Queue, R>, capacity_records});
    if (sizeof(R) == 64) {
        for (const std::size_t capacity : {std::size_t{1024}, std::size_t{65536}}) {
            rows.push_back(
                {fmt::format("{}, batches, capacity {}: {}", size, capacity, Queue::name),
                 throughput_unit, throughput<Queue, R, batch_records>, capacity});
        }
    }
}

template <class R>
void add_size(std::vector<Row>& rows) {
    constexpr const char* unit = "M records/s";
    add_contender<Ours<R>, R>(rows, unit);
    add_contender<Boost<R>, R>(rows, unit);
    add_contender<Dpdk<R>, R>(rows, unit);
    add_contender<Moodycamel<R>, R>(rows, unit);
    rows.push_back(
        {fmt::format("{} B: limit: memcpy", sizeof(R)), unit, copies<R>, capacity_records});
}

}  // namespace
}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    using namespace pinstrike::bench;
    if (std::thread::hardware_concurrency() < 2) {
        fmt::print("skipped: needs two processors\n");
        return 77;
    }
    const int runs = argc > 1 ? std::atoi(argv[1]) : 5;
    Distances distances;
    if (argc > 2 && !read(argv[2], distances)) {
        fmt::print(stderr, "usage: bench_ring [RUNS [FROM:TO]], nanoseconds\n");
        return 2;
    }
    AtDistance at_distance{distances};
    std::vector<Row> rows;
    add_size<Record<8>>(rows);
    add_size<Record<1>>(rows);
    rows.push_back({"limit: two lines, there and back", "ns", bounce, 0});
    rows.push_back(
        {"limit: two lines and their counts, there and back", "ns", bounce_with_data, 0});
    for (int run = 0; run < runs; ++run) {
        for (Row& row : rows) {
            row.runs.push_back(at_distance.measure([&] { return row.measure(row.capacity); }));
        }
    }
    std::sort(rows.begin(), rows.end(),
              [](const Row& one, const Row& other) { return one.name < other.name; });
    print_head("ring");
    for (const Row& row : rows) {
        print_row(row.name, spread_of(row.runs), row.unit);
    }
    print_distance(at_distance);
    return 0;
}
