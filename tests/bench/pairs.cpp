// Four pairs of actors with ordered pings and a "more" every 1000: the runtime compared with CAF
// and ZeroMQ, in alternating runs.
//
//     bench_pairs [--runs N] [--messages M] [--json]
//
// M is the number of pings per pair. The default is 40 million, as in the classic benchmark; five
// runs then take five minutes.
#include "tests/bench/pairs.h"

#include "actors/runtime/executor_thread.h"
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

constexpr unsigned spins = 20'000;

struct Number {
    std::uint64_t value;
};

void must(bool right, const char* what) {
    if (!right) {
        fmt::print(stderr, "{}\n", what);
        std::exit(1);
    }
}

struct More {};

/// Sends a row of numbers, in order, whenever a ponger asks for it.
class Pinger : public MailboxActor {
  public:
    explicit Pinger(std::uint64_t wanted) : wanted_(wanted) {}

    Mailbox<More> mores{this, {.most = 4}};

    void on(More&) {
        for (std::uint64_t i = 0; i < row_pings && sent < wanted_; ++i) {
            must(pings.send({sent++}) == Sent::sent, "a ping was refused");
        }
    }

    Sender<Number> pings;
    std::uint64_t sent = 0;

  private:
    std::uint64_t wanted_;
};

/// Checks the order, and asks for more at the end of each row.
class Ponger : public MailboxActor {
  public:
    Ponger(std::uint64_t wanted, std::latch& done) : wanted_(wanted), done_(done) {}

    Mailbox<Number> pings{this, {.most = 4 * row_pings}};

    void on_start() override {
        for (int i = 0; i < rows_asked_ahead; ++i) {
            must(mores.send({}) == Sent::sent, "a more was refused");
        }
    }

    void on(Number& ping) {
        must(ping.value == told_++, "out of order");
        if (told_ == wanted_) {
            done_.count_down();
        } else if (told_ % row_pings == 0) {
            must(mores.send({}) == Sent::sent, "a more was refused");
        }
    }

    Sender<More> mores;

  private:
    std::uint64_t told_ = 0;
    std::uint64_t wanted_;
    std::latch& done_;
};

struct Contender {
    std::string_view name;
    double (*run)(std::uint64_t each);
    std::vector<double> seconds{};
};

struct Options {
    int runs = 5;
    std::uint64_t each = 40'000'000;
    bool json = false;
};

void print(const Contender& contender, const Options& options) {
    const Spread seconds = spread_of(contender.seconds);
    const double per_million =
        seconds.median / (static_cast<double>(pairs_count * options.each) / 1e6);
    if (options.json) {
        fmt::print(
            R"({{"subject":"pairs","who":"{}","pairs":{},"messages_each":{},"seconds":{:.6f},)"
            R"("seconds_min":{:.6f},"seconds_max":{:.6f},"seconds_per_million":{:.6f}}})"
            "\n",
            contender.name, pairs_count, options.each, seconds.median, seconds.min, seconds.max,
            per_million);
    } else {
        fmt::print("{:<16} {:>10.4f} {:>10.4f} {:>10.4f} {:>12.5f}\n", contender.name, seconds.min,
                   seconds.median, seconds.max, per_million);
    }
}

bool parse(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--json") {
            options.json = true;
        } else if (word == "--runs" && i + 1 < argc) {
            options.runs = std::max(std::atoi(argv[++i]), 1);
        } else if (word == "--messages" && i + 1 < argc) {
            options.each = std::max(std::strtoull(argv[++i], nullptr, 10), 1ULL);
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace

/// Runs the pingers on one executor and the pongers on the other.
double pinstrike_pairs(std::uint64_t each) {
    std::latch done{pairs_count};
    Executor here;
    Executor there;
    for (std::uint64_t i = 0; i < pairs_count; ++i) {
        auto& pinger = here.add<Pinger>(each);
        auto& ponger = there.add<Ponger>(each, done);
        pinger.pings = ponger.pings.sender(pinger);
        ponger.mores = pinger.mores.sender(ponger);
    }
    const auto begun = std::chrono::steady_clock::now();
    const ExecutorThread one{here, {.cpu = 0, .spins = spins}};
    const ExecutorThread other{there, {.cpu = 1, .spins = spins}};
    done.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    using namespace pinstrike::bench;
    Options options;
    if (!parse(argc, argv, options)) {
        fmt::print(stderr, "usage: {} [--runs N] [--messages M] [--json]\n", argv[0]);
        return 2;
    }
    if (std::thread::hardware_concurrency() < 2) {
        fmt::print("skipped: needs two processors\n");
        return 77;
    }
    std::array<Contender, 4> contenders{
        Contender{"pinstrike", pinstrike_pairs}, Contender{"caf", caf_pairs},
        Contender{"caf detached", caf_detached_pairs}, Contender{"zeromq", zmq_pairs}};
    for (int run = 0; run < options.runs; ++run) {
        for (Contender& contender : contenders) {
            contender.seconds.push_back(contender.run(options.each));
        }
    }
    if (!options.json) {
        fmt::print("{} pairs x {} pings, a more every {}\n{:<16} {:>10} {:>10} {:>10} {:>12}\n",
                   pairs_count, options.each, row_pings, "", "min s", "median s", "max s",
                   "s/million");
    }
    for (const Contender& contender : contenders) {
        print(contender, options);
    }
    return 0;
}
