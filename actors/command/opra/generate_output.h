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

/// Opens a capture, or if its name is empty a kernel interface. On an error, prints it on standard
/// error and returns null.
std::unique_ptr<GenerateOutput> open_output(const std::string& capture,
                                            const std::string& interface);

}  // namespace pinstrike::command
