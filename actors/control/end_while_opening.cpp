// path: cold
#include "actors/control/end_while_opening.h"

#include "config/print_problems.h"

#include <pthread.h>

#include <csignal>
#include <ctime>
#include <system_error>
#include <utility>

namespace pinstrike::actors {

EndWhileOpening::EndWhileOpening(std::string doing) : doing_(std::move(doing)) {
    try {
        thread_ = std::jthread{[this](const std::stop_token& over) { watch(over); }};
    } catch (const std::system_error&) {
        // If no thread can be created, the start fails soon and reports it: Appliance::start.
    }
}

void EndWhileOpening::watch(const std::stop_token& over) const {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    constexpr timespec look_again{0, 20'000'000};
    while (!over.stop_requested()) {
        const int signal = ::sigtimedwait(&ends, nullptr, &look_again);
        if (signal <= 0) {
            continue;
        }
        complain("{} while {}: ended", signal == SIGINT ? "SIGINT" : "SIGTERM", doing_);
        // Raises the signal again, so that the parent process sees that a signal ended the program.
        static_cast<void>(std::signal(signal, SIG_DFL));
        ::pthread_sigmask(SIG_UNBLOCK, &ends, nullptr);
        static_cast<void>(std::raise(signal));
    }
}

}  // namespace pinstrike::actors
