// path: hot
//
// Log lines of poll threads, which may neither wait for a lock nor allocate. Each line is copied
// into one of a few fixed slots, from which a cold thread reads it. If no slot is free, the line is
// dropped and counted.
//
// A slot goes free -> filling -> full -> free. Filling begins with a compare-exchange, so that only
// one thread owns the slot. "full" is stored with release and loaded with acquire, so that the
// reader sees the text. So is "free", so that the next writer overwrites the text only after the
// reader has read it.
#pragma once

#include "config/log_level.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace pinstrike::nic::dpdk {

class HotLines {
  public:
    static constexpr std::size_t lines_max = 32;
    static constexpr std::size_t line_bytes_max = 240;  ///< longer lines are cut

    /// Stores a log line; called by any thread.
    void put(LogLevel level, std::string_view line) noexcept {
        for (Slot& slot : slots_) {
            State expected = State::free;
            if (slot.state.compare_exchange_strong(expected, State::filling,
                                                   std::memory_order_acquire,
                                                   std::memory_order_relaxed)) {
                slot.level = level;
                slot.bytes = std::min(line.size(), line_bytes_max);
                std::memcpy(slot.text.data(), line.data(), slot.bytes);
                slot.state.store(State::full, std::memory_order_release);
                return;
            }
        }
        left_out_.fetch_add(1, std::memory_order_relaxed);  // relaxed: publishes no other data
    }

    /// Calls `on_line(level, line)` for each stored log line; called by one cold thread at a time.
    /// Returns the number of log lines dropped since the last call.
    template <class OnLine>
    std::uint64_t drain(OnLine on_line) {
        for (Slot& slot : slots_) {
            if (slot.state.load(std::memory_order_acquire) == State::full) {
                on_line(slot.level, std::string_view{slot.text.data(), slot.bytes});
                slot.state.store(State::free, std::memory_order_release);
            }
        }
        return left_out_.exchange(0, std::memory_order_relaxed);
    }

  private:
    enum class State : std::uint8_t { free, filling, full };

    struct Slot {
        std::atomic<State> state{State::free};
        LogLevel level = LogLevel::info;
        std::size_t bytes = 0;
        std::array<char, line_bytes_max> text{};
    };

    std::array<Slot, lines_max> slots_;
    std::atomic<std::uint64_t> left_out_{0};
};

}  // namespace pinstrike::nic::dpdk
