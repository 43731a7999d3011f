// path: cold
//
// The system calls that each kind of hot thread may make: observed with strace over every kind of
// port, plus calls of rare code paths, found by reading the code.
#pragma once

#include "actors/topology/feed_config.h"
#include "nic/port_needs.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// The calls of a poller that reads these ports.
[[nodiscard]] std::vector<nic::SystemCall> poller_calls(const FeedConfig& config,
                                                        std::span<const std::size_t> ports);

/// The calls of an actor core whose actors also need `of_actors` (Actor::system_calls).
[[nodiscard]] std::vector<nic::SystemCall> core_calls(std::span<const std::string_view> of_actors);

/// Text such as "futex, ioctl (some), nanosleep", with each name once.
[[nodiscard]] std::string to_text(std::vector<nic::SystemCall> calls);

}  // namespace pinstrike::actors
