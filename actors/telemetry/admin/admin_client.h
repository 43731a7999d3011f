// path: cold
//
// The client of the admin socket: sends a line of JSON and receives lines of JSON.
#pragma once

#include <functional>
#include <string>

namespace pinstrike::actors::admin {

/// Sends the request to the instance at `path` and calls `take(line)` for each line of the answer,
/// until there are no more or `take` returns false. False, with the reason: no instance listens
/// there, this user lacks the permission, or the instance sent nothing for 10 s (`patient`: no such
/// limit).
bool ask(const std::string& path, const std::string& request,
         const std::function<bool(const std::string& line)>& take, bool patient,
         std::string& complaint);

}  // namespace pinstrike::actors::admin
