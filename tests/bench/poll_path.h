// path: cold
//
// Shared by the benchmarks of the whole poll path: one capture that is replayed forever, and a
// poller that has 96 lines and one ring.
#pragma once

#include "actors/bench/stages/looped_capture.h"
#include "feed/opra/lines.h"
#include "nic/port.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::bench {

inline constexpr std::uint16_t lines_count = 96;

/// A port that forwards to another one, because a poller owns the ports that it is given.
class LentPort final : public nic::Port {
  public:
    explicit LentPort(nic::Port& inner) : Port("lent"), inner_(inner) {}

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        return inner_.receive(burst, now_ns);
    }

  private:
    nic::Port& inner_;
};

/// Returns no ports on failure, after it has printed the reason.
inline actors::LoopedCaptures open_one(const std::string& capture, actors::LoopedMemory memory) {
    Problems problems;
    auto made = actors::open_looped(std::span{&capture, 1}, memory, problems);
    for (const Problem& problem : problems) {
        fmt::print(stderr, "{}\n", problem.text);
    }
    return made;
}

inline actors::PollerSetup poller_setup(std::unique_ptr<nic::Port> port,
                                        nic::ChecksumCheck udp_checksum) {
    std::vector<feed::LineConfig> lines;
    for (std::uint16_t number = 1; number <= lines_count; ++number) {
        lines.push_back(*feed::opra::published_line(number));
    }
    return actors::looped_setup(std::move(port), udp_checksum, std::move(lines));
}

inline actors::Router router_to(actors::Producer<feed::Event> producer) {
    std::vector<actors::Producer<feed::Event>> producers;
    producers.push_back(std::move(producer));
    return actors::router_to(std::move(producers), lines_count);
}

}  // namespace pinstrike::bench
