// path: cold
//
// Rights belong to threads, and some threads are made by libraries (DPDK's, the metrics server's).
// The kernel changes the caller's alone; so the others are interrupted one after the other, by a
// signal, and do it themselves.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// Calls `action` once on every other thread of this process, in a signal handler; threads that
/// they make meanwhile included. Threads that did not answer within a second are named: none is
/// the rule. One caller at a time.
[[nodiscard]] std::vector<std::string> on_every_other_thread(void (*action)());

/// What /proc says of a thread: names and their values ("CapPrm", "NoNewPrivs").
[[nodiscard]] std::string status_of_thread(int thread, const std::string& key);

/// Ids of this process's threads.
[[nodiscard]] std::vector<int> threads_of_process();

}  // namespace pinstrike::actors
