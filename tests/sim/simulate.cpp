// path: cold
//
// Runs seeds. For a seed that fails, prints the command that reproduces it.
#include "config/mistake.h"
#include "tests/sim/simulation.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pinstrike::sim {
namespace {

struct Arguments {
    std::uint64_t from = 0;
    std::uint64_t to = 0;  ///< included
    bool verbose = false;
    std::uint16_t line = 0;
    bool keep_going = false;
    bool demanding = false;  ///< fails if too little was checked
    double seconds = 0;      ///< 0: no limit
    unsigned jobs = 1;       ///< seeds that run at the same time
    std::string mistake;     ///< the mistake to plant; at least one seed must then fail
};

[[noreturn]] void usage() {
    std::cerr
        << "usage: simulate --seed N | --seeds FROM..TO [--verbose] [--line N] [--keep-going] "
           "[--demanding] [--for SECONDS] [--jobs N] [--mistake NAME]\n";
    std::exit(2);
}

Arguments read(int count, char** words) {
    Arguments arguments;
    bool chosen = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--verbose") {
            arguments.verbose = true;
            continue;
        }
        if (word == "--keep-going") {
            arguments.keep_going = true;
            continue;
        }
        if (word == "--demanding") {
            arguments.demanding = true;
            continue;
        }
        if (++i == count) {
            usage();
        }
        const std::string value = words[i];
        if (word == "--line") {
            arguments.line = static_cast<std::uint16_t>(std::stoul(value));
            arguments.verbose = true;
        } else if (word == "--seed") {
            arguments.from = arguments.to = std::stoull(value);
            chosen = true;
        } else if (const auto dots = value.find("..");
                   word == "--seeds" && dots != std::string::npos) {
            arguments.from = std::stoull(value);
            arguments.to = std::stoull(value.substr(dots + 2));
            chosen = true;
        } else if (word == "--mistake") {
            arguments.mistake = value;
        } else if (word == "--jobs") {
            arguments.jobs = static_cast<unsigned>(std::stoul(value));
        } else if (word == "--for") {
            arguments.seconds = std::stod(value);
        } else {
            usage();
        }
    }
    if (!chosen || arguments.from > arguments.to) {
        usage();
    }
    return arguments;
}

void print_failure(std::uint64_t seed, const Outcome& outcome) {
    std::cout << fmt::format("seed {} fails, {} findings:\n", seed, outcome.findings.count());
    for (const std::string& what : outcome.findings.kept()) {
        std::cout << "  " << what << '\n';
    }
    std::cout << "again: build/tests/sim/simulate --seed " << seed << " --verbose" << std::endl;
}

/// False, and prints the reason, if the mistake is unknown or this build cannot plant any.
bool plant(const std::string& name) {
    for (std::size_t i = 0; i < Mistake_count; ++i) {
        if (Mistake_rows[i].name == name) {
#ifdef PINSTRIKE_HOOKS
            injected_mistake = static_cast<Mistake>(i);
            return true;
#else
            std::cerr << "simulate: mistakes are planted only in a build with -Dhooks=true\n";
            return false;
#endif
        }
    }
    std::cerr << "simulate: no mistake is called " << name << '\n';
    return false;
}

/// The totals of a run over its seeds. Any thread may call it.
class Sum {
  public:
    void add(std::uint64_t seed, const Outcome& outcome) {
        const std::lock_guard lock(mutex_);
        ++seeds_;
        messages_ += outcome.messages;
        hours_ += static_cast<double>(outcome.lived_ns) / 3.6e12;
        trading_hours_ += static_cast<double>(outcome.traded_ns) / 3.6e12;
        coverage_.add(outcome.coverage);
        if (outcome.findings.count() != 0) {
            failed_seed_ = seed;
            ++failed_;
            print_failure(seed, outcome);
        }
    }

    /// The last seed that failed.
    [[nodiscard]] std::uint64_t failed_seed() const {
        const std::lock_guard lock(mutex_);
        return failed_seed_;
    }

