// path: cold
//
// Which system calls each kind of hot thread may make: found by watching them (strace) over every
// kind of port, and by reading what may happen seldom.
#pragma once

#include "actors/topology/feed_config.h"
#include "nic/port_needs.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// Of a poller that reads these ports.
[[nodiscard]] std::vector<nic::SystemCall> poller_calls(const FeedConfig& config,
                                                        std::span<const std::size_t> ports);

/// Of an actor core whose actors call these besides (Actor::system_calls).
[[nodiscard]] std::vector<nic::SystemCall> core_calls(std::span<const std::string_view> of_actors);

/// "futex, ioctl (some), nanosleep": each name once, for people.
[[nodiscard]] std::string to_text(std::vector<nic::SystemCall> calls);

}  // namespace pinstrike::actors
