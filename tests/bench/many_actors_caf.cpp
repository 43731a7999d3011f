#include "tests/bench/allocations.h"
#include "tests/bench/many_actors.h"

#include <caf/all.hpp>

#include <chrono>
#include <latch>
#include <optional>
#include <vector>

namespace pinstrike::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Ring = std::vector<caf::actor>;

double caf_seconds_since(Clock::time_point begun) {
    return std::chrono::duration<double>(Clock::now() - begun).count();
}

caf::behavior node(caf::event_based_actor* self, const Ring* ring, std::size_t next,
                   std::latch* done) {
    return {[=](std::uint64_t hops_left) {
        if (hops_left == 0) {
            done->count_down();
        } else {
            self->send((*ring)[next], hops_left - 1);
        }
    }};
}

}  // namespace

ManyOutcome caf_many(std::uint64_t hops) {
    ManyOutcome outcome;
    std::latch done{many};
    std::uint64_t before = allocations();
    std::uint64_t parks_before = 0;
    auto begun = Clock::now();
    {
        caf::actor_system_config config;
        config.set("scheduler.max-threads", std::size_t{2});
        caf::actor_system system{config};
        Ring ring(many);
        for (std::size_t i = 0; i < many; ++i) {
            ring[i] = system.spawn(node, &ring, (i + 1) % many, &done);
        }
        outcome.make_seconds = caf_seconds_since(begun);
        outcome.make_allocations = allocations() - before;
        before = allocations();
        parks_before = parks();
        begun = Clock::now();
        for (const caf::actor& actor : ring) {
            caf::anon_send(actor, hops);
        }
        done.wait();
        outcome.run_seconds = caf_seconds_since(begun);
        outcome.run_parks = parks() - parks_before;
        for (const caf::actor& actor : ring) {
            caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
        }
        system.await_all_actors_done();
    }
    outcome.run_allocations = allocations() - before;
    return outcome;
}

}  // namespace pinstrike::bench
