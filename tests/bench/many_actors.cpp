// Ten thousand actors on two executors (many_actors.h): the runtime compared with CAF, in
// alternating runs.
//
//     bench_many_actors [--runs N] [--json]
#include "tests/bench/many_actors.h"

#include "actors/runtime/executor_thread.h"
#include "tests/bench/allocations.h"
#include "tests/bench/measure.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <string_view>
#include <thread>
#include <vector>

namespace pinstrike::bench {
namespace {

using namespace actors::runtime;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t hops_each = 200;

double seconds_since(Clock::time_point begun) {
    return std::chrono::duration<double>(Clock::now() - begun).count();
}

struct Token {
    std::uint64_t hops_left;
};

class Node : public MailboxActor {
  public:
    Node(std::uint64_t hops, std::latch& done) : hops_(hops), done_(done) {}

    Mailbox<Token> tokens{this, {.most = 256}};
    Sender<Token> next;

    void on_start() override { pass({hops_}); }

    void on(Token& token) {
        if (token.hops_left == 0) {
            done_.count_down();
        } else {
            pass({token.hops_left - 1});
        }
    }

  private:
    void pass(Token token) {
        if (next.send(token) != Sent::sent) {
            fmt::print(stderr, "a token was refused\n");
            std::exit(1);
        }
    }

    std::uint64_t hops_;
    std::latch& done_;
};

/// `core_of(i)`: the executor of actor i.
template <class CoreOf>
ManyOutcome run_many(std::uint64_t hops, CoreOf&& core_of) {
    ManyOutcome outcome;
    std::latch done{many};
    std::uint64_t before = allocations();
    auto begun = Clock::now();
    std::array<Executor, 2> executors;
    std::vector<Node*> nodes;
    for (std::size_t i = 0; i < many; ++i) {
        Executor& executor = executors[core_of(i)];
        nodes.push_back(&executor.add<Node>(hops, done));
    }
    for (std::size_t i = 0; i < many; ++i) {
        nodes[i]->next = nodes[(i + 1) % many]->tokens.sender(*nodes[i]);
    }
    outcome.make_seconds = seconds_since(begun);
    outcome.make_allocations = allocations() - before;
    before = allocations();
    const std::uint64_t parks_before = parks();
    begun = Clock::now();
    {
        const ExecutorThread one{executors[0], {.cpu = 0}};
        const ExecutorThread other{executors[1], {.cpu = 1}};
        done.wait();
        outcome.run_seconds = seconds_since(begun);
        outcome.run_parks = parks() - parks_before;
    }
    outcome.run_allocations = allocations() - before;
    return outcome;
}

struct Contender {
    std::string_view name;
    ManyOutcome (*run)(std::uint64_t hops);
    ManyOutcome last{};
    std::vector<double> make_seconds{};
    std::vector<double> millions_per_second{};
};

void measure(Contender& contender) {
    contender.last = contender.run(hops_each);
    contender.make_seconds.push_back(contender.last.make_seconds);
    contender.millions_per_second.push_back(static_cast<double>(many * hops_each) /
                                            contender.last.run_seconds / 1e6);
}

void print(const Contender& contender, bool json) {
    const Spread make = spread_of(contender.make_seconds);
    const Spread rate = spread_of(contender.millions_per_second);
    const ManyOutcome& last = contender.last;
    if (json) {
        fmt::print(R"({{"subject":"many_actors","who":"{}","actors":{},"hops":{},)"
                   R"("make_seconds":{:.6f},"millions_per_second":{:.3f},)"
                   R"("millions_per_second_min":{:.3f},"millions_per_second_max":{:.3f},)"
                   R"("make_allocations":{},"run_allocations":{},"parks":{}}})"
                   "\n",
                   contender.name, many, hops_each, make.median, rate.median, rate.min, rate.max,
                   last.make_allocations, last.run_allocations, last.run_parks);
    } else {
        fmt::print("{:<18} {:>10.4f} {:>10.2f} {:>10.2f} {:>10.2f} {:>12} {:>12} {:>8}\n",
                   contender.name, make.median, rate.min, rate.median, rate.max,
                   last.make_allocations, last.run_allocations, last.run_parks);
    }
}

}  // namespace

ManyOutcome pinstrike_many(std::uint64_t hops) {
    return run_many(hops, [](std::size_t i) { return i * 2 / many; });
}

ManyOutcome pinstrike_many_across(std::uint64_t hops) {
    return run_many(hops, [](std::size_t i) { return i % 2; });
}

}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    using namespace pinstrike::bench;
    int runs = 5;
    bool json = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--json") {
            json = true;
        } else if (word == "--runs" && i + 1 < argc) {
            runs = std::max(std::atoi(argv[++i]), 1);
        } else {
            fmt::print(stderr, "usage: {} [--runs N] [--json]\n", argv[0]);
            return 2;
        }
    }
    if (std::thread::hardware_concurrency() < 2) {
        fmt::print("skipped: needs two processors\n");
        return 77;
    }
    std::array<Contender, 3> contenders{Contender{"pinstrike", pinstrike_many},
                                        Contender{"pinstrike, across", pinstrike_many_across},
                                        Contender{"caf", caf_many}};
    for (int run = 0; run < runs; ++run) {
        for (Contender& contender : contenders) {
            measure(contender);
        }
    }
    if (!json) {
        fmt::print(
            "{} actors, each token {} hops\n{:<18} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12} "
            "{:>8}\n",
            many, hops_each, "", "make s", "min M/s", "median M/s", "max M/s", "make allocs",
            "run allocs", "parks");
    }
    for (const Contender& contender : contenders) {
        print(contender, json);
    }
    return 0;
}
