// path: cold
//
// The destination of generated frames: a capture, or an interface in real time.
#pragma once

#include "feed/opra/traffic/delivery.h"

#include <memory>
#include <string>

namespace pinstrike::command {

class GenerateOutput : public feed::opra::traffic::PacketSink {
  public:
    /// Writes or sends the remaining frames. On an error, prints it on standard error and returns
    /// false.
    [[nodiscard]] virtual bool finish() = 0;
};

struct OutputChoice {
    std::string capture;    ///< a file; empty: send on the interface
    std::string interface;  ///< a kernel interface
    bool fast = false;      ///< send without waiting for the times of the frames
};

/// Opens the output. On an error, prints it on standard error and returns null.
std::unique_ptr<GenerateOutput> open_output(const OutputChoice& choice);

}  // namespace pinstrike::command
