// path: cold
//
// Compiled once for each PINSTRIKE_LAST_STAGE (actors/command/meson.build).
#include "actors/command/opra/cut_poller.h"

#include "actors/bench/stages/cut_codec.h"
#include "actors/poller/poller.h"
#include "feed/opra/opra.h"

#include <cstddef>
#include <memory>
#include <utility>

namespace pinstrike::command {

template <actors::Stage last>
std::unique_ptr<actors::PollerTask> make_cut_poller(actors::PollerSetup setup,
                                                    actors::Router router,
                                                    std::size_t cores_count) {
    using Codec = actors::CutCodec<feed::opra::Opra, last>;
    Codec::set_cores(cores_count);
    return std::make_unique<actors::Poller<Codec>>(std::move(setup), std::move(router));
}

template std::unique_ptr<actors::PollerTask> make_cut_poller<actors::Stage::PINSTRIKE_LAST_STAGE>(
    actors::PollerSetup setup, actors::Router router, std::size_t cores_count);

}  // namespace pinstrike::command
