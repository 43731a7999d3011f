// path: cold
#include "actors/topology/plan/plan.h"
#include "config/joined.h"
#include "config/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike::actors::plan {
namespace {

std::string threads_text(const std::vector<Thread>& threads) {
    return threads.empty() ? "-" : joined(threads, ", ", &Thread::name);
}

bool is_used(const Core& core) {
    return std::ranges::any_of(core.cpus, [](const Cpu& cpu) { return !cpu.threads.empty(); });
}

std::string core_text(const Core& core) {
    std::string text = fmt::format("    core {:<4}", core.index);
    for (const Cpu& cpu : core.cpus) {
        text += fmt::format(" cpu {:<4} {:<18}", cpu.index, threads_text(cpu.threads));
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

/// One row for each core that runs a thread, and one row for all other cores.
std::string cores_text(const std::vector<Core>& cores) {
    std::string text;
    std::size_t free_cores = 0;
    for (const Core& core : cores) {
        text += is_used(core) ? core_text(core) : "";
        free_cores += is_used(core) ? 0U : 1U;
    }
    return text + (free_cores == 0
                       ? ""
                       : fmt::format("    {} core{} of {} without a thread\n", free_cores,
                                     free_cores == 1 ? "" : "s", cores.size()));
}

std::string panel_text(const Panel& panel, const Plan& plan) {
    std::string text =
        (panel.name.empty() ? std::string{"on no node, or on an unknown one"} : panel.name) + "\n";
    for (const std::size_t port : panel.ports) {
        text += fmt::format("    port {}: {}\n", plan.ports[port].name, plan.ports[port].source);
    }
    text += cores_text(panel.cores);
    for (const Thread& thread : panel.threads) {
        text += thread.cpu < 0 ? fmt::format("    {} is not pinned, {}\n", thread.name,
                                             thread.spins ? "and spins" : "sleeps when idle")
                               : fmt::format("    {}: cpu {} is not on this machine\n", thread.name,
                                             thread.cpu);
    }
    return text + "\n";
}

}  // namespace

std::vector<std::string> queue_lines(const Plan& plan) {
    std::vector<std::string> lines;
    for (const Port& port : plan.ports) {
        for (const Queue& queue : port.queues) {
            lines.push_back(fmt::format(
                "{} queue {} -> {}   {} {}, {} line{}: {}", port.name, queue.number, queue.poller,
                port.streams.size() == 1 ? "stream" : "streams", port.streams, queue.lines_count,
                queue.lines_count == 1 ? "" : "s", queue.lines));
        }
        if (port.queues.empty()) {
            lines.push_back(port.name + ": no poller reads it");
        }
    }
    return lines;
}

std::vector<std::string> ring_lines(const Plan& plan) {
    std::vector<std::string> lines;
    const auto alike = [](const Ring& a, const Ring& b) {
        return a.from == b.from && a.slots == b.slots && a.crosses == b.crosses;
    };
    std::vector<bool> reported(plan.rings.size());
    for (std::size_t i = 0; i < plan.rings.size(); ++i) {
        const Ring& ring = plan.rings[i];
        std::string targets;
        std::size_t count = 0;
        for (std::size_t k = i; k < plan.rings.size(); ++k) {
            if (!reported[k] && alike(ring, plan.rings[k])) {
                reported[k] = true;
                targets += (count++ == 0 ? "" : ", ") + plan.rings[k].to;
            }
        }
        if (count != 0) {
            lines.push_back(fmt::format("{} -> {}   {} records, {}{}{}", ring.from, targets,
                                        grouped(ring.slots), memory_text(ring.bytes),
                                        count > 1 ? " each" : "",
                                        ring.crosses ? ", between NUMA nodes" : ""));
        }
    }
    return lines;
}

std::string plan_text(const Plan& plan) {
    std::string text = plan.title + "\n\n";
    for (const Panel& panel : plan.panels) {
        text += panel_text(panel, plan);
    }
    text += "queues\n";
    for (const std::string& line : queue_lines(plan)) {
        text += "    " + line + "\n";
    }
    text += "\nrings\n";
    for (const std::string& line : ring_lines(plan)) {
        text += "    " + line + "\n";
    }
    text += plan.hugepages.empty() ? "" : "\nhugepages of 2 MiB: " + plan.hugepages + "\n";
    text += plan.published.empty() ? "" : "\npublished memory: " + plan.published + "\n";
    text += plan.recorder.empty() ? "" : "\nmemory of the recorder: " + plan.recorder + "\n";
    text += plan.remarks.empty() ? "" : "\n";
    for (const std::string& remark : plan.remarks) {
        text += "remark: " + remark + "\n";
    }
    return text;
}

}  // namespace pinstrike::actors::plan
