// path: cold
//
// Measures what the machine gives one thread. These figures help to compare the results of other
// benchmarks between machines.
//
// Dependent additions take a cycle each, so their rate is the clock rate. The rate of independent
// additions should be nearly four times as high. If it is not, another thread shares the core's
// execution units, which a virtual machine cannot see. Cache lines that are read one after the
// other, each of which names the next, show the latency of memory. Cache lines that are prefetched
// show how many reads can be in flight together. Cache lines that fit into the L2 cache take longer
// to read if they are spread over many pages than if they are adjacent, by the time of address
// translation. In a virtual machine, this includes the page tables of the host.
#include "actors/publish/pages.h"
#include "tests/bench/measure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace pinstrike;

constexpr std::uint64_t turns = 10'000'000;

std::uint64_t add_in_a_chain() {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < turns; ++i) {
        asm volatile("add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0" : "+r"(sum));
    }
    return 4 * turns;
}

std::uint64_t add_side_by_side() {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    std::uint64_t d = 0;
    for (std::uint64_t i = 0; i < turns; ++i) {
        asm volatile(
            "add $1, %0\n add $1, %1\n add $1, %2\n add $1, %3\n"
            "add $1, %0\n add $1, %1\n add $1, %2\n add $1, %3"
            : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    }
    return 8 * turns;
}

struct alignas(64) Line {
    std::uint64_t next;
};

/// 256 MiB of cache lines, more than any cache holds. Each names the next one, in one cycle in
/// random order.
class Lines {
  public:
    Lines() : lines_(std::size_t{1} << 22) {
        std::vector<std::uint32_t> order(lines_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::mt19937_64 random{1};
        for (std::size_t i = order.size() - 1; i > 0; --i) {
            std::swap(order[i], order[random() % i]);
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            lines_[order[i]].next = order[(i + 1) % order.size()];
        }
        order_ = std::move(order);
    }

    std::uint64_t follow() {
        constexpr std::uint64_t steps = 500'000;
        for (std::uint64_t i = 0; i < steps; ++i) {
            at_ = lines_[at_].next;
        }
        bench::keep(at_);
        return steps;
    }

    std::uint64_t ask_ahead() const {
        constexpr std::size_t ahead = 32;
        std::uint64_t sum = 0;
        const std::size_t count = order_.size() - ahead;
        for (std::size_t i = 0; i < count; ++i) {
            __builtin_prefetch(&lines_[order_[i + ahead]]);
            sum += lines_[order_[i]].next;
        }
        bench::keep(sum);
        return count;
    }

    /// Returns the number of bytes copied.
    std::uint64_t copy() {
        const std::size_t half = lines_.size() / 2;
        std::memcpy(static_cast<void*>(copied_.data()), lines_.data(), half * sizeof(Line));
        return half * sizeof(Line);
    }

  private:
    actors::PageArray<Line> lines_;
    actors::PageArray<Line> copied_{std::size_t{1} << 21};
    std::vector<std::uint32_t> order_;
    std::uint64_t at_ = 0;
};

/// Cache lines that fit into the L2 cache. Each names the next one, in random order.
class FewLines {
  public:
    /// Uses one of every `apart` cache lines of the memory.
    explicit FewLines(std::size_t apart) : lines_(count * apart) {
        std::mt19937_64 random{1};
        std::vector<std::uint64_t> order(count);
        for (std::size_t i = 0; i < count; ++i) {
            order[i] = i * apart + random() % apart;
        }
        std::shuffle(order.begin(), order.end(), random);
        for (std::size_t i = 0; i < count; ++i) {
            lines_[order[i]].next = order[(i + 1) % count];
        }
        at_ = order[0];
    }

    std::uint64_t follow() {
        for (std::size_t i = 0; i < count; ++i) {
            at_ = lines_[at_].next;
        }
        bench::keep(at_);
        return count;
    }

  private:
    static constexpr std::size_t count = 8'000;

    actors::PageArray<Line> lines_;
    std::uint64_t at_ = 0;
};

/// Converts millions per second to nanoseconds.
bench::Spread nanoseconds(const bench::Spread& millions) {
    return {1e3 / millions.max, 1e3 / millions.median, 1e3 / millions.min};
}

}  // namespace

int main() {
    bench::print_head("machine");
    bench::print_row("additions, one after the other", bench::rate_millions(add_in_a_chain),
                     "M additions/s");
    bench::print_row("additions, four side by side", bench::rate_millions(add_side_by_side),
                     "M additions/s");
    FewLines close(1);
    bench::print_row("8,000 lines side by side, one after the other",
                     nanoseconds(bench::rate_millions([&] { return close.follow(); })), "ns");
    FewLines apart(512);
    bench::print_row("8,000 lines in 250 MiB, one after the other",
                     nanoseconds(bench::rate_millions([&] { return apart.follow(); })), "ns");
    Lines lines;
    bench::print_row("a line of memory, one after the other",
                     nanoseconds(bench::rate_millions([&] { return lines.follow(); })), "ns");
    bench::print_row("lines of memory in no order, 32 asked ahead",
                     bench::rate_millions([&] { return lines.ask_ahead(); }), "M lines/s");
    bench::print_row("memory copied", bench::rate_millions([&] { return lines.copy(); }), "MB/s");
}
