// path: hot
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace pinstrike::feed {

/// The session hours of a line as intervals of time, which the venue derives from the calendar.
/// Without any interval the session is always on.
class SessionHours {
  public:
    /// From `begin_ns` to `end_ns` (excluded), in nanoseconds since the Unix epoch.
    struct Stretch {
        std::int64_t begin_ns;
        std::int64_t end_ns;
        friend bool operator==(const Stretch&, const Stretch&) = default;
    };

    SessionHours() = default;

    /// `stretches` must be in order and must not overlap.
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
