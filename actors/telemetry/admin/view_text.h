// path: cold
//
// Views of the admin socket (views.h) as tables for people, at most 100 columns wide. Each ends
// with a newline.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace pinstrike::actors::admin {

/// The view `name` ("status", "lines", ...) that `reply` contains.
[[nodiscard]] std::string view_text(const nlohmann::json& reply, const std::string& name);

/// One line of the view `lines` in full: every count that is not zero.
[[nodiscard]] std::string line_text(const nlohmann::json& line);

}  // namespace pinstrike::actors::admin
