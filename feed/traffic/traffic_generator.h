// path: cold
//
// The traffic of ports of kind sim. A venue's traffic generator is a library of its own, which the
// appliance neither links nor names. A program with such ports registers a generator first.
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

    /// The average rate of each stream.
    [[nodiscard]] virtual double messages_per_second() const = 0;
};

/// Null stands for the generator's defaults.
using TrafficSettings = std::shared_ptr<const Traffic>;

struct TrafficGenerator {
    std::string venue;  ///< name of its codec
    TrafficSettings defaults;
    Form<TrafficSettings> form;  ///< of the config key `traffic`
};

/// Registers the generator of the process. Call it once, on the thread that reads configs, before a
/// config is read or explained: the config key `traffic` exists only with a generator.
void register_traffic_generator(TrafficGenerator generator);

/// The registered generator; null: there is none.
[[nodiscard]] const TrafficGenerator* traffic_generator();

}  // namespace pinstrike::feed
