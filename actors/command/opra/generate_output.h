// path: cold
//
// The destination of generated frames: a capture, or an interface in real time.
#pragma once

#include "config/problem.h"
#include "feed/lines/line_config.h"
#include "feed/opra/traffic/delivery.h"
#include "feed/opra/traffic/traffic_config.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

/// Sends a loop of generated traffic on an interface for `for_ns`, in real time and at the config's
/// rate. Prints the number of sent packets on standard output, and errors on standard error.
Exit send_loop(const feed::opra::TrafficConfig& config, const std::vector<feed::LineConfig>& lines,
               std::string_view streams, const std::string& interface, std::int64_t for_ns);

}  // namespace pinstrike::command
