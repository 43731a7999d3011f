// path: cold
//
// A library to preload (LD_PRELOAD) that sets the time of day for one process. The time is the
// machine's plus the number of seconds in the file that MOVED_CLOCK names, a signed 64-bit integer.
// The machine's clock and the time stamps that the kernel gives packets do not change.
//
// libfaketime can do this too, but it allocates memory when it starts, and jemalloc reads the time
// when it allocates.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

using Seconds = std::atomic<std::int64_t>;
static_assert(sizeof(Seconds) == sizeof(std::int64_t) && Seconds::is_always_lock_free);

// Written while only the first thread runs.
const Seconds* moved_s = nullptr;

__attribute__((constructor)) void map_the_file() {
    const char* path = std::getenv("MOVED_CLOCK");
    const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    void* bytes = mmap(nullptr, sizeof(Seconds), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    moved_s = bytes == MAP_FAILED ? nullptr : static_cast<const Seconds*>(bytes);
}

/// Relaxed, because the value does not order any other data.
std::int64_t moved() {
    return moved_s == nullptr ? 0 : moved_s->load(std::memory_order_relaxed);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t which, timespec* now) noexcept {
    const long result = syscall(SYS_clock_gettime, which, now);
    if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += moved();
    }
    return static_cast<int>(result);
}

int gettimeofday(timeval* __restrict now, void* __restrict zone) noexcept {
    const long result = syscall(SYS_gettimeofday, now, zone);
    if (result == 0) {
        now->tv_sec += moved();
    }
    return static_cast<int>(result);
}

std::time_t time(std::time_t* out) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != nullptr) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}

}  // extern "C"
