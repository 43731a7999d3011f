// path: cold
//
// DPDK's environment (EAL), which is started once per process for all ports. It cannot be started
// again after its end or after a failure, because rte_eal_init refuses that.
#pragma once

#include "config/problem.h"
#include "nic/dpdk/log.h"
#include "nic/dpdk/memory_need.h"

#include <memory>
#include <utility>
#include <vector>

namespace pinstrike::nic::dpdk {

struct EalConfig {
    std::vector<PortDemand> ports;  ///< ports without a queue are ignored
    /// The CPUs of DPDK's own threads, the first for its main lcore; empty: the CPUs that the
    /// caller may use.
    std::vector<unsigned> housekeeping_cpus;
    LogSink log;
};

/// Ports share the ownership of EAL, so that it ends after the last port. It leaves no file behind.
class Eal {
  public:
    /// Checks the ports against this machine, then starts EAL. Returns the running Eal if there is
    /// one; null, with problems added, on failure. The calling thread keeps its CPU affinity.
    static std::shared_ptr<Eal> start(const EalConfig& config, Problems& problems);

    /// The running Eal, or null.
    static std::shared_ptr<Eal> running();

    ~Eal();

    Eal(const Eal&) = delete;
    Eal& operator=(const Eal&) = delete;

    [[nodiscard]] Log& log() { return *log_; }

    /// Registers the calling thread with DPDK, which gives it a cache of free buffers; undone when
    /// the thread ends. Does nothing on a registered thread. False if DPDK has no free thread id
    /// (128); the thread then works without a cache, which is slower.
    static bool attach_thread() noexcept;

  private:
    explicit Eal(std::unique_ptr<Log> log) : log_(std::move(log)) {}

    std::unique_ptr<Log> log_;
};

}  // namespace pinstrike::nic::dpdk
