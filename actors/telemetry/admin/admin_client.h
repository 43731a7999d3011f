// path: cold
//
// Who asks an instance: a line of JSON there, lines of JSON back.
#pragma once

#include <functional>
#include <string>

namespace pinstrike::actors::admin {

/// Asks the instance at `path` and calls `take(line)` for each line that comes, until there are no
/// more or it answers false. False, and why: nobody listens there, this user may not, or the
/// instance fell silent for 10 s (`patient`: it may be silent for as long as it likes).
bool ask(const std::string& path, const std::string& request,
         const std::function<bool(const std::string& line)>& take, bool patient,
         std::string& complaint);

}  // namespace pinstrike::actors::admin
