// path: cold
//
// The client of the admin socket: sends a line of JSON and receives lines of JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <optional>
#include <string>

namespace pinstrike::actors::admin {

/// Sends the request to the instance at `path` and calls `on_line(line)` for each line of the
/// answer, until there are no more or `take` returns false. False, with the reason: no instance
/// listens there, this user lacks the permission, or the instance sent nothing for 10 s (`patient`:
/// no such limit).
bool ask(const std::string& path, const std::string& request,
         const std::function<bool(const std::string& line)>& on_line, bool patient,
         std::string& complaint);

/// The answer to a request that is answered by one object, which may be {"error": ...}. `instance`
/// as for socket_path(). nullopt, with the reason in `complaint`: as for ask(), or the instance
/// ended, or it is no pinstrike.
[[nodiscard]] std::optional<nlohmann::json> ask_once(const std::string& instance,
                                                     const nlohmann::json& request,
                                                     std::string& complaint);

}  // namespace pinstrike::actors::admin
