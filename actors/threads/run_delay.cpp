// path: cold
#include "actors/threads/run_delay.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

namespace pinstrike::actors {

std::int64_t RunDelay::take() {
    if (!file_.valid()) {
        file_ = nic::FileDescriptor{::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)};
    }
    std::array<char, 64> text{};  // nanoseconds on a processor, nanoseconds without one, turns
    long long delay_ns = 0;
    if (::pread(file_.get(), text.data(), text.size() - 1, 0) <= 0 ||
        std::sscanf(text.data(), "%*u %lld", &delay_ns) != 1) {
        return 0;
    }
    return delay_ns - std::exchange(taken_ns_, delay_ns);
}

}  // namespace pinstrike::actors
