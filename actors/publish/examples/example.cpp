// Prints the chain of a root once, then its quotes until the feed ends: example FEED ROOT
#include <pinstrike.hpp>

#include <cstdio>

int main(int argc, char** argv) {
    try {
        pinstrike::client::feed feed{argc > 1 ? argv[1] : "demo"};
        pinstrike::client::filter filter;
        filter.roots = {argc > 2 ? argv[2] : "SPY"};
        for (const pinstrike_value& value : feed.chain(filter)) {
            std::printf("%s %u %c %.3f  %.2f - %.2f\n", value.key.root, value.key.expiration,
                        value.key.right, pinstrike::client::to_double(value.key.strike_e8, 8),
                        pinstrike::client::price_of(value.bid).value_or(0),
                        pinstrike::client::price_of(value.offer).value_or(0));
        }
        pinstrike::client::stream stream = feed.subscribe(filter);
        for (const auto batch : stream.each_batch()) {
            for (const pinstrike_record& record : batch) {
                if (record.kind == PINSTRIKE_QUOTE) {
                    std::printf("%s bid %d\n", record.key.root, record.bid.price);
                }
            }
        }
    } catch (const pinstrike::client::error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
