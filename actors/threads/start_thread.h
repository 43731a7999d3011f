// path: cold
#pragma once

#include <system_error>
#include <thread>
#include <utility>

namespace pinstrike::actors {

/// Starts a thread, or throws std::system_error with a sentence that names the limit to raise.
template <class Work>
[[nodiscard]] std::thread start_thread(Work work) {
    try {
        return std::thread{std::move(work)};
    } catch (const std::system_error& failure) {
        throw std::system_error{failure.code(), "a thread cannot be started (ulimit -u, TasksMax)"};
    }
}

}  // namespace pinstrike::actors
