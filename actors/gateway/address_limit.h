// path: cold
//
// Bounds the connections that one address opens in a second.
#pragma once

#include "config/time_units.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway {

class AddressLimit {
  public:
    explicit AddressLimit(std::size_t connections_each_second)
        : connections_each_second_(connections_each_second) {}

    /// Notes a connection. False: the address has opened too many.
    [[nodiscard]] bool allows(const std::string& address, std::int64_t now_ns) {
        const auto is_past = [now_ns](std::int64_t at) {
            return at < now_ns - second_ns || at > now_ns;  // later: the clock was set back
        };
        std::erase_if(recent_, [&](const auto& entry) { return is_past(entry.second.back()); });
        auto& recent = recent_[address];
        std::erase_if(recent, is_past);
        recent.push_back(now_ns);
        return recent.size() <= connections_each_second_;
    }

  private:
    std::size_t connections_each_second_;
    std::map<std::string, std::vector<std::int64_t>> recent_;  ///< times by address
};

}  // namespace pinstrike::actors::gateway
