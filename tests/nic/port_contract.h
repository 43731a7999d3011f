// path: cold
//
// The contract of every kind of port. The test of a kind provides a function that opens a port at
// which the given frames arrive in order.
#pragma once

#include "nic/packet/datagram.h"
#include "nic/port.h"
#include "tests/nic/frames.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::nic {

/// How long a test waits for what never comes if the port has a fault. This thread itself may stand
/// still for seconds on a busy machine.
inline constexpr std::chrono::seconds patience{60};

/// Null, after a test failure or a skip, if it cannot.
using OpenWithFrames = std::function<std::unique_ptr<Port>(const std::vector<Bytes>& frames)>;

/// The groups that frames of the contract go to; a port that joins groups joins these.
inline const std::vector<Group> contract_groups{
    {Ipv4{0xE000CC01}, 45001}, {Ipv4{0xE000CE01}, 45001}, {Ipv4{0xE000CC02}, 45002}};

/// The properties of a frame that a port must preserve; it may rewrite the rest of the frame.
struct Arrived {
    std::uint32_t source_ip = 0;
    std::uint16_t source_port = 0;
    Group group;
    std::string payload;
    friend bool operator==(const Arrived&, const Arrived&) = default;
};

inline Arrived arrived_of(const Packet& packet, ChecksumCheck check) {
    Datagram datagram;
    const Drop drop = parse_udp(packet, check, datagram);
    EXPECT_EQ(drop, not_dropped) << (drop == not_dropped ? "" : row_of(drop).name);
    if (drop != not_dropped) {
        return {};
    }
    return {datagram.source_ip,
            datagram.source_port,
            {{datagram.group_ip}, datagram.port},
            text_of(datagram.payload)};
}

/// Frames of every length from an empty payload to nearly a full Ethernet frame.
inline std::vector<Bytes> contract_frames(std::size_t count) {
    std::mt19937_64 random(20261121);
    std::vector<Bytes> frames;
    for (std::size_t i = 0; i < count; ++i) {
        const Group group = contract_groups[i % contract_groups.size()];
        UdpRoute route = route_to(group.address, group.port);
        route.source = Ipv4{0xC0000201 + static_cast<std::uint32_t>(i % 7)};
        route.source_port = static_cast<std::uint16_t>(1024 + i);
        Bytes payload(i < 3 ? i : random() % 1400);
        for (std::byte& byte : payload) {
            byte = static_cast<std::byte>(random());
        }
        frames.push_back(udp_frame(route, payload));
    }
    return frames;
}

inline std::vector<Arrived> expected_of(const std::vector<Bytes>& frames) {
    std::vector<Arrived> expected;
    for (const Bytes& frame : frames) {
        expected.push_back(arrived_of(packet_of(frame), ChecksumCheck::software));
    }
    return expected;
}

/// Receives until `count` packets have come or none has come for a long time. Checks each burst.
inline std::vector<Arrived> receive_all(Port& port, std::size_t count, std::size_t burst_packets,
                                        ChecksumCheck check) {
    constexpr std::uint32_t untouched = 0xDEADBEEF;
    std::vector<Arrived> all;
    std::vector<Packet> burst(burst_packets + 1);
    auto patience_ends = std::chrono::steady_clock::now() + patience;
    std::int64_t now_ns = 1'700'000'000'000'000'000;
    while (all.size() < count && std::chrono::steady_clock::now() < patience_ends) {
        burst.back().length_bytes = untouched;
        const std::size_t received = port.receive(std::span(burst).first(burst_packets), now_ns++);
        EXPECT_LE(received, burst_packets);
        EXPECT_EQ(burst.back().length_bytes, untouched) << "wrote behind the burst";
        std::vector<Arrived> first_look;
        for (std::size_t i = 0; i < received; ++i) {
            first_look.push_back(arrived_of(burst[i], check));
            EXPECT_GT(burst[i].ts_receive_ns, 0);
        }
        port.housekeep(now_ns);
        for (std::size_t i = 0; i < received; ++i) {
            EXPECT_EQ(arrived_of(burst[i], check), first_look[i])
                << "bytes must last until the next receive";
        }
        all.insert(all.end(), first_look.begin(), first_look.end());
        if (received > 0) {
            patience_ends = std::chrono::steady_clock::now() + patience;
        }
    }
    return all;
}

