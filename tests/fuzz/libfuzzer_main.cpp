// path: cold
#include "tests/fuzz/fuzz.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(std::as_bytes(std::span{data, size}));
}
