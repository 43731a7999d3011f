// path: cold
//
// Preloaded, makes threads that nap do what no hot thread may, before each nap and while the file
// that MISBEHAVE names says so: a system call that is on no list while its first byte is not 0,
// heap memory while its second is not. Pollers with `wait: park` nap.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <new>

namespace {

struct Orders {
    std::atomic<char> call;
    std::atomic<char> allocate;
};

static_assert(sizeof(Orders) == 2 && std::atomic<char>::is_always_lock_free);

// Written before any thread but the first runs.
const Orders* orders = nullptr;

__attribute__((constructor)) void map_the_file() {
    const char* path = std::getenv("MISBEHAVE");
    const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    void* bytes = mmap(nullptr, sizeof(Orders), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    orders = bytes == MAP_FAILED ? nullptr : static_cast<const Orders*>(bytes);
}

}  // namespace

extern "C" int nanosleep(const timespec* wanted, timespec* left) {
    // Relaxed: the bytes mean nothing but themselves.
    if (orders != nullptr && orders->call.load(std::memory_order_relaxed) != 0) {
        static_cast<void>(syscall(SYS_getppid));
    }
    if (orders != nullptr && orders->allocate.load(std::memory_order_relaxed) != 0) {
        void* volatile memory = ::operator new(64);
        ::operator delete(memory);
    }
    return static_cast<int>(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, wanted, left));
}
