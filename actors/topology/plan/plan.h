// path: cold
//
// A config laid out on a machine: what `pinstrike plan` draws. Data alone; the machine may be this
// one, or one that is only described.
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
    unsigned index = 0;  ///< physical, as hwloc counts them
    std::vector<Cpu> cpus;
};

/// The receive queue that a poller has at a port, and what comes there.
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
    std::optional<unsigned> numa_node;  ///< nullopt: it has none, or it is not known
    std::vector<Queue> queues;
};

/// A NUMA node (of a package), or what is on none: name empty.
struct Panel {
    std::string name;
    std::vector<std::size_t> ports;  ///< indices into Plan::ports
    std::vector<Core> cores;
    std::vector<Thread> threads;  ///< of no cpu, or of one that the machine has not
};

struct Ring {
    std::string from;
    std::string to;
    std::size_t slots = 0;
    std::size_t bytes = 0;
    bool crosses = false;  ///< between NUMA nodes
};

struct Plan {
    std::string title;
    std::vector<Panel> panels;  ///< what is on no node first
    std::vector<Port> ports;
    std::vector<Ring> rings;
    std::vector<std::string> problems;  ///< would forbid the start
    std::vector<std::string> remarks;   ///< would not
};

/// `where` names the machine for people.
[[nodiscard]] Plan make_plan(const FeedConfig& config, const Machine& machine,
                             const std::string& where);

/// For people; long lists of lines and cores are not broken.
[[nodiscard]] std::string plan_text(const Plan& plan);

/// A picture: panels with cores and what runs there, queues and rings as lines, and both as a list.
[[nodiscard]] std::string plan_svg(const Plan& plan);

/// The lists of queues and of rings, as both show them; rings of a poller that are alike in one
/// line.
[[nodiscard]] std::vector<std::string> queue_lines(const Plan& plan);
[[nodiscard]] std::vector<std::string> ring_lines(const Plan& plan);

}  // namespace pinstrike::actors::plan
