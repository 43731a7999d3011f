// path: cold
#include "nic/dpdk/eal.h"

#include "nic/dpdk/bpf_log.h"
#include "nic/dpdk/eal_arguments.h"
#include "nic/dpdk/library.h"

#include <fmt/format.h>
#include <pthread.h>
#include <rte_lcore.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>

namespace pinstrike::nic::dpdk {
namespace {

std::mutex start_mutex;
std::weak_ptr<Eal> the_one;

/// True while EAL runs. Stored with release and loaded with acquire before rte_thread_unregister,
/// so that a thread that ends late does not call DPDK after EAL has ended. (Poll threads are joined
/// before the ports are closed, so this matters only for threads that outlive both.)
std::atomic<bool> alive{false};

/// Unregisters a thread when it ends.
struct Registration {
    bool held = false;

    ~Registration() {
        if (held && alive.load(std::memory_order_acquire)) {
            rte_thread_unregister();
        }
    }
};

thread_local Registration registration;

/// rte_eal_init pins its caller to the main lcore, and runs DPDK's own threads on the caller's
/// other CPUs. So the caller's affinity is set to the housekeeping CPUs before the call and
/// restored after it.
class AffinityKept {
  public:
    explicit AffinityKept(const std::vector<unsigned>& cpus) {
        known_ = pthread_getaffinity_np(pthread_self(), sizeof own_, &own_) == 0;
        cpu_set_t wanted;
        CPU_ZERO(&wanted);
        for (const unsigned cpu : cpus) {
            CPU_SET(cpu, &wanted);
        }
        pthread_setaffinity_np(pthread_self(), sizeof wanted, &wanted);
    }

    ~AffinityKept() {
        if (known_) {
            pthread_setaffinity_np(pthread_self(), sizeof own_, &own_);
        }
    }

    AffinityKept(const AffinityKept&) = delete;
    AffinityKept& operator=(const AffinityKept&) = delete;

  private:
    cpu_set_t own_{};
    bool known_ = false;
};

std::vector<unsigned> cpus_of_caller() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<unsigned> cpus;
    if (pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0) {
        for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &set)) {
                cpus.push_back(cpu);
            }
        }
    }
    return cpus.empty() ? std::vector<unsigned>{0} : cpus;
}

std::string failure_text(int error, const std::vector<std::string>& arguments, Log& log) {
    std::string command;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        command += " " + arguments[i];
    }
    const std::string complaints = log.complaints();
    return fmt::format("DPDK does not start ({}): {} [EAL arguments:{}]", rte_strerror(error),
                       complaints.empty() ? "it gives no reason" : complaints, command);
}

/// Returns the error of rte_eal_init, 0 on success.
int initialise(const std::vector<std::string>& arguments) {
    std::vector<std::string> texts = arguments;  // EAL reorders the arguments and may change them
    std::vector<char*> argv;
    for (std::string& text : texts) {
        argv.push_back(text.data());
    }
    argv.push_back(nullptr);
    const int result = rte_eal_init(static_cast<int>(texts.size()), argv.data());
    return result < 0 ? (rte_errno != 0 ? rte_errno : -result) : 0;
}

/// EAL creates its runtime folder even if it shares nothing through it.
void remove_runtime_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::remove(folder, error);  // fails if another instance uses the folder
}

}  // namespace

std::shared_ptr<Eal> Eal::running() {
    const std::lock_guard lock(start_mutex);
    return the_one.lock();
}

std::shared_ptr<Eal> Eal::start(const EalConfig& config, Problems& problems) {
    const std::lock_guard lock(start_mutex);
    if (std::shared_ptr<Eal> running = the_one.lock()) {
        return running;
    }
    std::vector<PortDemand> ports = config.ports;
    std::erase_if(ports, [](const PortDemand& port) { return port.queues == 0; });
    const Problems wrong = check_ports(ports, read_port_resources());
    if (!wrong.empty()) {
        problems.insert(problems.end(), wrong.begin(), wrong.end());
        return nullptr;
    }
    const std::vector<unsigned> cpus =
        config.housekeeping_cpus.empty() ? cpus_of_caller() : config.housekeeping_cpus;
    const std::vector<std::string> arguments = eal_arguments(ports, cpus.front());
    auto log = std::make_unique<Log>(config.log);
    // Without its dispatcher, libxdp pins no program in bpffs, so bpffs need not be mounted.
    setenv("LIBXDP_SKIP_DISPATCHER", "1", 0);
    const AffinityKept kept(cpus);
    log->begin();
    if (const int error = initialise(arguments); error != 0) {
        add_problem(problems, "", failure_text(error, arguments, *log));
        remove_runtime_folder(rte_eal_get_runtime_dir());
        return nullptr;
    }
    redirect_bpf_output(log.get());
    alive.store(true, std::memory_order_release);
    std::shared_ptr<Eal> eal(new Eal(std::move(log)));
    the_one = eal;
    return eal;
}

Eal::~Eal() {
    const std::string folder = rte_eal_get_runtime_dir();
    alive.store(false, std::memory_order_release);
    redirect_bpf_output(nullptr);
    rte_eal_cleanup();
    remove_runtime_folder(folder);
}

bool Eal::attach_thread() noexcept {
    if (rte_lcore_id() != LCORE_ID_ANY) {
        return true;
    }
    if (rte_thread_register() != 0) {
        return false;
    }
    registration.held = true;
    return true;
}

}  // namespace pinstrike::nic::dpdk
