// The actor runtime: messages a second from one executor to another, and back-pressure.
//
//     bench_runtime [RUNS [FROM:TO]]
//
// FROM:TO: count only figures that were measured while the two executors were at this distance
// (distance.h).
#include "actors/bench/sample_work.h"
#include "actors/runtime/coroutine.h"
#include "actors/runtime/executor_thread.h"
#include "tests/bench/distance.h"
#include "tests/bench/measure.h"
#include "tests/bench/runtime_caf.h"

#include <immintrin.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace pinstrike::actors::runtime;

constexpr unsigned spins = 20'000;

struct Number {
    std::uint64_t value;
};

double seconds_since(std::chrono::steady_clock::time_point begun) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

void must(bool right, const char* what) {
    if (!right) {
        std::fprintf(stderr, "%s\n", what);
        std::exit(1);
    }
}

/// Its handler does nothing, except that it notices the last message.
class Empty : public MailboxActor {
  public:
    explicit Empty(std::uint64_t wanted) : numbers(this, {.most = 16'384}), wanted_(wanted) {}

    Mailbox<Number> numbers;

    void on(Number& number) {
        if (number.value == wanted_) {
            finish();
        }
    }

  private:
    std::uint64_t wanted_;
};

class EmptyScript : public Script<Number> {
  public:
    explicit EmptyScript(std::uint64_t wanted)
        : Script({.most = 16'384}), numbers(inbox), wanted_(wanted) {}

    Mailbox<Number>& numbers;

  private:
    Coroutine body() override {
        for (;;) {
            const Number& number = co_await next();
            if (number.value == wanted_) {
                co_return;
            }
        }
    }

    std::uint64_t wanted_;
};

/// Sends 1, 2, 3 ... in several steps of its executor, in each step as many as the mailbox accepts.
class Pusher : public MailboxActor {
  public:
    Pusher(Mailbox<Number>& to, std::uint64_t wanted) : to_(to.sender(*this)), wanted_(wanted) {}

    Timer<int> again{this};

    void on_start() override { again.every(1); }

    void on(int&) {
        for (int i = 0; i < 1024 && sent_ < wanted_; ++i) {
            if (to_.send({sent_ + 1}) != Sent::sent) {
                return;
            }
            ++sent_;
        }
    }

  private:
    Sender<Number> to_;
    std::uint64_t sent_ = 0;
    std::uint64_t wanted_;
};

/// With live figures of each actor if `measured`.
ExecutorOptions core_options(bool measured) {
    return {.clock_ns = measured ? steady_ns : nullptr};
}

/// Millions of messages a second from a plain thread to an actor on another executor.
template <class Receiver, bool measured = false>
double push_from_thread() {
    constexpr std::uint64_t count = 20'000'000;
    Executor executor{core_options(measured)};
    auto& receiver = executor.add<Receiver>(count);
    const ExecutorThread thread{executor, {.cpu = 1, .spins = spins}};
    auto to = receiver.numbers.sender();
    const auto begun = std::chrono::steady_clock::now();
    for (std::uint64_t i = 1; i <= count; ++i) {
        while (to.try_send({i}) != Sent::sent) {
            _mm_pause();
        }
    }
    to.flush();
    while (!receiver.ended()) {
        _mm_pause();
    }
    return static_cast<double>(count) / seconds_since(begun) / 1e6;
}

/// The same, sent by an actor.
template <class Receiver, bool measured = false>
double push_from_actor() {
    constexpr std::uint64_t count = 20'000'000;
    Executor executor{core_options(measured)};
    Executor sending{core_options(measured)};
    auto& receiver = executor.add<Receiver>(count);
    sending.add<Pusher>(receiver.numbers, count);
    const ExecutorThread thread{executor, {.cpu = 1, .spins = spins}};
    const auto begun = std::chrono::steady_clock::now();
    {
        const ExecutorThread pushing{sending, {.cpu = 0, .spins = spins}};
        while (!receiver.ended()) {
            std::this_thread::sleep_for(std::chrono::microseconds{200});
        }
    }
    return static_cast<double>(count) / seconds_since(begun) / 1e6;
}

using Work = pinstrike::actors::SumOf<1000>;

class Summer : public MailboxActor {
  public:
    explicit Summer(std::uint64_t wanted) : wanted_(wanted) {}

    Mailbox<Number> numbers{this, {.most = 100, .when_full = WhenFull::wait}};

    void on(Number& number) {
        work_.run(number.value);
        if (number.value == wanted_) {
            finish();
        }
    }

    [[nodiscard]] std::uint64_t total() const { return work_.total(); }

  private:
    Work work_;
    std::uint64_t wanted_;
};

class SummingScript : public Script<Number> {
  public:
    explicit SummingScript(std::uint64_t wanted)
        : Script({.most = 100, .when_full = WhenFull::wait}), numbers(inbox), wanted_(wanted) {}

    Mailbox<Number>& numbers;

    [[nodiscard]] std::uint64_t total() const { return work_.total(); }

  private:
    Coroutine body() override {
        for (std::uint64_t last = 0; last != wanted_;) {
            const Number& number = co_await next();
            last = number.value;
            work_.run(number.value);
        }
    }

    Work work_;
    std::uint64_t wanted_;
};

constexpr std::uint64_t sums_count = 100'000;
constexpr std::uint64_t sums_total =
    sums_count * (999 * 1000 / 2) + sums_count * (sums_count + 1) / 2;

/// Milliseconds for 100,000 messages from one thread that waits when the mailbox is full.
template <class Receiver>
double bounded_sums() {
    Executor executor;
    auto& summer = executor.add<Receiver>(sums_count);
    const ExecutorThread thread{executor, {.cpu = 1, .spins = spins}};
    auto to = summer.numbers.sender();
    const auto begun = std::chrono::steady_clock::now();
    for (std::uint64_t i = 1; i <= sums_count; ++i) {
        must(to.send({i}) == Sent::sent, "a message was refused");
    }
    to.flush();
    while (!summer.ended()) {
        _mm_pause();
    }
    const double took = seconds_since(begun) * 1e3;
    must(summer.total() == sums_total, "messages were lost");
    return took;
}

double work_alone() {
    auto work = std::make_unique<Work>();
    const auto begun = std::chrono::steady_clock::now();
    for (std::uint64_t i = 1; i <= sums_count; ++i) {
        work->run(i);
    }
    const double took = seconds_since(begun) * 1e3;
    must(work->total() == sums_total, "the work is wrong");
    return took;
}

struct Row {
    const char* what;
    double (*measure)();
    const char* unit;
    std::vector<double> figures{};
};

}  // namespace

int main(int argc, char** argv) {
    if (std::thread::hardware_concurrency() < 2) {
        std::printf("skipped: needs two processors\n");
        return 77;
    }
    const int runs = argc > 1 ? std::atoi(argv[1]) : 7;
    pinstrike::bench::Distances distances;
    if (argc > 2 && !read(argv[2], distances)) {
        std::fprintf(stderr, "usage: bench_runtime [RUNS [FROM:TO]], nanoseconds\n");
        return 2;
    }
    std::vector<Row> rows{
        {"empty handler, from a thread", push_from_thread<Empty>, "M messages/s"},
        {"  as a coroutine", push_from_thread<EmptyScript>, "M messages/s"},
        {"  measured live (figures.h)", push_from_thread<Empty, true>, "M messages/s"},
        {"empty handler, from an actor", push_from_actor<Empty>, "M messages/s"},
        {"  measured live (figures.h)", push_from_actor<Empty, true>, "M messages/s"},
        {"  as a coroutine", push_from_actor<EmptyScript>, "M messages/s"},
        {"  caf, an actor with a thread of its own",
         [] { return pinstrike::bench::caf_empty_handler(1'000'000); }, "M messages/s"},
        {"bounded to 100, 100,000 sums of 1000", bounded_sums<Summer>, "ms"},
        {"  as a coroutine", bounded_sums<SummingScript>, "ms"},
        {"  the work alone, one core", work_alone, "ms"},
    };
    pinstrike::bench::AtDistance at_distance{distances};
    for (int run = 0; run < runs; ++run) {
        for (Row& each : rows) {
            each.figures.push_back(at_distance.measure([&] {
                // The main thread also sends, so it must not share the receiver's executor.
                pinstrike::bench::place_on(0);
                return each.measure();
            }));
        }
    }
    pinstrike::bench::print_head("");
    for (const Row& each : rows) {
        pinstrike::bench::print_row(each.what, pinstrike::bench::spread_of(each.figures),
                                    each.unit);
    }
    print_distance(at_distance);
    return 0;
}
