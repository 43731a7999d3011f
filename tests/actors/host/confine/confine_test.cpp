// path: cold
//
// Dropping rights in every thread, and filtering the system calls of hot threads. The tests confine
// threads of their own or a child process, because dropped rights cannot be regained.
#include "actors/appliance/thread_loops.h"
#include "actors/host/confine/call_lists.h"
#include "actors/host/confine/rights.h"
#include "actors/threads/call_filter.h"
#include "actors/threads/every_thread.h"
#include "config/check.h"
#include "nic/dpdk/dpdk_config.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

namespace pinstrike::actors {
namespace {

using testing::HasSubstr;
using testing::Not;

int errno_of(long result) {
    return result < 0 ? errno : 0;
}

/// An actor that makes one system call when it stops.
class Caller final : public Actor {
  public:
    Caller(std::function<void()> call, std::vector<std::string_view> declared)
        : call_(std::move(call)), declared_(std::move(declared)) {}

    [[nodiscard]] std::string_view name() const override { return "caller"; }

    [[nodiscard]] std::vector<std::string_view> system_calls() const override { return declared_; }

    void on_events(EventBatch /*batch*/) override {}

    void on_stop() override { call_(); }

  private:
    std::function<void()> call_;
    std::vector<std::string_view> declared_;
};

/// Runs a core with the appliance's filter whose actor makes this call at its end.
RefusedCalls run_filtered(std::function<void()> call, std::vector<std::string_view> declared = {}) {
    std::vector<std::unique_ptr<Actor>> actors;
    actors.push_back(std::make_unique<Caller>(std::move(call), declared));
    CoreOptions options;
    options.info.name = "core0";
    Core core{std::move(options), {}, std::move(actors)};
    ThreadControl control;
    control.filter = std::make_unique<CallFilter>(core_calls(declared));
    const nic::Clock clock;
    std::thread thread{[&] { run_core(core, -1, nullptr, clock, control); }};
    control.stop.store(true);
    thread.join();
    return refused_calls("core0", control);
}

TEST(CallFilter, refusesWhatIsNotOnTheListAndReportsWhichCallItWas) {
    int file_error = 0;
    int socket_error = 0;
    const RefusedCalls refused = run_filtered([&] {
        file_error = errno_of(::open("/dev/null", O_RDONLY));
        socket_error = errno_of(::socket(AF_INET, SOCK_STREAM, 0));
    });
    EXPECT_EQ(refused.unfiltered, 0);
    EXPECT_EQ(file_error, EPERM);
    EXPECT_EQ(socket_error, EPERM);
    EXPECT_EQ(refused.count, 2U);
    EXPECT_EQ(refused.last, "socket");
}

TEST(CallFilter, letsThroughWhatAnActorDeclared) {
    int error = -1;
    const RefusedCalls refused = run_filtered(
        [&] { error = errno_of(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }, {"openat"});
    EXPECT_EQ(error, 0);
    EXPECT_EQ(refused.count, 0U);
}

TEST(CallFilter, looksAtArguments) {
    int data_error = -1;
    int code_error = -1;
    int write_error = -1;
    int read_end = -1;
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(::pipe(pipe_ends.data()), 0);
    read_end = pipe_ends[0];
    const auto map = [](int protection) {
        void* memory = ::mmap(nullptr, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? errno : 0;
    };
    const RefusedCalls refused = run_filtered([&] {
        data_error = map(PROT_READ | PROT_WRITE);
        code_error = map(PROT_READ | PROT_EXEC);
        write_error = errno_of(::write(pipe_ends[1], "x", 1));
    });
    ::close(read_end);
    ::close(pipe_ends[1]);
    EXPECT_EQ(data_error, 0);
    EXPECT_EQ(code_error, EPERM);
    EXPECT_EQ(write_error, EPERM);
    EXPECT_EQ(refused.count, 2U);
}

TEST(CallFilter, isOfItsThreadAlone) {
    static_cast<void>(run_filtered([] {}));
    EXPECT_EQ(errno_of(::open("/dev/null", O_RDONLY | O_CLOEXEC)), 0);
}

/// A failed PINSTRIKE_CHECK can still print its message.
TEST(CallFilter, aFailedCheckStillSaysWhy) {
    EXPECT_DEATH(static_cast<void>(run_filtered([] { PINSTRIKE_CHECK(1 == 2); })), "1 == 2");
}

nic::PortConfig port_of(nic::PortKind kind, const char* vdev, const char* pci) {
    nic::PortConfig port;
    port.kind = kind;
    auto& own = port.own.get<nic::dpdk::DpdkConfig>();
    own.vdev = vdev;
    own.pci = pci;
    return port;
}

/// For every kind of port, the filter accepts all names and finds no contradicting rules.
TEST(CallFilter, takesTheListsOfAllPorts) {
    FeedConfig config;
    const auto add = [&](nic::PortKind kind, const char* vdev, const char* pci) {
        config.ports.push_back(port_of(kind, vdev, pci));
    };
    add(nic::PortKind::sim, "", "");
    add(nic::PortKind::capture, "", "");
    add(nic::PortKind::uring, "", "");
    for (const char* vdev : {"net_af_xdp0,iface=x", "net_af_packet0,iface=x", "net_pcap0",
                             "net_tap0", "net_memif0", "net_null0", "net_ring0", "net_unheard0"}) {
        add(nic::PortKind::dpdk, vdev, "");
    }
    add(nic::PortKind::dpdk, "", "0000:01:00.0");
    std::vector<std::size_t> all;
    for (std::size_t port = 0; port < config.ports.size(); ++port) {
        const std::array one{port};
        all.push_back(port);
        std::thread([&] {
            CallFilter filter{poller_calls(config, one)};
            EXPECT_EQ(filter.install(), 0)
                << config.ports[port].own.get<nic::dpdk::DpdkConfig>().vdev;
        }).join();
    }
    std::thread([&] {
        CallFilter filter{poller_calls(config, all)};
        EXPECT_EQ(filter.install(), 0);
    }).join();
    EXPECT_THAT(to_text(poller_calls(config, std::array{std::size_t{2}})),
                HasSubstr("io_uring_enter"));
    EXPECT_THAT(to_text(core_calls({})), Not(HasSubstr("io_uring_enter")));
}

/// A poller with one port of this kind.
std::vector<nic::SystemCall> calls_of_poller(nic::PortKind kind, const char* pci = "") {
    FeedConfig config;
    config.ports.push_back(port_of(kind, "", pci));
    return poller_calls(config, std::array{std::size_t{0}});
}

/// A call with arguments that its rule does not allow. If the filter let it pass, it would have no
/// effect or fail with another error.
struct RefusedCall {
    const char* name;
    std::vector<nic::SystemCall> allowed;
    std::array<unsigned long, 3> arguments;
};

std::vector<RefusedCall> calls_from_their_other_side() {
    const std::vector<nic::SystemCall> core = core_calls({});
    const std::vector<nic::SystemCall> uring = calls_of_poller(nic::PortKind::uring);
    const std::vector<nic::SystemCall> pci = calls_of_poller(nic::PortKind::dpdk, "0000:01:00.0");
    const std::vector<nic::SystemCall> capture = calls_of_poller(nic::PortKind::capture);
    constexpr auto here = static_cast<unsigned long>(AT_FDCWD);
    return {
        {"mmap", core, {0, 0, PROT_EXEC}},
        {"mmap", core, {0, 0, PROT_READ | PROT_WRITE | PROT_EXEC}},
        {"mprotect", core, {0, 0, PROT_EXEC}},
        {"mprotect", core, {0, 0, PROT_READ | PROT_EXEC}},
        {"rt_sigaction", core, {SIGTERM, 0, 0}},
        {"rt_sigaction", core, {SIGSYS, 0, 0}},
        {"tgkill", core, {0, 0, SIGKILL}},
        {"write", core, {STDOUT_FILENO, 0, 0}},
        {"write", core, {STDERR_FILENO | 4, 0, 0}},
        {"ioctl", uring, {~0UL, SIOCSIFFLAGS, 0}},
        {"socket", pci, {AF_UNIX, SOCK_STREAM, 0}},
        {"socket", pci, {AF_PACKET, SOCK_RAW, 0}},
        {"openat", capture, {here, 0, O_WRONLY}},
        {"openat", capture, {here, 0, O_RDWR | O_CREAT}},
    };
}

TEST(CallFilter, refusesEachCallThatIsAllowedWithOtherArgumentsOnly) {
    std::set<std::string_view> tried;
    for (const RefusedCall& row : calls_from_their_other_side()) {
        tried.insert(row.name);
        const auto is_it = [&row](const nic::SystemCall& call) { return call.name == row.name; };
        const auto number = std::ranges::find_if(row.allowed, is_it) == row.allowed.end()
                                ? -1
                                : seccomp_syscall_resolve_name(row.name);
        ASSERT_GE(number, 0) << row.name << " is not on the list";
        CallFilter filter{row.allowed};
        int error = 0;
        std::thread([&] {
            ASSERT_EQ(filter.install(), 0);
            const auto& [first, second, third] = row.arguments;
            error = errno_of(::syscall(number, first, second, third, 0, 0, 0));
        }).join();
        EXPECT_EQ(error, EPERM) << row.name << " " << row.arguments[0] << " " << row.arguments[2];
        EXPECT_EQ(filter.refused(), 1U) << row.name;
        EXPECT_EQ(filter.last_refused(), row.name);
    }
    for (const auto& calls :
         {core_calls({}), calls_of_poller(nic::PortKind::sim),
          calls_of_poller(nic::PortKind::capture), calls_of_poller(nic::PortKind::uring),
          calls_of_poller(nic::PortKind::dpdk, "0000:01:00.0")}) {
        for (const nic::SystemCall& call : calls) {
            EXPECT_TRUE(call.argument == nic::SystemCall::any_argument || tried.contains(call.name))
                << call.name << " has a condition that is not tried here from its other side";
        }
    }
}

/// Runs in a child process, which returns the result as its status: rights cannot be regained.
int status_of_child(const std::function<int()>& run) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(run());
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

std::string held_by(int thread) {
    return status_of_thread(thread, "CapPrm") + " " + status_of_thread(thread, "CapEff") + " " +
           status_of_thread(thread, "CapBnd") + " " + status_of_thread(thread, "NoNewPrivs");
}

TEST(Rights, areDroppedInThreadsThatWereThereBefore) {
    const int status = status_of_child([] {
        std::atomic<bool> stop{false};
        std::atomic<int> other{0};
        std::thread thread{[&] {
            other.store(static_cast<int>(::syscall(SYS_gettid)));
            while (!stop.load()) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        }};
        while (other.load() == 0) {
        }
        const bool may_bound = ::prctl(PR_CAPBSET_DROP, CAP_CHECKPOINT_RESTORE, 0, 0, 0) == 0;
        const Confinement confinement = drop_rights({}, true);
        // Without the right to change the bounding set, only no_new_privs holds.
        const std::string none =
            "0000000000000000 0000000000000000" + std::string{may_bound ? " 0000000000000000" : ""};
        const bool here = held_by(static_cast<int>(::getpid())).starts_with(none);
        const bool there =
            held_by(other.load()).starts_with(none) && held_by(other.load()).ends_with(" 1");
        stop.store(true);
        thread.join();
        const bool closed = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0;  // called with a secret
        return (confinement.remarks.empty() ? 0 : 1) + (confinement.kept == "none" ? 0 : 2) +
               (here ? 0 : 4) + (there ? 0 : 8) + (closed ? 0 : 16);
    });
    EXPECT_EQ(status, 0);
}

TEST(Rights, keepsWhatIsNamedAndThere) {
    const int status = status_of_child([] {
        const bool was_there =
            status_of_thread(static_cast<int>(::getpid()), "CapPrm") != "0000000000000000";
        const Confinement confinement = drop_rights({{12, "CAP_NET_ADMIN", "why"}}, false);
        const std::string wanted = was_there ? "CAP_NET_ADMIN (why)" : "none";
        const bool open = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;  // called without a secret
        return (confinement.kept == wanted && confinement.remarks.empty() ? 0 : 1) + (open ? 0 : 2);
    });
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace pinstrike::actors
