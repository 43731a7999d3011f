// path: cold
//
// A thread that steps an executor. It spins, or it spins and then sleeps until there is work.
#pragma once

#include "actors/runtime/executor.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>

namespace pinstrike::actors::runtime {

/// The time that an ExecutorThread passes to its executor's steps. May be called by any thread.
[[nodiscard]] std::int64_t steady_ns();

/// If the system refuses the processor, the thread runs unpinned, which is slower but correct.
void pin_this_thread(int cpu);

struct ExecutorThreadOptions {
    static constexpr unsigned never = std::numeric_limits<unsigned>::max();

    int cpu = -1;             ///< negative: the operating system chooses
    unsigned spins = 10'000;  ///< empty steps before it sleeps; or `never`
    std::string name = "actors";
};

class ExecutorThread {
  public:
    explicit ExecutorThread(Executor& executor, ExecutorThreadOptions options = {});
    /// Stops the thread and joins it. Messages stay in the mailboxes, and the executor may be
    /// stepped again.
    ~ExecutorThread();

    ExecutorThread(const ExecutorThread&) = delete;
    ExecutorThread& operator=(const ExecutorThread&) = delete;

  private:
    void run();

    Executor& executor_;
    ExecutorThreadOptions options_;
    std::atomic<bool> stop_{false};  ///< relaxed: the join orders later accesses
    std::thread thread_;
};

}  // namespace pinstrike::actors::runtime
