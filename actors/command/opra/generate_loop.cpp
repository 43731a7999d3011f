// path: cold
#include "actors/command/opra/generate_loop.h"

#include "config/print_problems.h"
#include "config/time_units.h"
#include "feed/opra/traffic/loop_source.h"
#include "nic/frame_sender.h"

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <ctime>

namespace pinstrike::command {

namespace {

constexpr std::int64_t idle_wait_ns = 50'000;

std::int64_t wall_ns() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * second_ns + now.tv_nsec;
}

std::vector<nic::Group> groups_of(const std::vector<feed::LineConfig>& lines,
                                  std::string_view streams) {
    std::vector<nic::Group> groups;
    for (const feed::LineConfig& line : lines) {
        for (const char stream : streams) {
            groups.push_back(line.streams[stream == 'A' ? 0 : 1]);
        }
    }
    return groups;
}

}  // namespace

Exit send_loop(const feed::opra::TrafficConfig& config, const std::vector<feed::LineConfig>& lines,
               std::string_view streams, const std::string& interface, double seconds) {
    Problems problems;
    auto sender = nic::FrameSender::open(interface, problems);
    for (const Problem& problem : problems) {
        complain("{}", problem.text);
    }
    if (!sender) {
        return Exit::failed;
    }
    const auto groups = groups_of(lines, streams);
    feed::opra::traffic::LoopSource source{config, lines, groups, nic::UdpChecksumSent::computed};
    std::array<nic::Packet, 64> burst;
    const std::int64_t begin_ns = wall_ns();
    const auto end_ns = begin_ns + static_cast<std::int64_t>(seconds * second_ns);
    bool sent = true;
    for (std::int64_t now_ns = begin_ns; sent && now_ns < end_ns; now_ns = wall_ns()) {
        const std::size_t count = source.fill(burst, now_ns);
        sent = sender->send(std::span{burst}.first(count));
        if (count == 0) {
            const timespec wait{0, idle_wait_ns};
            nanosleep(&wait, nullptr);
        }
    }
    fmt::print("{} packets sent\n", sender->sent_packets());
    if (!sent) {
        complain("cannot send: {}", sender->error_text());
    }
    return sent ? Exit::ok : Exit::failed;
}

}  // namespace pinstrike::command
