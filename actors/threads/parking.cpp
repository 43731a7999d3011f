// path: cold
#include "actors/threads/parking.h"

#include "config/time_units.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace pinstrike::actors {

void KernelFutex::wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::int64_t timeout_ns) noexcept {
    const timespec timeout{timeout_ns / second_ns, timeout_ns % second_ns};
    // The result (woken, timed out, interrupted, changed) does not matter, because the caller
    // checks for work again.
    static_cast<void>(
        ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0));
}

void KernelFutex::wake(std::atomic<std::uint32_t>& word) noexcept {
    static_cast<void>(::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0));
}

}  // namespace pinstrike::actors
