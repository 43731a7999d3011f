// path: cold
#include "actors/threads/call_filter.h"

#include "config/check.h"

#include <fmt/format.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace pinstrike::actors {
namespace {

constexpr int by_seccomp = 1;  // SYS_SECCOMP, which glibc's headers leave out

/// The filter of this thread. Its type is trivial, so that a signal handler may read it.
thread_local CallFilter* filter_of_thread = nullptr;

struct Release {
    void operator()(void* context) const { seccomp_release(context); }
};

using Context = std::unique_ptr<void, Release>;

/// Handles SIGSYS: notes the refused call and makes it fail with EPERM. A SIGSYS that is not from a
/// filter gets the default action.
void refuse(int signal, siginfo_t* about, void* interrupted) {
    if (about->si_code != by_seccomp || filter_of_thread == nullptr) {
        ::signal(signal, SIG_DFL);
        ::raise(signal);
        return;
    }
    filter_of_thread->note(about->si_syscall);
    static_cast<ucontext_t*>(interrupted)->uc_mcontext.gregs[REG_RAX] = -EPERM;
}

/// Installs the handler of SIGSYS, once per process, before the first filter.
void install_refusal_handler() {
    static const bool installed = [] {
        struct sigaction action {};

        action.sa_sigaction = refuse;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        return ::sigaction(SIGSYS, &action, nullptr) == 0;
    }();
    PINSTRIKE_CHECK(installed);
}

/// Returns 0 or an errno.
int allow(scmp_filter_ctx context, const nic::SystemCall& call) {
    const int number = seccomp_syscall_resolve_name(std::string{call.name}.c_str());
    PINSTRIKE_CHECK(number >= 0);
    if (call.argument == nic::SystemCall::any_argument) {
        return -seccomp_rule_add(context, SCMP_ACT_ALLOW, number, 0);
    }
    scmp_arg_cmp condition{};
    condition.arg = call.argument;
    condition.op = SCMP_CMP_MASKED_EQ;
    condition.datum_a = call.mask;
    condition.datum_b = call.value;
    return -seccomp_rule_add_array(context, SCMP_ACT_ALLOW, number, 1, &condition);
}

/// Returns 0 or an errno. Turns off the mitigation of speculative store bypass, which slows the
/// thread down and is not needed where another mechanism guards against speculation. Linux before
/// 5.16 turns it on for every filter by default.
int set_up(scmp_filter_ctx context) {
    constexpr std::uint32_t by_tree = 2;
    int result = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    result = result == 0 ? seccomp_attr_set(context, SCMP_FLTATR_CTL_SSB, 1) : result;
    result = result == 0 ? seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, by_tree) : result;
    // Without this attribute libseccomp reports errors of its system calls as ECANCELED.
    return result == 0 ? -seccomp_attr_set(context, SCMP_FLTATR_API_SYSRAWRC, 1) : -result;
}

}  // namespace

CallFilter::CallFilter(std::vector<nic::SystemCall> allowed) : allowed_(std::move(allowed)) {
    for (const nic::SystemCall& call : allowed_) {
        PINSTRIKE_CHECK(seccomp_syscall_resolve_name(std::string{call.name}.c_str()) >= 0);
    }
}

int CallFilter::install() {
    install_refusal_handler();
    const Context context{seccomp_init(SCMP_ACT_TRAP)};
    if (!context) {
        return ENOMEM;
    }
    int error = set_up(context.get());
    for (const nic::SystemCall& call : allowed_) {
        error = error == 0 ? allow(context.get(), call) : error;
    }
    if (error != 0) {
        return error;
    }
    filter_of_thread = this;
    return -seccomp_load(context.get());
}

std::string CallFilter::last_refused() const {
    const std::uint64_t last = last_.read();
    if (last == 0) {
        return "";
    }
    const int number = static_cast<int>(last - 1);
    char* name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
    std::string text = name != nullptr ? name : fmt::format("number {}", number);
    std::free(name);
    return text;
}

std::string CallFilter::obstacle() {
    constexpr std::uint32_t action = SECCOMP_RET_TRAP;
    if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
        return std::strerror(errno);
    }
    return "";
}

}  // namespace pinstrike::actors
