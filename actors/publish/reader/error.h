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

/// The writer ended, or was preempted for long, in the middle of a write that guards what was to be
/// read.
class WriteUnfinished : public Error {
  public:
    using Error::Error;
};

/// There is published memory under the name, but this library cannot read it.
class UnreadableMemory : public Error {
  public:
    using Error::Error;
};

}  // namespace pinstrike::reader
