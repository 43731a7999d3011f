// path: cold
#include "actors/bridge/bridge_actor.h"

#include "actors/runtime/executor_thread.h"

#include <stdexcept>
#include <string>

namespace pinstrike::actors::bridge {
namespace {

constexpr std::int64_t step_every_ns = 100'000;

}  // namespace

void BridgeActor::on_start() {
    step_.every(step_every_ns);
}

void BridgeActor::on_stop() {
    client_.leave();
    while (!client_.is_over()) {
        if (client_.step(runtime::steady_ns()) == 0) {
            client_.wait(step_every_ns);
        }
    }
}

void BridgeActor::on(Step& /*step*/) {
    constexpr unsigned steps_max = 16;  // then the other actors of the executor have their turn
    for (unsigned i = 0; i < steps_max && client_.step(runtime::steady_ns()) != 0; ++i) {
    }
    std::string why;
    if (client_.take_end(why)) {
        throw std::runtime_error("the bridge is down: " + why);
    }
}

}  // namespace pinstrike::actors::bridge
