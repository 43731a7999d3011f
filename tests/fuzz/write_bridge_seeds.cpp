// path: cold
//
// Writes the seeds of fuzz_bridge into a folder: what each side of a bridge says.
//
//     write_bridge_seeds FOLDER
#include "tests/fuzz/bridge_pair.h"

#include <fstream>
#include <string>

namespace {

using namespace pinstrike::fuzz;

void write(const std::string& folder, const std::string& name, unsigned char side,
           const std::vector<std::byte>& bytes) {
    std::ofstream file{folder + "/" + name, std::ios::binary};
    file.put(static_cast<char>(side));
    file.put('\xFF');
    for (const std::byte byte : bytes) {
        file.put(static_cast<char>(byte));
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        return 2;
    }
    const pinstrike::actors::test::PublishFolder folder;
    SmallFeed feed;
    feed.trade(30);
    Pair pair;
    std::vector<std::byte> state;
    std::vector<std::byte> back;
    pair.joiner.connect("seeds", pair.now_ns);
    for (unsigned i = 0; i < 20; ++i) {
        pair.step(&state, &back);
    }
    write(arguments[1], "joins_state", 2, state);
    write(arguments[1], "serves_hello", 0, back);
    std::vector<std::byte> events;
    back.clear();
    for (unsigned i = 0; i < 300; ++i) {
        feed.trade(i % 100 == 0 ? 5 : 0);
        pair.step(&events, &back);
    }
    write(arguments[1], "joins_events", 3, events);
    write(arguments[1], "serves_credit", 1, back);
    pair.session.leave("the serving side ended");
    events.clear();
    pair.step(&events);
    write(arguments[1], "joins_bye", 3, events);
    return 0;
}
