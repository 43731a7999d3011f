// path: hot
//
// PINSTRIKE_CHECK stops the program when it detects a bug of its own, in every build. It is never
// used for bad input: bad bytes from outside are dropped and counted, and a bad config results in
// Problems.
#pragma once

namespace pinstrike {

/// Prints the condition and its place, then aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace pinstrike

#define PINSTRIKE_CHECK(condition)                     \
    (__builtin_expect(static_cast<bool>(condition), 1) \
         ? static_cast<void>(0)                        \
         : ::pinstrike::check_failed(#condition, __FILE__, __LINE__))
