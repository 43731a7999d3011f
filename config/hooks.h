// path: hot
//
// Points where a test can pause a thread to step through interleavings (tests/actors/weave.h), and
// a check that only one thread uses each half of a ring. Both exist only if PINSTRIKE_HOOKS is
// defined; in production the macro expands to nothing and the class is empty.
#pragma once

#ifdef PINSTRIKE_HOOKS

#include "config/check.h"

#include <thread>

namespace pinstrike {

/// If set, called at every RING_HOOK of this thread with the point's name.
inline thread_local void (*weave_point)(const char* where) = nullptr;

/// Remembers the first thread that calls check(); a call by another thread aborts the program.
class ThreadOwner {
  public:
    void check() {
        const auto here = std::this_thread::get_id();
        if (owner_ == std::thread::id{}) {
            owner_ = here;
        }
        PINSTRIKE_CHECK(owner_ == here);
    }

    /// Makes the next caller of check() the owner, for a half of a ring that another thread takes
    /// over after the owner was joined.
    void forget() { owner_ = {}; }

  private:
    std::thread::id owner_;
};

}  // namespace pinstrike

#define RING_HOOK(where)                     \
    do {                                     \
        if (::pinstrike::weave_point) {      \
            ::pinstrike::weave_point(where); \
        }                                    \
    } while (false)

#else

namespace pinstrike {

class ThreadOwner {
  public:
    void check() {}

    void forget() {}
};

}  // namespace pinstrike

#define RING_HOOK(where) static_cast<void>(0)

#endif
