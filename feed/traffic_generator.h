// path: cold
//
// What ports of kind sim send. A venue's traffic generator is a library of its own, which the
// appliance neither links nor names. A program that opens such ports registers a generator first.
#pragma once

#include "config/form.h"
#include "feed/lines/line_config.h"
#include "nic/open_port.h"

#include <memory>
#include <string>
#include <vector>

namespace pinstrike::feed {

/// The settings of a generator, as the config key `traffic` gives them.
class Traffic {
  public:
    virtual ~Traffic() = default;

    /// Makes the frames of the sim ports of a feed with these lines.
    [[nodiscard]] virtual nic::FrameSourceFactory sources(std::vector<LineConfig> lines) const = 0;
};

/// Null: the generator's defaults.
using TrafficSettings = std::shared_ptr<const Traffic>;

struct TrafficGenerator {
    std::string venue;  ///< the name of its codec
    TrafficSettings defaults;
    Form<TrafficSettings> form;  ///< of the config key `traffic`
};

/// Once a process, on the thread that then reads configs and before it reads or explains one: the
/// config has the key `traffic` only where a generator is registered.
void register_traffic_generator(TrafficGenerator generator);

/// Null: none was registered.
[[nodiscard]] const TrafficGenerator* traffic_generator();

}  // namespace pinstrike::feed
