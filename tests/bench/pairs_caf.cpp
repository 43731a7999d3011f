#include "tests/bench/pairs.h"

#include <caf/all.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <vector>

namespace pinstrike::bench {
namespace {

struct Count {
    std::uint64_t value = 0;
};

/// A "more" is a bool, whose value means nothing.
caf::behavior pinger(caf::stateful_actor<Count>* self, std::uint64_t each) {
    return {[=](bool /*more*/) {
        const auto to = caf::actor_cast<caf::actor>(self->current_sender());
        for (std::uint64_t i = 0; i < row_pings && self->state.value < each; ++i) {
            self->send(to, self->state.value++);
        }
    }};
}

caf::behavior ponger(caf::stateful_actor<Count>* self, caf::actor pings, std::uint64_t each,
                     std::latch* done) {
    for (int i = 0; i < rows_asked_ahead; ++i) {
        self->send(pings, true);
    }
    return {[=](std::uint64_t ping) {
        if (ping != self->state.value++) {
            std::fprintf(stderr, "CAF: out of order\n");
            std::exit(1);
        }
        if (self->state.value == each) {
            done->count_down();
            self->send_exit(pings, caf::exit_reason::user_shutdown);
            self->quit();
        } else if (self->state.value % row_pings == 0) {
            self->send(pings, true);
        }
    }};
}

template <caf::spawn_options how>
double with_caf(std::uint64_t each) {
    caf::actor_system_config config;
    config.set("scheduler.max-threads", std::size_t{2});
    caf::actor_system system{config};
    std::latch done{pairs_count};
    const auto begun = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < pairs_count; ++i) {
        auto pings = system.spawn<how>(pinger, each);
        system.spawn<how>(ponger, pings, each, &done);
    }
    done.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

double caf_pairs(std::uint64_t each) {
    return with_caf<caf::no_spawn_options>(each);
}

double caf_detached_pairs(std::uint64_t each) {
    return with_caf<caf::detached>(each);
}

}  // namespace pinstrike::bench
