// path: cold
#pragma once

#include "actors/recorder/record_config.h"
#include "config/section.h"

namespace pinstrike::actors {

/// "none", or a section, whose presence turns the recorder on.
[[nodiscard]] Form<RecordConfig> record_form();

}  // namespace pinstrike::actors
