// path: cold
#pragma once

#include "config/section.h"
#include "feed/recovery/recovery_config.h"

namespace pinstrike::feed {

Section<RecoveryConfig> recovery_section();

/// The word of the kind in the config.
[[nodiscard]] const char* word_of(RepairKind kind);

}  // namespace pinstrike::feed
