// path: cold
//
// Where generated frames go: a capture, or an interface in real time.
#pragma once

#include "feed/opra/traffic/delivery.h"

#include <memory>
#include <string>

namespace pinstrike::command {

class GenerateOutput : public feed::opra::traffic::PacketSink {
  public:
    /// Writes or sends what is left; false, with a message on stderr, where that failed.
    [[nodiscard]] virtual bool finish() = 0;
};

struct OutputChoice {
    std::string capture;    ///< a file, or
    std::string interface;  ///< a kernel interface
    bool fast = false;      ///< send without regard to the frames' times
};

/// The output, or null with a message on stderr.
std::unique_ptr<GenerateOutput> open_output(const OutputChoice& choice);

}  // namespace pinstrike::command
