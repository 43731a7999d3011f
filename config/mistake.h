// path: hot
//
// Bugs that a test can enable to verify that the simulation finds them (tests/sim). They exist only
// if PINSTRIKE_HOOKS is defined; in production planted() is the constant false.
#pragma once

#include "config/rows.h"

namespace pinstrike {

// clang-format off
#define PINSTRIKE_MISTAKES(ROW) \
    ROW(arbiter, mistake, "late messages are not marked late") \
    ROW(recovery, mistake, "a single missing number is not requested") \
    ROW(ring, mistake, "messages refused by a full ring are not reported") \
    ROW(book, mistake, "messages refused by a full ring mark nothing stale") \
    ROW(account, mistake, "packets missed by a device are not reported")
// clang-format on

PINSTRIKE_ROWS(Mistake, PINSTRIKE_MISTAKES)

#ifdef PINSTRIKE_HOOKS

/// The bug enabled in this run; Mistake_count: none. Set only before the run.
inline Mistake injected_mistake = static_cast<Mistake>(Mistake_count);

[[nodiscard]] inline bool planted(Mistake mistake) {
    return injected_mistake == mistake;
}

#else

[[nodiscard]] constexpr bool planted(Mistake /*mistake*/) {
    return false;
}

#endif

}  // namespace pinstrike
