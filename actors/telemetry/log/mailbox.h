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

class Mailbox {
  public:
    static constexpr std::size_t messages_max = 1000;

    struct Message {
        LogEntry entry;
        LogTime time;
    };

    struct Mail {
        std::vector<Message> messages;
        std::uint64_t left_out = 0;  ///< messages dropped because the mailbox was full
    };

    /// Any thread.
    void put(LogEntry entry, LogTime time = LogTime::now()) {
        const std::lock_guard lock(mutex_);
        if (mail_.messages.size() < messages_max) {
            mail_.messages.push_back({std::move(entry), time});
        } else {
            ++mail_.left_out;
        }
    }

    [[nodiscard]] Mail take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(mail_, {});
    }

  private:
    std::mutex mutex_;
    Mail mail_;
};

}  // namespace pinstrike::actors
