// path: cold
//
// The time of day as a test wants it, for one process (LD_PRELOAD): the machine's, and as many
// seconds more or less as stand, as a signed word of 64 bits, in the file that MOVED_CLOCK names.
// The machine's own clock is left alone, and so are the stamps that the kernel gives packets.
//
// libfaketime does this and more, but begins by allocating, which jemalloc answers by asking for
// the time.
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

// Written before any thread but the first runs.
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

/// Relaxed: the word means nothing but itself.
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
