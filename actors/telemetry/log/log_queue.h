// path: cold
//
// Carries log messages from other threads (DPDK's own, one that opens a port) to the control
// thread, which owns the log and fetches them within some milliseconds.
#pragma once

#include "actors/telemetry/log/log.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace pinstrike::actors {

class LogQueue {
  public:
    static constexpr std::size_t messages_max = 1000;

    struct Message {
        LogEntry entry;
        LogTime time;
    };

    struct Taken {
        std::vector<Message> messages;
        std::uint64_t left_out = 0;  ///< messages dropped because the queue was full
    };

    /// Any thread.
    void put(LogEntry entry, LogTime time = LogTime::now()) {
        const std::lock_guard lock(mutex_);
        if (taken_.messages.size() < messages_max) {
            taken_.messages.push_back({std::move(entry), time});
        } else {
            ++taken_.left_out;
        }
    }

    [[nodiscard]] Taken take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(taken_, {});
    }

  private:
    std::mutex mutex_;
    Taken taken_;
};

}  // namespace pinstrike::actors
