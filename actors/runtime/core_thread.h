// path: cold
//
// A thread that steps a core: spins, or spins and then sleeps until there is something to do.
#pragma once

#include "actors/runtime/core.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>

namespace pinstrike::actors::runtime {

/// The time that a CoreThread gives to its core's steps. Any thread.
[[nodiscard]] std::int64_t steady_ns();

struct CoreThreadOptions {
    static constexpr unsigned never = std::numeric_limits<unsigned>::max();

    int cpu = -1;             ///< negative: wherever the system puts it
    unsigned spins = 10'000;  ///< steps that find nothing, before it sleeps; or never
    std::string name = "actors";
};

class CoreThread {
  public:
    explicit CoreThread(Core& core, CoreThreadOptions options = {});
    /// Stops and joins. What is in mailboxes then stays there; the core may be stepped on.
    ~CoreThread();

    CoreThread(const CoreThread&) = delete;
    CoreThread& operator=(const CoreThread&) = delete;

  private:
    void run();

    Core& core_;
    CoreThreadOptions options_;
    std::atomic<bool> stop_{false};  ///< relaxed: the join orders what comes after
    std::thread thread_;
};

}  // namespace pinstrike::actors::runtime
