// path: cold
//
// Tests both sides of a bridge. The first byte selects the side that gets the input: 0 is a serving
// side before the first frame, 1 one that follows a feed, 2 a joining side before the first frame,
// 3 one that publishes a copy. The second byte determines the size of the pieces into which the
// rest is cut.
#include "actors/publish/pinstrike.hpp"
#include "config/check.h"
#include "tests/fuzz/bridge_pair.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace pinstrike;
using namespace pinstrike::fuzz;

/// Gives one side the input. `take(bytes)`: the side received them.
template <class Side, class Take>
void feed_bytes(Side& side, std::span<const std::byte> input, std::size_t piece, Take&& take) {
    while (!input.empty() && side.end() == Side::End::none) {
        const auto space = side.space();
        PINSTRIKE_CHECK(!space.empty());
        const std::size_t bytes = std::min({input.size(), piece, space.size()});
        std::memcpy(space.data(), input.data(), bytes);
        input = input.subspan(bytes);
        take(bytes);
    }
}

/// What is published can be read by any reader.
void check_copy() {
    try {
        client::feed copy{"copy"};
        client::filter all;
        all.announced = true;
        for (const pinstrike_value& value : copy.chain(all)) {
            PINSTRIKE_CHECK(value.key.right == 'C' || value.key.right == 'P');
        }
    } catch (const client::error&) {
        // nothing is published
    }
}

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    static const actors::test::PublishFolder folder{"/dev/shm"};
    static SmallFeed feed;
    if (bytes.size() < 2) {
        return 0;
    }
    const auto side = std::to_integer<unsigned>(bytes[0]) % 4;
    const std::size_t piece = 1 + std::to_integer<std::size_t>(bytes[1]) * 67;
    feed.trade(20);
    Pair pair;
    if (side != 0) {
        pair.joiner.connect("fuzz", pair.now_ns);
    }
    if (side == 1 || side == 3) {
        for (unsigned i = 0; i < 100 && !pair.joiner.is_live(); ++i) {
            pair.step();
        }
        PINSTRIKE_CHECK(pair.joiner.is_live());
    }
    const auto input = bytes.subspan(2);
    if (side < 2) {
        feed_bytes(pair.session, input, piece, [&](std::size_t count) {
            pair.session.receive(count, pair.now_ns);
            pair.session.produce(pair.now_ns += ms_ns);
            PINSTRIKE_CHECK(pair.session.output().size() <= buffer_bytes);
            pair.session.sent(pair.session.output().size());
        });
    } else {
        feed_bytes(pair.joiner, input, piece, [&](std::size_t count) {
            pair.joiner.receive(count, pair.now_ns);
            pair.joiner.step(pair.now_ns += 100 * ms_ns);
            PINSTRIKE_CHECK(pair.joiner.output().size() <= buffer_bytes);
            pair.joiner.sent(pair.joiner.output().size());
        });
        check_copy();
    }
    PINSTRIKE_CHECK(pair.joiner.carried().balances());
    pair.joiner.lose("the input is over");
    pair.joiner.disconnect();
    return 0;
}
