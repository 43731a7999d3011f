// path: cold
//
// Counts since the last clear. The counters themselves are not reset, because a scraper and the
// account would take a total that falls for a restart.
#pragma once

#include "config/histogram.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace pinstrike::actors::admin {

class Tally {
  public:
    /// `rolling`: times are those since the call before, because a histogram of the whole day does
    /// not show what happens now.
    explicit Tally(bool rolling = false) : rolling_(rolling) {}

    /// `name` must belong to one counter only, and be the same in each call.
    [[nodiscard]] std::uint64_t count(const std::string& name, std::uint64_t now) {
        if (clearing_) {
            counts_[name] = now;
        }
        const auto before = counts_.find(name);
        if (before == counts_.end()) {
            return now;
        }
        before->second = std::min(before->second, now);  // lost messages that were found later
        return now - before->second;
    }

    [[nodiscard]] Histogram::Snapshot times(const std::string& name,
                                            const Histogram::Snapshot& now) {
        if (rolling_) {
            return since(now, std::exchange(times_[name], now));
        }
        if (clearing_) {
            times_[name] = now;
        }
        const auto before = times_.find(name);
        return before == times_.end() ? now : since(now, before->second);
    }

    /// `look_at_all` must read every figure.
    template <class Look>
    void clear(Look look_at_all) {
        clearing_ = true;
        look_at_all();
        clearing_ = false;
    }

  private:
    bool rolling_;
    bool clearing_ = false;
    std::map<std::string, std::uint64_t> counts_;
    std::map<std::string, Histogram::Snapshot> times_;
};

}  // namespace pinstrike::actors::admin
