// path: cold
//
// Runs a function on every thread of the process. Capabilities belong to threads, the kernel
// changes only those of the calling thread, and some threads are made by libraries (DPDK, the
// metrics server). A signal interrupts the other threads one after the other, and its handler runs
// the function.
#pragma once

#include <string>
#include <vector>

namespace pinstrike::actors {

/// Calls `action` once on every other thread of this process, in a signal handler, also on threads
/// that start meanwhile. Returns the names of the threads that did not answer within a second;
/// normally there are none. Only one thread may call it at a time.
[[nodiscard]] std::vector<std::string> on_every_other_thread(void (*action)());

/// The value of a field of /proc/self/task/<thread>/status, such as "CapPrm" or "NoNewPrivs";
/// empty: there is no such thread or field.
[[nodiscard]] std::string status_of_thread(int thread, const std::string& key);

/// The ids of this process's threads.
[[nodiscard]] std::vector<int> threads_of_process();

}  // namespace pinstrike::actors
