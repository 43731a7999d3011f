// path: cold
//
// What a hot thread may ask of the kernel, once it is ready: a seccomp filter of its own, by a list
// of what such a thread really calls. A call that is not on the list is not made: it fails with
// EPERM, is counted, and its number kept, so that the log can say which call of which thread it
// was. (Why it does not end the process: actors/host/confine/README.md, "A refused system call is
// reported".) Calls in another instruction set's numbering, which no innocent code makes, end it.
//
// A list says nothing of files or addresses; it is about what kinds of call there are left.
#pragma once

#include "config/counter.h"
#include "nic/port_needs.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {

class CallFilter {
  public:
    /// Names that the kernel or libseccomp do not know are our own mistake.
    explicit CallFilter(std::vector<nic::SystemCall> allowed);

    CallFilter(const CallFilter&) = delete;
    CallFilter& operator=(const CallFilter&) = delete;

    /// From now on, for the calling thread and for good. The object outlives the thread. Returns 0,
    /// or the errno with which the kernel refused.
    [[nodiscard]] int install();

    /// Calls that were not made. Any thread may read.
    [[nodiscard]] std::uint64_t refused() const { return refused_.read(); }

    /// "openat": the latest of them; empty: none.
    [[nodiscard]] std::string last_refused() const;

    /// Sanitizers make system calls of their own on every thread.
#ifdef PINSTRIKE_SANITIZED
    static constexpr bool in_this_build = false;
#else
    static constexpr bool in_this_build = true;
#endif

    /// Why this kernel has no filters; empty: it has.
    [[nodiscard]] static std::string obstacle();

    /// From the handler of the signal, on the thread of the filter.
    void note(int call) noexcept {
        refused_.add();
        last_.set(static_cast<std::uint64_t>(call) + 1);
    }

  private:
    std::vector<nic::SystemCall> allowed_;
    Counter refused_;
    Counter last_;  ///< number of the call, plus one; 0: none
};

}  // namespace pinstrike::actors
