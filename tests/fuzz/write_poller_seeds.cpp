// path: cold
//
// Writes seeds for fuzz_poller:
//
//   write_poller_seeds tests/fuzz/corpus/poller
#include "tests/feed/opra/samples.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace pinstrike::feed::opra;
using Bytes = std::vector<std::byte>;

/// On which group a datagram arrives, as fuzz_poller reads it, always of line 1.
enum : unsigned { stream_a = 0, stream_b = 2, retransmission = 4, foreign = 8 };

struct Script {
    Bytes bytes;

    Script& add(unsigned where, unsigned wait, const Bytes& payload) {
        for (const std::size_t value :
             {std::size_t{where}, std::size_t{wait}, payload.size() >> 8, payload.size() & 255}) {
            bytes.push_back(static_cast<std::byte>(value));
        }
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        return *this;
    }
};

Bytes quotes(std::uint32_t sequence, unsigned count, char retransmitted = ' ') {
    return samples::block(samples::short_quotes(count), {.retransmission = retransmitted,
                                                         .session = 0,
                                                         .sequence = sequence,
                                                         .seconds = 1'700'000'000 + sequence,
                                                         .nanoseconds = 0});
}

Bytes control_block(char type, std::uint32_t sequence) {
    return samples::block({samples::control(type)}, {.retransmission = ' ',
                                                     .session = 0,
                                                     .sequence = sequence,
                                                     .seconds = 1'700'000'000 + sequence,
                                                     .nanoseconds = 0});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: write_poller_seeds FOLDER\n");
        return 2;
    }
    const auto write = [&](const char* name, const Script& script) {
        std::ofstream out{std::filesystem::path{argv[1]} / name, std::ios::binary};
        for (const std::byte byte : script.bytes) {
            out.put(static_cast<char>(byte));
        }
        return out.good();
    };
    Script both;
    both.add(stream_a, 0, quotes(1, 3)).add(stream_b, 1, quotes(1, 3)).add(foreign, 1, {});
    both.add(stream_b, 1, quotes(4, 2)).add(stream_a, 1, quotes(4, 2));
    Script gap;
    gap.add(stream_a, 0, quotes(1, 2)).add(stream_a, 1, quotes(5, 2)).add(stream_b, 200, {});
    gap.add(stream_a, 1, quotes(7, 1)).add(stream_b, 1, quotes(3, 2));
    Script repaired;
    repaired.add(stream_a, 0, quotes(1, 2)).add(stream_b, 1, quotes(6, 2));
    repaired.add(retransmission, 1, quotes(3, 2, 'V')).add(stream_a, 200, quotes(8, 1));
    repaired.add(retransmission, 1, quotes(5, 1, 'V'));
    Script resets;
    resets.add(stream_a, 0, quotes(100, 2)).add(stream_a, 1, control_block('K', 0));
    resets.add(stream_b, 1, control_block('K', 0)).add(stream_b, 1, quotes(1, 2));
    resets.add(stream_a, 1, control_block('C', 3)).add(stream_a, 200, quotes(4, 2));
    return write("both", both) && write("gap", gap) && write("repaired", repaired) &&
                   write("resets", resets)
               ? 0
               : 1;
}
