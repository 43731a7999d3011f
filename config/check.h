// path: hot
//
// CHECK stops the program on our own mistakes, and stays on in every build. It is never for bad
// input: bytes from outside are counted and dropped, and a bad config is a list of Problems.
#pragma once

namespace pinstrike {

/// Prints what was expected and where, then aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace pinstrike

#define PINSTRIKE_CHECK(condition)                     \
    (__builtin_expect(static_cast<bool>(condition), 1) \
         ? static_cast<void>(0)                        \
         : ::pinstrike::check_failed(#condition, __FILE__, __LINE__))
