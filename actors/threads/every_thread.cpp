// path: cold
#include "actors/threads/every_thread.h"

#include "config/check.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace pinstrike::actors {
namespace {

int own_thread() {
    return static_cast<int>(::syscall(SYS_gettid));
}

/// The function to run, and the id of the thread that ran it last. Only one side writes at a time,
/// because the other side waits for it. Release and acquire: a thread that reads an id sees
/// everything that the interrupted thread did before.
std::atomic<void (*)()> wanted_action{nullptr};
std::atomic<int> done_by{0};

void obey(int /*signal*/) {
    const int error = errno;
    if (const auto action = wanted_action.load(std::memory_order_acquire)) {
        action();
    }
    done_by.store(own_thread(), std::memory_order_release);
    errno = error;
}

/// True if the thread ran the function, or has ended.
bool reach(int thread) {
    constexpr std::chrono::seconds patience{1};
    done_by.store(0, std::memory_order_relaxed);  // before the signal, whose handler stores last
    const auto deadline = std::chrono::steady_clock::now() + patience;
    if (::syscall(SYS_tgkill, ::getpid(), thread, SIGRTMIN) != 0) {
        return errno == ESRCH;
    }
    while (done_by.load(std::memory_order_acquire) != thread) {
        if (std::chrono::steady_clock::now() > deadline) {
            return ::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
}

}  // namespace

std::vector<int> threads_of_process() {
    std::vector<int> threads;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", error)) {
        threads.push_back(std::atoi(entry.path().filename().c_str()));
    }
    return threads;
}

std::string status_of_thread(int thread, const std::string& key) {
    std::ifstream in(fmt::format("/proc/self/task/{}/status", thread));
    for (std::string word; in >> word;) {
        if (word == key + ":") {
            in >> word;
            return word;
        }
    }
    return "";
}

std::vector<std::string> on_every_other_thread(void (*action)()) {
    struct sigaction handler {};

    struct sigaction before {};

    handler.sa_handler = obey;
    handler.sa_flags = SA_RESTART;
    PINSTRIKE_CHECK(::sigaction(SIGRTMIN, &handler, &before) == 0);
    PINSTRIKE_CHECK(before.sa_handler == SIG_DFL);
    wanted_action.store(action, std::memory_order_release);
    std::vector<std::string> unreached;
    std::set<int> asked{own_thread()};
    for (bool more = true; more;) {
        more = false;
        for (const int thread : threads_of_process()) {
            if (asked.insert(thread).second) {
                more = true;
                if (!reach(thread)) {
                    unreached.push_back(status_of_thread(thread, "Name"));
                }
            }
        }
    }
    if (unreached.empty()) {
        ::sigaction(SIGRTMIN, &before, nullptr);
    }  // else a signal may still arrive and needs a handler
    return unreached;
}

}  // namespace pinstrike::actors
