// path: cold
#pragma once

#include "actors/core/actor_kind.h"

namespace pinstrike::actors {

/// The entry of the list of actor kinds.
[[nodiscard]] const ActorKind& book_kind();

}  // namespace pinstrike::actors