/// Checks the order within each group only, because groups may overtake each other as on a network.
inline std::vector<Arrived> of_group(const std::vector<Arrived>& all, Group group) {
    std::vector<Arrived> some;
    for (const Arrived& arrived : all) {
        if (arrived.group == group) {
            some.push_back(arrived);
        }
    }
    return some;
}

inline void expect_same(const std::vector<Arrived>& got, const std::vector<Arrived>& expected) {
    EXPECT_EQ(got.size(), expected.size());
    for (const Group group : contract_groups) {
        EXPECT_TRUE(of_group(got, group) == of_group(expected, group))
            << "group " << std::hex << group.address.value;
    }
}

/// A port delivers every frame once, in order and complete, at any burst size and however checksums
/// are verified. The counters agree. After the last frame it returns no more, without blocking.
inline void delivers_every_frame_once(const OpenWithFrames& open) {
    const std::vector<Bytes> frames = contract_frames(200);
    const std::vector<Arrived> expected = expected_of(frames);
    for (const std::size_t burst_packets : {1U, 3U, 64U, 256U}) {
        SCOPED_TRACE("burst of " + std::to_string(burst_packets));
        const std::unique_ptr<Port> port = open(frames);
        if (port == nullptr) {
            return;
        }
        const auto check = burst_packets == 3 ? ChecksumCheck::software : ChecksumCheck::offload;
        expect_same(receive_all(*port, frames.size(), burst_packets, check), expected);
        std::array<Packet, 8> burst;
        EXPECT_EQ(port->receive(burst, 1'800'000'000'000'000'000), 0U);
        EXPECT_EQ(port->receive(std::span<Packet>(), 1'800'000'000'000'000'000), 0U);
        EXPECT_EQ(port->counters().read(nic::PortCount::packets), frames.size());
        EXPECT_GE(port->counters().read(nic::PortCount::bytes),
                  frames.size() * udp_headers_bytes(0));
        EXPECT_EQ(port->statistics().missed.value_or(0), 0U);
        EXPECT_EQ(port->statistics().errors.value_or(0), 0U);
    }
}

/// A cold thread may read statistics while the poll thread receives.
inline void serves_statistics_to_another_thread(const OpenWithFrames& open) {
    const std::vector<Bytes> frames = contract_frames(100);
    const std::unique_ptr<Port> port = open(frames);
    if (port == nullptr) {
        return;
    }
    std::atomic<bool> done{false};
    std::thread cold([&] {
        while (!done.load(std::memory_order_acquire)) {
            EXPECT_EQ(port->statistics().missed.value_or(0), 0U);
            EXPECT_LE(port->counters().read(nic::PortCount::packets), frames.size());
        }
    });
    EXPECT_EQ(receive_all(*port, frames.size(), 8, ChecksumCheck::offload).size(), frames.size());
    done.store(true, std::memory_order_release);
    cold.join();
}

/// A port may be destroyed without being used, and with packets still waiting.
inline void ends_at_any_time(const OpenWithFrames& open) {
    const std::vector<Bytes> frames = contract_frames(50);
    if (open(frames) == nullptr) {
        return;
    }
    const std::unique_ptr<Port> port = open(frames);
    std::array<Packet, 4> burst;
    EXPECT_LE(port->receive(burst, 1), burst.size());
}

inline void port_contract(const OpenWithFrames& open) {
    delivers_every_frame_once(open);
    serves_statistics_to_another_thread(open);
    ends_at_any_time(open);
}

}  // namespace pinstrike::nic
