// path: cold
//
// Writes seeds for fuzz_opra_block:
//
//   write_opra_seeds tests/fuzz/corpus/opra_block
#include "tests/feed/opra/samples.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

int main(int argc, char** argv) {
    using namespace pinstrike::feed::opra;
    if (argc != 2) {
        std::fprintf(stderr, "usage: write_opra_seeds FOLDER\n");
        return 2;
    }
    const auto write = [&](const std::string& name, const std::vector<std::byte>& bytes) {
        std::ofstream out{std::filesystem::path{argv[1]} / name, std::ios::binary};
        for (const std::byte byte : bytes) {
            out.put(static_cast<char>(byte));
        }
        return out.good();
    };
    bool good = true;
    const auto messages = samples::one_of_each();
    for (std::size_t i = 0; i < messages.size(); ++i) {
        good &=
            write(std::to_string(i) + "_" + messages[i].category(), samples::block({messages[i]}));
    }
    good &= write("mixed", samples::block(messages));
    good &= write("quotes", samples::block(samples::short_quotes(33)));
    return good ? 0 : 1;
}
