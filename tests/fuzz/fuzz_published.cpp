// path: cold
//
// Tests readers of published memory. The input is a list of changes, each of three bytes: which
// byte changes (two), and its bits. Then a reader attaches, reads all series, and polls a stream.
#include "tests/actors/publish/reader/damaged_memory.h"
#include "tests/fuzz/fuzz.h"

int fuzz_one(std::span<const std::byte> bytes) {
    static pinstrike::actors::test::DamagedMemory memory;
    for (std::size_t at = 0; at + 2 < bytes.size(); at += 3) {
        const auto target = static_cast<unsigned>(bytes[at]) | static_cast<unsigned>(bytes[at + 1])
                                                                   << 8;
        memory.damage(static_cast<std::uint16_t>(target), static_cast<std::uint8_t>(bytes[at + 2]));
    }
    memory.read();
    memory.restore();
    return 0;
}
