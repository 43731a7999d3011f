// path: cold
//
// The users: their keys, and counters of their sessions, which outlive sessions and keys.
#pragma once

#include "actors/gateway/client_keys.h"
#include "actors/gateway/session_counts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace pinstrike::actors::gateway {

/// One user, as other threads see it: the sum over its sessions.
struct UserStatus {
    std::array<std::uint64_t, SessionCounters::count> counts{};  ///< also of ended sessions
    std::uint64_t sessions = 0;                                  ///< that are open
    std::uint64_t queue_bytes = 0;
    std::uint64_t waiting_records = 0;
    std::int64_t behind_ns = 0;  ///< since the oldest record that waits was put; the largest

    void add(const SessionCounters& counters) {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            counts[i] += counters.read(static_cast<SessionCount>(i));
        }
    }
};

using UserStatuses = std::map<std::string, UserStatus>;

class Users {
  public:
    /// Replaces the keys. A user has counters from here on, so that a scrape sees how they grow;
    /// their number is bounded by what the file of keys names.
    void keep(ClientKeys keys) {
        keys_ = std::move(keys);
        for (const ClientKey& key : keys_) {
            ended_.try_emplace(key.user);
        }
    }

    [[nodiscard]] const ClientKeys& keys() const { return keys_; }

    /// A session has ended. `user`: empty if it had none.
    void add_ended(const std::string& user, const SessionCounters& counters) {
        if (!user.empty()) {
            ended_[user].add(counters);
        }
    }

    /// Of sessions that have ended, by user.
    [[nodiscard]] const UserStatuses& ended() const { return ended_; }

  private:
    ClientKeys keys_;
    UserStatuses ended_;
};

}  // namespace pinstrike::actors::gateway
