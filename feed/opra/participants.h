// path: cold
#pragma once

#include <string_view>

namespace pinstrike::feed::opra {

/// The participant ids of the exchanges (OPRA Participant ID), OPRA's own not among them. They
/// are an open set: nothing that arrives may be judged by this.
inline constexpr std::string_view exchange_ids = "ABCDEGHIJMNPQSTUVWXZ";

}  // namespace pinstrike::feed::opra
