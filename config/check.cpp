// path: cold
#include "config/check.h"

#include <cstdio>
#include <cstdlib>

namespace pinstrike {

void check_failed(const char* condition, const char* file, int line) noexcept {
    std::fprintf(stderr, "pinstrike: CHECK failed: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace pinstrike
