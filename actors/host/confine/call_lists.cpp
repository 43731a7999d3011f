// path: cold
#include "actors/host/confine/call_lists.h"

#include "config/joined.h"
#include "nic/port_kind.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

namespace pinstrike::actors {
namespace {

using nic::SystemCall;

constexpr std::uint64_t whole_word = ~std::uint64_t{0};

/// The calls of every hot thread.
constexpr std::array common{
    // waiting, and waking other threads
    SystemCall{"clock_nanosleep"},
    SystemCall{"futex"},
    SystemCall{"nanosleep"},
    SystemCall{"restart_syscall"},
    SystemCall{"sched_yield"},
    // reading the clock, if the vDSO has to make the call
    SystemCall{"clock_gettime"},
    SystemCall{"gettimeofday"},
    // memory, at the end of a thread and for unexpected allocations; never executable
    SystemCall{"brk"},
    SystemCall{"madvise"},
    SystemCall{"mmap", 2, PROT_EXEC, 0},
    SystemCall{"mprotect", 2, PROT_EXEC, 0},
    SystemCall{"mremap"},
    SystemCall{"munmap"},
    // signals, and the end of a thread or of the process
    SystemCall{"exit"},
    SystemCall{"exit_group"},
    SystemCall{"rt_sigprocmask"},
    SystemCall{"rt_sigreturn"},
    // a failed PINSTRIKE_CHECK, which prints the reason and aborts
    SystemCall{"getpid"},
    SystemCall{"gettid"},
    SystemCall{"rt_sigaction", 0, whole_word, SIGABRT},
    SystemCall{"tgkill", 2, whole_word, SIGABRT},
    SystemCall{"write", 0, whole_word, STDERR_FILENO},
};

}  // namespace

std::vector<SystemCall> poller_calls(const FeedConfig& config, std::span<const std::size_t> ports) {
    std::vector<SystemCall> calls(common.begin(), common.end());
    for (const std::size_t port : ports) {
        const std::vector<SystemCall> more =
            nic::property_of(config.ports[port], &nic::PortKindRow::system_calls);
        calls.insert(calls.end(), more.begin(), more.end());
    }
    return calls;
}

std::vector<SystemCall> core_calls(std::span<const std::string_view> of_actors) {
    std::vector<SystemCall> calls(common.begin(), common.end());
    for (const std::string_view name : of_actors) {
        calls.push_back({name});
    }
    return calls;
}

std::string to_text(std::vector<SystemCall> calls) {
    const auto before = [](const SystemCall& a, const SystemCall& b) {
        return std::pair{a.name, b.argument} <
               std::pair{b.name, a.argument};  // unrestricted calls first
    };
    std::ranges::sort(calls, before);
    const auto repeated = std::ranges::unique(calls, {}, &SystemCall::name);
    calls.erase(repeated.begin(), repeated.end());
    return joined(calls, ", ", [](const SystemCall& call) {
        return std::string{call.name} +
               (call.argument == SystemCall::any_argument ? "" : " (some)");
    });
}

}  // namespace pinstrike::actors
