// path: cold
#pragma once

#include "actors/threads/placement.h"
#include "config/form.h"

namespace pinstrike::actors {

/// A processor, or `any`: negative.
[[nodiscard]] Form<CpuIndex> cpu_form();

[[nodiscard]] Form<WaitStrategy> wait_form();

}  // namespace pinstrike::actors
