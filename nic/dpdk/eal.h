// path: cold
//
// DPDK's environment, begun once a process for all its ports. It cannot be begun again after its
// end (nor after a failure): rte_eal_init refuses.
#pragma once

#include "config/problem.h"
#include "nic/dpdk/log.h"
#include "nic/dpdk/memory_need.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic::dpdk {

struct EalConfig {
    std::vector<PortDemand> ports;  ///< those with no queue are left out
    /// Where DPDK's own threads run, the first its main lcore; empty: where the caller may run.
    std::vector<unsigned> housekeeping_cpus;
    LogSink log;
};

/// Ports hold it, so that it ends after the last of them. Ending it leaves no file behind.
class Eal {
  public:
    /// Checks the ports against this machine, then begins. Null with Problems if that fails. The
    /// calling thread keeps its CPUs. One running already is returned as it is.
    static std::shared_ptr<Eal> start(const EalConfig& config, Problems& problems);

    /// The one that runs, or null.
    static std::shared_ptr<Eal> running();

    ~Eal();

    Eal(const Eal&) = delete;
    Eal& operator=(const Eal&) = delete;

    [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

    [[nodiscard]] Log& log() { return *log_; }

    /// Makes the calling thread one that DPDK knows, which gives it free buffers of its own; it is
    /// taken back when the thread ends. Does nothing on a thread known already. False: DPDK has no
    /// more room (128 threads); all works, but slower.
    static bool attach_thread() noexcept;

  private:
    Eal(std::vector<std::string> arguments, std::unique_ptr<Log> log);

    std::vector<std::string> arguments_;
    std::unique_ptr<Log> log_;
};

}  // namespace pinstrike::nic::dpdk
