// path: cold
//
// Shared by the benchmarks of recording and of replays: the poll path, with or without a recorder,
// on one thread that also empties its ring.
#pragma once

#include "actors/appliance/venues.h"
#include "actors/poller/packet_recorder.h"
#include "actors/poller/poller_task.h"
#include "actors/threads/ring.h"
#include "config/check.h"
#include "feed/opra/opra.h"
#include "nic/clock.h"
#include "tests/bench/poll_path.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace pinstrike::bench {

inline constexpr std::size_t burst_packets = 64;

inline std::vector<std::uint16_t> all_lines() {
    std::vector<std::uint16_t> lines(lines_count);
    std::iota(lines.begin(), lines.end(), std::uint16_t{1});
    return lines;
}

/// A poller on a port, whose ring the same thread empties.
class DrainedPath {
  public:
    DrainedPath(std::unique_ptr<nic::Port> port, std::unique_ptr<actors::PacketRecorder> recorder) {
        auto ring = actors::Ring<feed::Event>::make(std::size_t{1} << 18);
        actors::PollerSetup setup = poller_setup(std::move(port), nic::ChecksumCheck::software);
        setup.recorder = std::move(recorder);
        poller_ = actors::make_poller(feed::opra::Opra::name, std::move(setup),
                                      router_to(std::move(ring.producer)));
        consumer_ = std::make_unique<actors::Consumer<feed::Event>>(std::move(ring.consumer));
    }

    /// Returns the number of packets.
    std::size_t step() {
        const std::int64_t now_ns = clock_.wall_ns();
        poller_->record(now_ns);
        const std::size_t packets = poller_->step(now_ns);
        for (auto events = consumer_->peek(burst_packets); !events.empty();
             events = consumer_->peek(burst_packets)) {
            consumer_->release(events.size());
        }
        return packets;
    }

    [[nodiscard]] std::uint64_t messages() const {
        PINSTRIKE_CHECK(poller_->router().counters(0).read(actors::RingCount::refused) == 0);
        return poller_->router().counters(0).read(actors::RingCount::routed);
    }

    [[nodiscard]] actors::PollerTask& poller() { return *poller_; }

  private:
    nic::Clock clock_;
    std::unique_ptr<actors::PollerTask> poller_;
    std::unique_ptr<actors::Consumer<feed::Event>> consumer_;
};

}  // namespace pinstrike::bench
