#include "tests/bench/workloads.h"

#include <caf/all.hpp>

#include <chrono>
#include <latch>
#include <memory>
#include <vector>

namespace pinstrike::bench {
namespace {

/// The data of an actor, which outlives the actor, so that its work can be checked.
template <class Work>
struct Place {
    Work work;
    std::uint32_t index = 0;
    std::uint64_t last = 0;
    std::uint64_t more_every = 0;  ///< 0: the actor never says "more"
    std::latch* done = nullptr;
    caf::actor sender;
};

template <class Work>
caf::behavior handler(caf::event_based_actor* self, Place<Work>* place) {
    return {[=](std::uint64_t number) {
        place->work.run(number);
        if (place->more_every != 0 && number % place->more_every == 0) {
            self->send(place->sender, place->index);
        }
        if (number == place->last) {
            place->done->count_down();
            self->quit();
        }
    }};
}

/// The sender. If there is a bound, it sends no more messages than the actors asked for.
void feed(caf::scoped_actor& self, const Cell& cell, const std::vector<caf::actor>& actors) {
    std::vector<std::size_t> credit(actors.size(), cell.bound);
    for (std::uint64_t number = 1; number <= cell.each; ++number) {
        for (std::size_t i = 0; i < actors.size(); ++i) {
            while (cell.bound != 0 && credit[i] == 0) {
                self->receive([&](std::uint32_t index) { credit[index] += cell.bound / 2; });
            }
            --credit[i];
            self->send(actors[i], number);
        }
    }
}

template <class Work, caf::spawn_options how>
Outcome with_caf(const Cell& cell) {
    caf::actor_system_config config;
    config.set("scheduler.max-threads", std::size_t{2});
    caf::actor_system system{config};
    caf::scoped_actor self{system};
    std::latch done{static_cast<std::ptrdiff_t>(cell.actors)};
    std::vector<std::unique_ptr<Place<Work>>> places;
    std::vector<caf::actor> actors;
    for (std::size_t i = 0; i < cell.actors; ++i) {
        auto& place = *places.emplace_back(std::make_unique<Place<Work>>());
        place.index = static_cast<std::uint32_t>(i);
        place.last = cell.each;
        place.more_every = cell.bound / 2;
        place.done = &done;
        place.sender = caf::actor_cast<caf::actor>(self);
        actors.push_back(system.spawn<how>(handler<Work>, &place));
    }
    const auto begun = std::chrono::steady_clock::now();
    feed(self, cell, actors);
    done.wait();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    // Waits here, because more than 64 actors that end after the system's clock never end (CAF
    // 0.17.6).
    self->wait_for(actors);
    for (const auto& place : places) {
        must_be_whole(place->work, cell);
        place->sender = nullptr;
    }
    return {seconds, 0};
}

}  // namespace

template <class Work>
Outcome caf_actors(const Cell& cell) {
    return with_caf<Work, caf::no_spawn_options>(cell);
}

template <class Work>
Outcome caf_detached(const Cell& cell) {
    return with_caf<Work, caf::detached>(cell);
}

template Outcome caf_actors<Sum100>(const Cell&);
template Outcome caf_actors<Sum1000>(const Cell&);
template Outcome caf_actors<Sha512>(const Cell&);
template Outcome caf_detached<Sum100>(const Cell&);
template Outcome caf_detached<Sum1000>(const Cell&);
template Outcome caf_detached<Sha512>(const Cell&);

}  // namespace pinstrike::bench
