// path: cold
//
// As follow.c, by the C++ wrapper.
//
//     follow_cpp FEED
#include "pinstrike.hpp"
#include "print_feed.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
namespace client = pinstrike::client;

struct Followed {
    client::feed feed;
    client::stream stream;
};

/// A feed cannot be followed before it is live, or if its writer died in the middle of a write.
Followed attach(const std::string& name) {
    constexpr int tries_max = 12'000;
    for (int tries = 0;; ++tries) {
        try {
            client::feed feed{name};
            client::stream stream = feed.subscribe();
            return {std::move(feed), std::move(stream)};
        } catch (const client::error&) {
            if (tries == tries_max) {
                throw;
            }
            std::this_thread::sleep_for(5ms);
        }
    }
}

void print_values(const char* word, const std::vector<pinstrike_value>& values) {
    for (const pinstrike_value& value : values) {
        print_value(word, &value);
    }
}

/// True if the latest start has ended: behind its last event nothing more comes.
bool has_ended(client::feed& feed) {
    return !feed.reattach() && feed.condition() == PINSTRIKE_FEED_ENDED;
}

void follow(const std::string& name) {
    auto [feed, stream] = attach(name);
    print_values("state", stream.snapshot());
    for (bool ended = false, over = false; !ended || !over;) {
        ended = has_ended(feed);
        const client::stream::waited result = stream.wait(100ms);
        over = result == client::stream::waited::over;
        if (result == client::stream::waited::events) {
            for (const pinstrike_record& record : stream.poll(300)) {
                print_record(&record);
                if (record.kind >= PINSTRIKE_STATE) {
                    print_values("state", stream.snapshot());
                }
            }
        } else if (over) {
            std::this_thread::sleep_for(5ms);
        }
    }
    print_values("chain", feed.chain());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    try {
        follow(argv[1]);
    } catch (const client::error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
