// path: cold
//
// Fills a wire with traffic that is not the feed's: foreign groups, other protocols and fragments,
// and garbage on the feed's own groups, in turn. At the end it prints how many frames of each kind
// it sent, by the reason for which a handler drops them. It ends after this time, or at SIGTERM.
//
//   flood INTERFACE LINES GIGABITS SECONDS
#include "config/problem.h"
#include "feed/opra/lines.h"
#include "nic/frame_sender.h"
#include "nic/packet/udp_frame_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace {

namespace nic = pinstrike::nic;
namespace opra = pinstrike::feed::opra;

constexpr std::size_t frames_count = 4096;
constexpr std::size_t burst_packets = 32;
constexpr std::size_t payload_bytes = 1000;
constexpr std::size_t wire_extra_bytes = 24;  // preamble, frame checksum and gap
constexpr double catch_up_s = 5e-3;

volatile std::sig_atomic_t stopped = 0;

struct Frame {
    std::string reason;
    std::vector<std::byte> bytes;
};

std::mt19937_64 random_bytes{20260316};

std::vector<std::byte> noise(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::byte& each : bytes) {
        each = static_cast<std::byte>(random_bytes());
    }
    return bytes;
}

std::vector<std::byte> framed(nic::Group group, const std::vector<std::byte>& payload) {
    const std::size_t headers = nic::udp_headers_bytes(0);
    std::vector<std::byte> frame(headers + payload.size());
    std::memcpy(frame.data() + headers, payload.data(), payload.size());
    nic::UdpRoute route;
    route.source.value = 0x0A5B'0001;
    route.source_port = group.port;
    route.destination = group;
    nic::write_udp_headers(frame.data(), route, payload.size(), nic::UdpChecksumSent::computed);
    return frame;
}

/// Garbage whose first bytes are those of a valid header of a block of `size` bytes.
std::vector<std::byte> block_like(std::uint16_t size) {
    std::vector<std::byte> block = noise(payload_bytes);
    block[0] = std::byte{6};
    nic::store_be16(block.data() + 1, size);
    block[3] = std::byte{'O'};
    block[4] = std::byte{' '};
    return block;
}

void fix_ip_checksum(std::vector<std::byte>& frame) {
    nic::store_be16(frame.data() + 14 + 10, 0);
    nic::store_checksum(frame.data() + 14 + 10, nic::checksum_sum(frame.data() + 14, 20));
}

/// A frame on a line's own group that contains no valid block.
Frame garbage(nic::Group group, std::size_t turn) {
    switch (turn % 4) {
        case 0: {
            std::vector<std::byte> payload = noise(payload_bytes);
            payload[0] = payload[0] == std::byte{6} ? std::byte{7} : payload[0];
            return {"version_unknown", framed(group, payload)};
        }
        case 1:
            return {"payload_short", framed(group, noise(20))};
        case 2:
            return {"size_bad", framed(group, block_like(60'000))};
        default: {
            std::vector<std::byte> block = block_like(payload_bytes);
            nic::store_be16(block.data() + 19, 0xFFFF);  // no sum of a block's bytes is so large
            return {"checksum_bad", framed(group, block)};
        }
    }
}

Frame foreign(nic::Group group, std::size_t turn) {
    switch (turn % 5) {
        case 0:  // another feed's group with this feed's port
            group.address.value = 0xEF01'0000 + static_cast<std::uint32_t>(turn % 60'000);
            return {"unknown_group", framed(group, noise(payload_bytes))};
        case 1: {
            std::vector<std::byte> frame = framed(group, noise(payload_bytes));
            // An Ethernet type reserved for experiments.
            nic::store_be16(frame.data() + 12, 0x88B5);
            return {"not_ipv4", frame};
        }
        case 2: {
            std::vector<std::byte> frame = framed(group, noise(payload_bytes));
            frame[14 + 9] = std::byte{6};  // TCP
            fix_ip_checksum(frame);
            return {"not_udp", frame};
        }
        case 3: {
            std::vector<std::byte> frame = framed(group, noise(payload_bytes));
            nic::store_be16(frame.data() + 14 + 6, 0x2000);  // the flag that more fragments follow
            fix_ip_checksum(frame);
            return {"fragment", frame};
        }
        default: {
            std::vector<std::byte> frame = framed(group, noise(payload_bytes));
            frame.resize(400);  // shorter than the length in the IPv4 header
            return {"ip_truncated", frame};
        }
    }
}

std::vector<Frame> make_frames(unsigned lines_count) {
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < frames_count; ++i) {
        const auto line = opra::published_line(static_cast<std::uint16_t>(1 + i % lines_count));
        const nic::Group group = line->streams[i / lines_count % 2];
        frames.push_back(i / 64 % 2 == 0 ? garbage(group, i / 8) : foreign(group, i / 8));
    }
    return frames;
}

double now_s() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int count, char** words) {
    if (count != 5) {
        fmt::print(stderr, "flood INTERFACE LINES GIGABITS SECONDS\n");
        return 2;
    }
    std::signal(SIGTERM, [](int) { stopped = 1; });
    pinstrike::Problems problems;
    auto sender = nic::FrameSender::open(words[1], problems);
    if (!sender) {
        fmt::print(stderr, "flood: {}\n", problems.front().text);
        return 1;
    }
    const std::vector<Frame> frames =
        make_frames(static_cast<unsigned>(std::strtoul(words[2], nullptr, 10)));
    const double bytes_per_s = std::strtod(words[3], nullptr) * 1e9 / 8;
    const double seconds = std::strtod(words[4], nullptr);
    std::map<std::string, std::uint64_t> sent;
    std::array<nic::Packet, burst_packets> burst;
    double wire_bytes = 0;
    double missed_bytes = 0;
    const double begin_s = now_s();
    double passed_s = 0;
    for (std::size_t next = 0; passed_s < seconds && stopped == 0; passed_s = now_s() - begin_s) {
        // A wire does not make up for the time in which its sender was preempted, so the rate never
        // exceeds the requested one.
        const double behind_bytes = passed_s * bytes_per_s - wire_bytes - missed_bytes;
        missed_bytes += std::max(0.0, behind_bytes - catch_up_s * bytes_per_s);
        if (behind_bytes < 0) {
            const timespec wait{0, 20'000};
            nanosleep(&wait, nullptr);
            continue;
        }
        for (nic::Packet& packet : burst) {
            const Frame& frame = frames[next++ % frames.size()];
            packet.bytes = frame.bytes.data();
            packet.length_bytes = static_cast<std::uint32_t>(frame.bytes.size());
            wire_bytes += static_cast<double>(frame.bytes.size() + wire_extra_bytes);
            ++sent[frame.reason];
        }
        if (!sender->send(burst)) {
            fmt::print(stderr, "flood: {}\n", sender->error_text());
            return 1;
        }
    }
    fmt::print("{{\"gigabits_per_s\": {:.3f}, \"seconds\": {:.3f}, \"sent\": {{",
               wire_bytes * 8e-9 / passed_s, passed_s);
    const char* separator = "";
    for (const auto& [reason, frames_sent] : sent) {
        fmt::print("{}\"{}\": {}", separator, reason, frames_sent);
        separator = ", ";
    }
    fmt::print("}}}}\n");
    return 0;
}
