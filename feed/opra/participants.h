// path: cold
#pragma once

#include <string_view>

namespace pinstrike::feed::opra {

/// The participant ids of the exchanges (OPRA Participant ID), without OPRA's own. OPRA may add
/// ids, so messages must not be validated against this list.
inline constexpr std::string_view exchange_ids = "ABCDEGHIJMNPQSTUVWXZ";

}  // namespace pinstrike::feed::opra
