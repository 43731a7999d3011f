// path: cold
//
// Judges a host for the configs that will run on it. Pure functions of the host's data.
#pragma once

#include "actors/host/doctor/finding.h"
#include "actors/host/doctor/host.h"
#include "actors/host/doctor/need.h"

namespace pinstrike::actors::doctor {

/// All checks, in the order of the output: memory, devices, processors, interrupts, time, network,
/// limits.
[[nodiscard]] Findings judge(const Host& host, const Need& need);

// The parts of judge().
void judge_machine(const Host& host, const Need& need, Findings& findings);
void judge_memory(const Host& host, const Need& need, Findings& findings);
void judge_nics(const Host& host, const Need& need, Findings& findings);
void judge_places(const Host& host, const Need& need, Findings& findings);  ///< CPUs of the threads
void judge_processors(const Host& host, const Need& need, Findings& findings);
void judge_interrupts(const Host& host, const Need& need, Findings& findings);
void judge_time(const Host& host, const Need& need, Findings& findings);
void judge_network(const Host& host, const Need& need, Findings& findings);
void judge_limits(const Host& host, const Need& need, Findings& findings);

}  // namespace pinstrike::actors::doctor
