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

/// "9.31 us", three digits and at most seven characters; "-" if there are no samples.
[[nodiscard]] std::string time_text(const nlohmann::json& times, const char* member);

/// The busy share of the thread's time, 0 to 1.
[[nodiscard]] double busy_share(const nlohmann::json& thread);

}  // namespace pinstrike::actors::admin
