// path: cold
//
// A config laid out on a machine, as plain data: the content of the picture that `pinstrike plan`
// draws. The machine may be this host or a described one.
#pragma once

#include "actors/topology/feed_config.h"
#include "actors/topology/machine.h"
#include "actors/topology/topology.h"
#include "config/problem.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors::plan {

enum class Role : std::uint8_t { poller, core, control };

struct Thread {
    std::string name;
    Role role = Role::control;
    CpuIndex cpu = -1;
    bool spins = false;
};

struct Cpu {
    CpuIndex index = 0;
    std::vector<Thread> threads;
};

struct Core {
    unsigned index = 0;  ///< physical, as hwloc counts cores
    std::vector<Cpu> cpus;
};

/// A poller's receive queue at a port, and the lines that arrive there.
struct Queue {
    std::string poller;
    std::size_t number = 0;
    std::size_t lines_count = 0;
    std::string lines;  ///< "1-48, 201"
};

struct Port {
    std::string name;
    std::string source;  ///< PCI address, virtual device, interface, captures
    std::string streams;
    std::optional<unsigned> numa_node;  ///< nullopt: none, or unknown
    std::vector<Queue> queues;
};

/// A NUMA node of a package. An empty name: things that are on no node.
struct Panel {
    std::string name;
    std::vector<std::size_t> ports;  ///< indices into Plan::ports
    std::vector<Core> cores;
    std::vector<Thread> threads;  ///< threads without a CPU, or with one that the machine lacks
};

struct Ring : RingPlan {
    bool crosses = false;  ///< from one NUMA node to another
};

struct Plan {
    std::string title;
    std::vector<Panel> panels;  ///< the panel without a node comes first
    std::vector<Port> ports;
    std::vector<Ring> rings;
    std::string hugepages;  ///< "node0 132, any 437", pages of 2 MiB; empty: none are needed
    std::string published;  ///< "80.0 MiB, shm": published memory; empty: there is none
    std::string recorder;   ///< "64.0 MiB, writes to FOLDER"; empty: nothing is recorded
    Problems problems;      ///< they would prevent the start
    std::vector<std::string> remarks;  ///< they would not prevent it
};

/// `where` is the machine's name in the texts.
[[nodiscard]] Plan make_plan(const FeedConfig& config, const Machine& machine,
                             const std::string& where);

/// A text for people. Long lists of lines and cores are not broken.
[[nodiscard]] std::string plan_text(const Plan& plan);

/// An SVG picture: panels with cores and their threads, lines for queues and rings, and a list of
/// both.
[[nodiscard]] std::string plan_svg(const Plan& plan);

/// The lists of queues and rings for both formats. Similar rings of a poller share one row.
[[nodiscard]] std::vector<std::string> queue_lines(const Plan& plan);
[[nodiscard]] std::vector<std::string> ring_lines(const Plan& plan);

}  // namespace pinstrike::actors::plan
