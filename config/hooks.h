// path: hot
//
// Points where a test may hold a thread, to walk interleavings one by one (tests/actors/weave.h),
// and a check that a half of a ring stays with one thread. Both exist only where PINSTRIKE_HOOKS
// is defined; in production the macro is nothing and the class empty.
#pragma once

#ifdef PINSTRIKE_HOOKS

#include "config/check.h"

#include <thread>

namespace pinstrike::actors {

/// Called at every weave point of this thread, with the point's name.
inline thread_local void (*weave_point)(const char* where) = nullptr;

/// Remembers the first thread that calls check(); another one ends the program.
class ThreadOwner {
  public:
    void check() {
        const auto here = std::this_thread::get_id();
        if (owner_ == std::thread::id{}) {
            owner_ = here;
        }
        PINSTRIKE_CHECK(owner_ == here);
    }

    /// The next caller becomes the owner: for a half that is handed on after a join.
    void forget() { owner_ = {}; }

  private:
    std::thread::id owner_;
};

}  // namespace pinstrike::actors

#define RING_HOOK(where)                             \
    do {                                             \
        if (::pinstrike::actors::weave_point) {      \
            ::pinstrike::actors::weave_point(where); \
        }                                            \
    } while (false)

#else

namespace pinstrike::actors {

class ThreadOwner {
  public:
    void check() {}

    void forget() {}
};

}  // namespace pinstrike::actors

#define RING_HOOK(where) static_cast<void>(0)

#endif
