// path: cold
//
// Runs the tests of the codec; with --narrow, they run as on a processor without AVX-512 VBMI.
#include "feed/opra/straight.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    if (argc > 1 && std::string_view{argv[1]} == "--narrow") {
        pinstrike::feed::opra::wide_quotes = false;
    } else if (!pinstrike::feed::opra::wide_quotes) {
        std::puts("No AVX-512 VBMI here: quotes go the narrow way, as with --narrow.");
    }
    return RUN_ALL_TESTS();
}
