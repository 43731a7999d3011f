// path: cold
//
// CAF's part of bench_runtime: an actor that only waits for the last message.
#include "tests/bench/runtime_caf.h"

#include <caf/all.hpp>

#include <chrono>
#include <latch>

namespace pinstrike::bench {

double caf_empty_handler(std::uint64_t count) {
    caf::actor_system_config config;
    config.set("scheduler.max-threads", std::size_t{1});
    caf::actor_system system{config};
    caf::scoped_actor self{system};
    std::latch done{1};
    auto receiver = system.spawn<caf::detached>([&](caf::event_based_actor* actor) {
        return caf::behavior{[&done, actor, count](std::uint64_t number) {
            if (number == count) {
                done.count_down();
                actor->quit();
            }
        }};
    });
    const auto begun = std::chrono::steady_clock::now();
    for (std::uint64_t i = 1; i <= count; ++i) {
        self->send(receiver, i);
    }
    done.wait();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return static_cast<double>(count) / seconds / 1e6;
}

}  // namespace pinstrike::bench
