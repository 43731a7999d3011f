// path: cold
#pragma once

#include <stdexcept>

namespace pinstrike::reader {

/// A feed cannot be read, and why. Thrown inside the library only: functions of pinstrike.h return
/// an error.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

}  // namespace pinstrike::reader