    /// Whether something was never checked, or less than half of the lines were exact, so that a
    /// run without a failure proves little.
    [[nodiscard]] bool checks_too_little() const {
        const std::lock_guard lock(mutex_);
        return 2 * coverage_.lines_exact < coverage_.lines || coverage_.series_whole == 0 ||
               coverage_.sides_fresh == 0 || coverage_.states_taken == 0 ||
               coverage_.blocks_kept == 0 || coverage_.repaired == 0 || coverage_.lost == 0 ||
               coverage_.late == 0 || coverage_.outside_hours == 0;
    }

    /// Whether a row of a table of counters was compared with nothing; prints which.
    [[nodiscard]] bool leaves_rows() const {
        const std::lock_guard lock(mutex_);
        const std::vector<std::string> faults = coverage_.held.faults();
        for (const std::string& fault : faults) {
            std::cout << "counters, " << fault << '\n';
        }
        return !faults.empty();
    }

    [[nodiscard]] std::uint64_t failed() const {
        const std::lock_guard lock(mutex_);
        return failed_;
    }

    void print(double seconds) const {
        const std::lock_guard lock(mutex_);
        std::cout << fmt::format(
            "{} seeds, {} failed; {:.2f} simulated hours, {:.2f} of them trading, {} messages "
            "sent, {} judged one by one, "
            "{} repaired, {} lost, {} undecodable, {} late, {} refused, {} outside hours; {} of {} "
            "lines exact; {} fresh sides equal "
            "the truth, {} vague; {} series do in everything; {} states taken of a twin; {} blocks "
            "kept for one; {:.1f} s\n",
            seeds_, failed_, hours_, trading_hours_, messages_, coverage_.messages,
            coverage_.repaired, coverage_.lost, coverage_.undecodable, coverage_.late,
            coverage_.refused, coverage_.outside_hours, coverage_.lines_exact, coverage_.lines,
            coverage_.sides_fresh, coverage_.sides_vague, coverage_.series_whole,
            coverage_.states_taken, coverage_.blocks_kept, seconds);
    }

  private:
    mutable std::mutex mutex_;
    Coverage coverage_;
    std::uint64_t seeds_ = 0;
    std::uint64_t failed_ = 0;
    std::uint64_t failed_seed_ = 0;
    std::uint64_t messages_ = 0;
    double hours_ = 0;
    double trading_hours_ = 0;
};

/// Whether the planted mistake made a seed fail that passes without it.
int verdict_on_mistake(const Sum& sum) {
    if (sum.failed() == 0) {
        std::cout << "the planted mistake was not found\n";
        return 1;
    }
#ifdef PINSTRIKE_HOOKS
    injected_mistake = static_cast<Mistake>(Mistake_count);
#endif
    if (simulate(sum.failed_seed(), {}).findings.count() != 0) {
        std::cout << fmt::format("seed {} fails without the planted mistake as well\n",
                                 sum.failed_seed());
        return 1;
    }
    std::cout << "the planted mistake was found\n";
    return 0;
}

int run(const Arguments& arguments) {
    const auto start = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    Sum sum;
    std::atomic<std::uint64_t> next{arguments.from};  // relaxed, because it orders no other data
    const auto work = [&] {
        const auto goes_on = [&] {
            return (arguments.keep_going || sum.failed() == 0) &&
                   (arguments.seconds == 0 || elapsed() < arguments.seconds);
        };
        do {
            const std::uint64_t seed = next.fetch_add(1, std::memory_order_relaxed);
            if (seed > arguments.to) {
                return;
            }
            sum.add(seed,
                    simulate(seed, {arguments.verbose ? &std::cout : nullptr, arguments.line}));
        } while (goes_on());
    };
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < arguments.jobs; ++i) {
        others.emplace_back(work);
    }
    work();
    others.clear();
    sum.print(elapsed());
    if (!arguments.mistake.empty()) {
        return verdict_on_mistake(sum);
    }
    if (arguments.demanding && sum.checks_too_little()) {
        std::cout << "too little of it was judged: see the sum above\n";
        return 1;
    }
    if (arguments.demanding && sum.leaves_rows()) {
        return 1;
    }
    return sum.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pinstrike::sim

int main(int count, char** words) {
    const auto arguments = pinstrike::sim::read(count, words);
    if (!arguments.mistake.empty() && !pinstrike::sim::plant(arguments.mistake)) {
        return 2;
    }
    return pinstrike::sim::run(arguments);
}
