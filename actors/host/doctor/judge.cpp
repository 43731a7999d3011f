// path: cold
#include "actors/host/doctor/judge.h"

#include "actors/host/doctor/fixes.h"

namespace pinstrike::actors::doctor {

Findings judge(const Host& host, const Need& need) {
    Findings findings;
    judge_machine(host, need, findings);
    judge_memory(host, need, findings);
    judge_nics(host, need, findings);
    judge_places(host, need, findings);
    judge_processors(host, need, findings);
    judge_interrupts(host, need, findings);
    judge_time(host, need, findings);
    judge_network(host, need, findings);
    judge_limits(host, need, findings);
    return findings;
}

void judge_machine(const Host& host, const Need& need, Findings& findings) {
    Finding machine{.id = "machine",
                    .severity = Severity::ok,
                    .what = "kind of machine",
                    .seen = "bare metal",
                    .wanted = "bare metal that does nothing else",
                    .why = "",
                    .fix = {}};
    if (host.cpu_flags.empty()) {
        machine.severity = Severity::unknown;
        machine.seen = "not visible: /proc/cpuinfo cannot be read";
    } else if (!host.container.empty()) {
        machine.severity = Severity::advice;
        machine.seen = host.container + " container";
        machine.seen += host.hypervisor ? " in a virtual machine" : "";
        machine.why =
            "processors, interrupts, limits and the clock are the host's: what is seen here may "
            "not be all, and much of it cannot be mended from inside";
        machine.fix = advice_fix("run doctor on the host itself as well");
    } else if (host.hypervisor) {
        machine.severity = Severity::advice;
        machine.seen = "virtual machine";
        machine.why =
            "a hypervisor stops processors for tens of microseconds, unseen from inside; frequency "
            "and sleep states are its own";
        machine.fix = advice_fix("dedicated processors, pinned by the hypervisor; or bare metal");
    } else if (host.battery) {
        machine.severity = Severity::advice;
        machine.seen = "has a battery: a laptop";
        machine.why = "its frequency follows heat and charge: no latency of it can be relied on";
        machine.fix = advice_fix("good for development; measure and trade elsewhere");
    }
    findings.push_back(std::move(machine));
    if (need.configs == 0) {
        findings.push_back({.id = "config",
                            .severity = Severity::unknown,
                            .what = "config",
                            .seen = "none was named",
                            .wanted = "pinstrike doctor CONFIG",
                            .why = "which processors poll, which NICs, how much memory and which "
                                   "buffers are needed stands there: none of it was judged",
                            .fix = {}});
    }
}

}  // namespace pinstrike::actors::doctor
