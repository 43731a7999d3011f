// path: cold
//
// The seccomp filter of a hot thread. Once the thread is ready, it may only make the system calls
// on a list. A call that is not on the list fails with EPERM. The filter counts it and keeps its
// number, so that the log can name the call and the thread. (actors/host/confine/README.md, "A
// refused system call is reported", says why such a call does not end the process.) A call in the
// numbering of another instruction set, which no regular code makes, ends the process.
//
// A list restricts kinds of system calls. It does not restrict files or addresses.
#pragma once

#include "config/counter.h"
#include "nic/port_needs.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors {

class CallFilter {
  public:
    /// A name that libseccomp does not know is an error in this program and fails a check.
    explicit CallFilter(std::vector<nic::SystemCall> allowed);

    CallFilter(const CallFilter&) = delete;
    CallFilter& operator=(const CallFilter&) = delete;

    /// Applies the filter to the calling thread, for the rest of its life. The object must outlive
    /// the thread. Returns 0, or the errno with which the kernel refused the filter.
    [[nodiscard]] int install();

    /// The number of refused calls. Any thread may read it.
    [[nodiscard]] std::uint64_t refused() const { return refused_.read(); }

    /// The name of the last refused call, such as "openat"; empty: none was refused.
    [[nodiscard]] std::string last_refused() const;

    /// Sanitizers make system calls of their own on every thread, so their builds have no filters.
#ifdef PINSTRIKE_SANITIZED
    static constexpr bool in_this_build = false;
#else
    static constexpr bool in_this_build = true;
#endif

    /// The reason why this kernel supports no filters; empty: it supports them.
    [[nodiscard]] static std::string obstacle();

    /// Notes a refused call. Called by the signal handler, on the thread that has the filter.
    void note(int call) noexcept {
        refused_.add();
        last_.set(static_cast<std::uint64_t>(call) + 1);
    }

  private:
    std::vector<nic::SystemCall> allowed_;
    Counter refused_;
    Counter last_;  ///< number of the last refused call, plus one; 0: none
};

}  // namespace pinstrike::actors
