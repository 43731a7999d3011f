// path: hot
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pinstrike::feed {

/// When a session is on the air: stretches of time, made from a calendar by the venue. Without any
/// it always is.
class SessionHours {
  public:
    /// From `begin_ns` until before `end_ns`, since the Unix epoch.
    struct Stretch {
        std::int64_t begin_ns;
        std::int64_t end_ns;
        friend bool operator==(const Stretch&, const Stretch&) = default;
    };

    SessionHours() = default;

    /// In order, without overlap.
    explicit SessionHours(std::vector<Stretch> stretches) : stretches_(std::move(stretches)) {}

    [[nodiscard]] bool on_air(std::int64_t now_ns) const {
        if (stretches_.empty()) {
            return true;
        }
        const auto behind = std::upper_bound(
            stretches_.begin(), stretches_.end(), now_ns,
            [](std::int64_t ns, const Stretch& stretch) { return ns < stretch.begin_ns; });
        return behind != stretches_.begin() && now_ns < std::prev(behind)->end_ns;
    }

    [[nodiscard]] const std::vector<Stretch>& stretches() const { return stretches_; }

  private:
    std::vector<Stretch> stretches_;
};

}  // namespace pinstrike::feed
