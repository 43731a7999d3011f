// path: cold
//
// Views of the admin socket (views.h) as tables for people, 100 columns at most; they end with a
// newline.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace pinstrike::actors::admin {

/// Of `reply`, the view `name` ("status", "lines", ...), which it holds.
[[nodiscard]] std::string view_text(const nlohmann::json& reply, const std::string& name);

/// One line of `lines` whole: every count of it that is not zero.
[[nodiscard]] std::string line_text(const nlohmann::json& line);

/// "9.31 us", three digits and at most seven characters; "-" where nothing was measured.
[[nodiscard]] std::string time_text(const nlohmann::json& times, const char* member);

/// The share of what passed that the thread was busy, 0 to 1.
[[nodiscard]] double busy_share(const nlohmann::json& thread);

}  // namespace pinstrike::actors::admin
