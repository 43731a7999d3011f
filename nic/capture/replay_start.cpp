// path: cold
#include "nic/capture/replay_start.h"

namespace pinstrike::nic {

std::size_t ReplayStart::add_port(std::int64_t first_ts_ns) {
    ts_ns_ = std::min(ts_ns_, first_ts_ns);
    next_ts_ns_.emplace_back(first_ts_ns);
    return next_ts_ns_.size() - 1;
}

/// Returns the wall time of the start; the first call sets it to `now_ns`.
std::int64_t ReplayStart::start(std::int64_t now_ns) {
    std::int64_t started_ns = not_yet;
    const bool first =
        started_ns_.compare_exchange_strong(started_ns, now_ns, std::memory_order_relaxed);
    return first ? now_ns : started_ns;
}

ReplayStart::Answer ReplayStart::ask(std::size_t port, std::int64_t ts_ns, std::int64_t now_ns,
                                     Pace pace) {
    if (pace.factor <= 0) {
        return {true};
    }
    const std::int64_t before_ts_ns = next_ts_ns_[port].exchange(ts_ns, std::memory_order_relaxed);
    const auto played_ns =
        static_cast<std::int64_t>(static_cast<double>(now_ns - start(now_ns)) * pace.factor);
    const std::int64_t ahead_ns = ts_ns - begin_ts_ns() - played_ns;
    const bool leaps_back = ts_ns < before_ts_ns - leap_ns && ahead_ns < -leap_ns;
    if (leaps_back) {
        passed_over_ns_.fetch_add(ahead_ns, std::memory_order_relaxed);
        return {true, ahead_ns};
    }
    if (ahead_ns <= leap_ns) {
        return {ahead_ns <= 0};
    }
    return {false, pass_over(ts_ns, ahead_ns, now_ns)};
}

/// Skips the leap and returns its size if no port has an earlier frame; otherwise returns 0. It
/// skips only when `moment_ns` has passed since the leap was first seen, so that earlier frames
/// have reached their actors and do not count as late.
std::int64_t ReplayStart::pass_over(std::int64_t ts_ns, std::int64_t ahead_ns,
                                    std::int64_t now_ns) {
    constexpr std::int64_t moment_ns = 100'000'000;
    for (const auto& next_ts_ns : next_ts_ns_) {
        if (next_ts_ns.load(std::memory_order_relaxed) < ts_ns) {
            return 0;
        }
    }
    std::int64_t seen_ns = not_yet;
    leap_seen_ns_.compare_exchange_strong(seen_ns, now_ns, std::memory_order_relaxed);
    // If the next frames of several ports have the same time, the exchange lets only one port skip.
    if (seen_ns == not_yet || now_ns - seen_ns < moment_ns ||
        !leap_seen_ns_.compare_exchange_strong(seen_ns, not_yet, std::memory_order_relaxed)) {
        return 0;
    }
    passed_over_ns_.fetch_add(ahead_ns, std::memory_order_relaxed);
    return ahead_ns;
}

}  // namespace pinstrike::nic
