// path: cold
//
// Runs the tests of the codec; with --avx2, they run as on a processor without AVX-512 VBMI.
#include "feed/opra/fast_path.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    if (argc > 1 && std::string_view{argv[1]} == "--avx2") {
        pinstrike::feed::opra::use_avx512 = false;
    } else if (!pinstrike::feed::opra::use_avx512) {
        std::puts("No AVX-512 VBMI here: quotes take the AVX2 path, as with --avx2.");
    }
    return RUN_ALL_TESTS();
}
