// path: cold
//
// Judges a host for the configs that will run on it. Pure functions of the host's data.
#pragma once

#include "actors/host/doctor/finding.h"
#include "actors/host/doctor/host.h"
#include "actors/host/doctor/need.h"

namespace pinstrike::actors::doctor {

/// All checks, in the order of the output: machine, memory, devices, threads, processors, time,
/// network, limits.
[[nodiscard]] Findings judge(const Host& host, const Need& need);

// The parts of judge() in files of their own.
void judge_memory(const Host& host, const Need& need, Findings& findings);
void judge_published(const Host& host, const Need& need, Findings& findings);
void judge_recording(const Host& host, const Need& need, Findings& findings);
void judge_nics(const Host& host, const Need& need, Findings& findings);
void judge_threads(const Host& host, const Need& need, Findings& findings);
void judge_processors(const Host& host, const Need& need, Findings& findings);
void judge_network(const Host& host, const Need& need, Findings& findings);

}  // namespace pinstrike::actors::doctor
