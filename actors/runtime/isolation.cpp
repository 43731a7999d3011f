// path: cold
#include "actors/runtime/isolation.h"

#include "actors/runtime/executor_thread.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <latch>
#include <stdexcept>
#include <thread>

namespace pinstrike::actors::runtime {

namespace {

using Clock = std::chrono::steady_clock;

double ns_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::nano>(to - from).count();
}

/// The time between two clock reads in a row: the least of several means, because disturbances only
/// make a mean larger.
double clock_cost_ns() {
    constexpr int tries = 20;
    constexpr int readings = 1000;
    double least = 1e9;
    for (int i = 0; i < tries; ++i) {
        const auto begun = Clock::now();
        auto last = begun;
        for (int k = 0; k < readings; ++k) {
            last = Clock::now();
        }
        least = std::min(least, ns_between(begun, last) / readings);
    }
    return least;
}

std::vector<int> processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    std::vector<int> found;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) {
            found.push_back(cpu);
        }
    }
    return found;
}

/// The state that the threads of the copies share.
struct Run {
    const IsolationOptions& options;
    double clock_ns;
    std::latch warm;
    /// Number of copies that are still measured. Relaxed order is enough, because it only ends the
    /// run, and the join orders the figures.
    std::atomic<unsigned> left;
};

class Copy {
  public:
    explicit Copy(std::unique_ptr<Isolated> what) : what_(std::move(what)) {}

    /// Runs on the copy's own thread. Waits for the other copies also if this one fails, so that no
    /// thread hangs.
    void run(Run& run, int cpu) noexcept {
        pin_this_thread(cpu);
        guarded([&] { warm_up(run); });
        run.warm.arrive_and_wait();
        guarded([&] { count(run); });
        run.left.fetch_sub(1, std::memory_order_relaxed);
        guarded([&] { go_on(run); });
    }

    ServiceTimes take() {
        if (failed_) {
            std::rethrow_exception(failed_);
        }
        times_.sort();
        return std::move(times_);
    }

  private:
    template <class Work>
    void guarded(Work&& work) noexcept {
        try {
            if (!failed_) {
                work();
            }
        } catch (...) {
            failed_ = std::current_exception();
        }
    }

    std::size_t batch(std::size_t messages, double& took_ns) {
        what_->prepare(messages);
        const auto begun = Clock::now();
        const std::size_t handled = what_->handle();
        took_ns = ns_between(begun, Clock::now());
        handled_ += handled;
        if (handled == 0) {
            throw std::runtime_error(
                fmt::format("after {} messages: {}", handled_, what_->complaint()));
        }
        return handled;
    }

    void warm_up(const Run& run) {
        what_->start();
        double ignored = 0;
        while (handled_ < what_->recorded_count()) {
            batch(std::min(run.options.batch, what_->recorded_count() - handled_), ignored);
        }
    }

    void count(const Run& run) {
        for (std::size_t left = run.options.messages; left != 0;) {
            double took_ns = 0;
            const std::size_t handled = batch(std::min(run.options.batch, left), took_ns);
            times_.add(handled, std::max(took_ns - run.clock_ns, 0.0));
            left -= std::min(left, handled);
        }
    }

    void go_on(const Run& run) {
        double ignored = 0;
        while (run.left.load(std::memory_order_relaxed) != 0) {
            batch(run.options.batch, ignored);
        }
        what_->stop();
    }

    std::unique_ptr<Isolated> what_;
    ServiceTimes times_;
    std::size_t handled_ = 0;
    std::exception_ptr failed_;
};

std::string row(std::string_view name, const ServiceTimes& times) {
    return fmt::format(
        "{:<14} {:>12} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f}\n", name,
        times.messages(), times.ns(0), times.ns(0.5), times.ns(0.9), times.ns(0.99), times.ns(1),
        times.mean_ns(), times.millions_per_second());
}

}  // namespace

void ServiceTimes::add(std::size_t messages, double ns) {
    ns_per_message_.push_back(ns / static_cast<double>(messages));
    messages_ += messages;
    total_ns_ += ns;
}

void ServiceTimes::sort() {
    std::sort(ns_per_message_.begin(), ns_per_message_.end());
}

double ServiceTimes::ns(double quantile) const {
    const auto last = static_cast<double>(ns_per_message_.size() - 1);
    return ns_per_message_.at(static_cast<std::size_t>(std::lround(quantile * last)));
}

double Isolation::millions_per_second() const {
    double sum = 0;
    for (const ServiceTimes& copy : copies) {
        sum += copy.millions_per_second();
    }
    return sum;
}

double Isolation::median_ns() const {
    std::vector<double> medians;
    for (const ServiceTimes& copy : copies) {
        medians.push_back(copy.ns(0.5));
    }
    std::sort(medians.begin(), medians.end());
    return medians[medians.size() / 2];
}

Isolation measure_isolated(const IsolationOptions& options,
                           const std::function<std::unique_ptr<Isolated>(unsigned copy)>& make) {
    if (options.messages == 0 || options.batch == 0 || options.copies == 0) {
        throw std::invalid_argument("messages, batch and copies must be 1 or more");
    }
    const std::vector<int> cpus = processors();
    Isolation measured{{}, clock_cost_ns(), static_cast<unsigned>(cpus.size())};
    std::vector<Copy> copies;
    for (unsigned i = 0; i < options.copies; ++i) {
        auto what = make(i);
        if (what->recorded_count() == 0) {
            throw std::invalid_argument("no message is recorded");
        }
        copies.emplace_back(std::move(what));
    }
    Run run{options, measured.clock_ns, std::latch{options.copies}, options.copies};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        threads.emplace_back([&, i] { copies[i].run(run, cpus[i % cpus.size()]); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (Copy& copy : copies) {
        measured.copies.push_back(copy.take());
    }
    return measured;
}

std::string isolation_text(std::string_view name, const Isolation& measured) {
    std::string text =
        fmt::format("{:<14} {:>12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n", name, "messages",
                    "lowest", "p50", "p90", "p99", "highest", "mean", "M/s");
    const std::size_t count = measured.copies.size();
    for (std::size_t i = 0; i < count; ++i) {
        text += row(count == 1 ? std::string{"alone"} : fmt::format("copy {} of {}", i + 1, count),
                    measured.copies[i]);
    }
    if (count > 1) {
        text += fmt::format("{:<14} {:>12} {:>69.2f}\n", "all together", "",
                            measured.millions_per_second());
    }
    return text;
}

}  // namespace pinstrike::actors::runtime
