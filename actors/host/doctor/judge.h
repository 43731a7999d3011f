// path: cold
//
// What is good and bad of a host for what shall run on it: pure functions of what was seen.
#pragma once

#include "actors/host/doctor/finding.h"
#include "actors/host/doctor/host.h"
#include "actors/host/doctor/need.h"

namespace pinstrike::actors::doctor {

/// Everything, in the order in which it is shown: memory, devices, processors, interrupts, time,
/// network, limits.
[[nodiscard]] Findings judge(const Host& host, const Need& need);

// Its parts.
void judge_machine(const Host& host, const Need& need, Findings& findings);
void judge_memory(const Host& host, const Need& need, Findings& findings);
void judge_nics(const Host& host, const Need& need, Findings& findings);
void judge_places(const Host& host, const Need& need, Findings& findings);  ///< of threads
void judge_processors(const Host& host, const Need& need, Findings& findings);
void judge_interrupts(const Host& host, const Need& need, Findings& findings);
void judge_time(const Host& host, const Need& need, Findings& findings);
void judge_network(const Host& host, const Need& need, Findings& findings);
void judge_limits(const Host& host, const Need& need, Findings& findings);

}  // namespace pinstrike::actors::doctor
