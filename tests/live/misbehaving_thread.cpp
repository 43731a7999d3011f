// path: cold
//
// A library to preload. It makes threads do what no hot thread may do, before each call of
// nanosleep() and while the file that MISBEHAVE names says so. Pollers with `wait: park` call
// nanosleep(). The first three bytes of the file are switches. If the first is not 0, the thread
// makes a system call that is on no allowed list. If the second is not 0, it allocates heap memory.
// If the third is not 0, the thread named "recovery" throws, as if descriptors or memory were
// exhausted.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string_view>
#include <system_error>

namespace {

struct Orders {
    std::atomic<char> call;
    std::atomic<char> allocate;
    std::atomic<char> fail;
};

static_assert(sizeof(Orders) == 3 && std::atomic<char>::is_always_lock_free);

// Written while only the first thread runs.
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

bool is_recovery() {
    std::array<char, 16> name{};
    return prctl(PR_GET_NAME, name.data()) == 0 && std::string_view{name.data()} == "recovery";
}

}  // namespace

extern "C" int nanosleep(const timespec* wanted, timespec* left) {
    // Relaxed, because the bytes do not order any other data.
    if (orders != nullptr && orders->call.load(std::memory_order_relaxed) != 0) {
        static_cast<void>(syscall(SYS_getppid));
    }
    if (orders != nullptr && orders->allocate.load(std::memory_order_relaxed) != 0) {
        void* volatile memory = ::operator new(64);
        ::operator delete(memory);
    }
    if (orders != nullptr && orders->fail.load(std::memory_order_relaxed) != 0 && is_recovery()) {
        throw std::system_error{EMFILE, std::generic_category(), "by order"};
    }
    return static_cast<int>(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, wanted, left));
}
