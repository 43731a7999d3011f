// path: cold
//
// The YAML keys of a port, and the rules between their values.
#pragma once

#include "config/places.h"
#include "config/problem.h"
#include "config/section.h"
#include "nic/port_config.h"

#include <span>

namespace pinstrike::nic {

/// The form of an address such as 192.0.2.7.
Form<Ipv4> ipv4_form();

/// The form of a multicast group and its UDP port.
Form<Group> group_form();

Form<Subnet> subnet_form();

Section<PortConfig> port_section();

/// Checks the rules between the keys of one port, and between the ports. The path of ports[i] is
/// "ports[i]". Keys whose values could not be parsed are not checked.
void check_ports(std::span<const PortConfig> ports, const Places& places, Problems& problems);

}  // namespace pinstrike::nic
