// path: cold
#pragma once

#include "actors/bench/stages/stage.h"
#include "actors/poller/poller_task.h"
#include "actors/poller/router.h"

#include <array>
#include <cstddef>
#include <memory>

namespace pinstrike::actors {

/// Makes a poller whose path ends after one stage (cut_codec.h), for `cores_count` cores.
using MakeCutPoller = std::unique_ptr<PollerTask> (*)(PollerSetup setup, Router router,
                                                      std::size_t cores_count);

/// By stage, from find_line to route; null for the others.
using CutPollers = std::array<MakeCutPoller, stages_count>;

}  // namespace pinstrike::actors
