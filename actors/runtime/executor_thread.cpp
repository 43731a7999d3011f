// path: cold
#include "actors/runtime/executor_thread.h"

#include <immintrin.h>
#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <utility>

namespace pinstrike::actors::runtime {

namespace {

void place(int cpu, const std::string& name) {
    constexpr std::size_t longest = 15;
    pthread_setname_np(pthread_self(), name.substr(0, longest).c_str());
    if (cpu >= 0) {
        pin_this_thread(cpu);
    }
}

}  // namespace

void pin_this_thread(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(cpu), &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

std::int64_t steady_ns() {
    return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count();
}

ExecutorThread::ExecutorThread(Executor& executor, ExecutorThreadOptions options)
    : executor_(executor), options_(std::move(options)), thread_([this] { run(); }) {}

ExecutorThread::~ExecutorThread() {
    stop_.store(true, std::memory_order_relaxed);
    executor_.wake();
    thread_.join();
}

void ExecutorThread::run() {
    place(options_.cpu, options_.name);
    unsigned dry = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
        const std::int64_t now_ns = steady_ns();
        if (executor_.step(now_ns) != 0) {
            dry = 0;
        } else if (dry < options_.spins) {
            dry += options_.spins == ExecutorThreadOptions::never ? 0 : 1;
            _mm_pause();
        } else if (!executor_.has_work()) {
            executor_.park(now_ns, [this] { return stop_.load(std::memory_order_relaxed); });
        }
    }
}

}  // namespace pinstrike::actors::runtime
