// path: cold
#include "config/time_units.h"
#include "nic/capture/capture_files.h"
#include "nic/capture/capture_reader.h"
#include "nic/capture/capture_writer.h"
#include "nic/capture/pcap_port.h"
#include "nic/frame_sender.h"
#include "tests/config/no_more_descriptors.h"
#include "tests/nic/frames.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>

namespace pinstrike::nic {
namespace {

struct Frame {
    std::string payload;
    std::int64_t ts_ns;
    Group group = route_of_tests.destination;
};

void write_capture(const std::string& path, const std::vector<Frame>& frames) {
    Problems problems;
    auto writer = CaptureWriter::open(path, problems);
    ASSERT_TRUE(writer);
    for (const Frame& frame : frames) {
        const UdpRoute route = route_to(frame.group.address, frame.group.port);
        writer->write(udp_frame(route, bytes_of(frame.payload)), frame.ts_ns);
    }
    ASSERT_TRUE(writer->close(problems));
    ASSERT_TRUE(problems.empty());
}

CaptureReader open_good(const std::string& path) {
    Problems problems;
    auto reader = CaptureReader::open(path, problems);
    EXPECT_TRUE(problems.empty()) << (problems.empty() ? "" : problems[0].text);
    return std::move(reader.value());
}

enum class ByteOrder { host, swapped };

/// Writes a pcap file with one frame. `magic`, `link_type` and `order` are written as given.
void write_raw_capture(const std::string& path, std::uint32_t magic, std::uint32_t link_type,
                       std::span<const std::byte> bytes, std::uint32_t fraction,
                       ByteOrder order = ByteOrder::host, std::uint32_t sent_bytes = 0) {
    std::ofstream out(path, std::ios::binary);
    const bool swap = order == ByteOrder::swapped;
    const auto put = [&](std::uint32_t value) {
        value = swap ? __builtin_bswap32(value) : value;
        out.write(reinterpret_cast<const char*>(&value), sizeof value);
    };
    const auto length = static_cast<std::uint32_t>(bytes.size());
    const std::uint32_t version = swap ? 0x00020004 : 0x00040002;  // two 16-bit fields: 2, 4
    for (const std::uint32_t word : {magic, version, 0U, 0U, 65535U, link_type}) {
        put(word);
    }
    for (const std::uint32_t word :
         {1'700'000'000U, fraction, length, std::max(length, sent_bytes)}) {
        put(word);
    }
    out << text_of(bytes);
}

class CaptureFormats : public testing::TestWithParam<const char*> {};

TEST_P(CaptureFormats, ReadBackWhatWasWritten) {
    const ScratchDirectory scratch;
    const std::string path = scratch.file(GetParam());
    constexpr std::int64_t ts = 1'700'000'000'123'456'789;
    write_capture(path, {{"one", ts}, {"three bytes more", ts + 1}, {"", ts + 1}});
    CaptureReader reader = open_good(path);
    CapturedFrame frame;
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.ts_ns, ts);
    EXPECT_EQ(text_of(frame.bytes), text_of(udp_frame(route_of_tests, bytes_of("one"))));
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.ts_ns, ts + 1);
    ASSERT_TRUE(reader.next(frame));
    EXPECT_FALSE(reader.next(frame));
    EXPECT_FALSE(reader.next(frame));
    EXPECT_EQ(reader.complaint(), "");
}

TEST_P(CaptureFormats, ACutFileGivesItsWholeFramesAndAComplaint) {
    const ScratchDirectory scratch;
    const std::string path = scratch.file(GetParam());
    write_capture(path, {{"first", 1}, {"second", 2}});
    const auto whole_bytes = std::filesystem::file_size(path);
    for (std::uintmax_t cut = 1; cut < 40; ++cut) {
        std::filesystem::resize_file(path, whole_bytes - cut);
        CaptureReader reader = open_good(path);
        CapturedFrame frame;
        ASSERT_TRUE(reader.next(frame));
        EXPECT_FALSE(reader.next(frame));
        EXPECT_NE(reader.complaint(), "") << cut;
        EXPECT_FALSE(reader.next(frame)) << "stays at its end";
    }
}

TEST(CaptureWriter, WritesCommentsOfPcapng) {
    const ScratchDirectory scratch;
    for (const std::string name : {"x.pcapng", "x.pcap"}) {
        Problems problems;
        auto writer = CaptureWriter::open(scratch.file(name), problems, "of the file");
        ASSERT_TRUE(writer);
        const std::string longest(65535, 'x');
        for (const std::string& comment : {std::string{}, std::string{"first"}, longest}) {
            for (std::size_t bytes = 60; bytes < 64; ++bytes) {  // each padding
                writer->write(Bytes(bytes), 1, comment);
            }
        }
        writer->write(Bytes(60), 2);
        ASSERT_TRUE(writer->close(problems));
        CaptureReader reader = open_good(scratch.file(name));
        const bool kept = name == "x.pcapng";
        EXPECT_EQ(reader.comment(), kept ? "of the file" : "");
        CapturedFrame frame;
        for (const std::string& comment : {std::string{}, std::string{"first"}, longest}) {
            for (std::size_t bytes = 60; bytes < 64; ++bytes) {
                ASSERT_TRUE(reader.next(frame));
                EXPECT_EQ(frame.bytes.size(), bytes);
                EXPECT_EQ(frame.comment, kept ? comment : "");
            }
        }
        ASSERT_TRUE(reader.next(frame));
        EXPECT_EQ(frame.comment, "");
        EXPECT_FALSE(reader.next(frame));
        EXPECT_EQ(reader.complaint(), "");
    }
}

INSTANTIATE_TEST_SUITE_P(Both, CaptureFormats, testing::Values("x.pcap", "x.pcapng"));

TEST(CaptureReader, ConvertsMicrosecondsAndBothByteOrders) {
    const ScratchDirectory scratch;
    const Bytes frame_bytes = udp_frame(route_of_tests, {});
    CapturedFrame frame;
    write_raw_capture(scratch.file("us"), 0xA1B2C3D4, 1, frame_bytes, 123'456);
    CaptureReader us = open_good(scratch.file("us"));
    ASSERT_TRUE(us.next(frame));
    EXPECT_EQ(frame.ts_ns, 1'700'000'000'123'456'000);
    write_raw_capture(scratch.file("ns"), 0xA1B23C4D, 1, frame_bytes, 123'456'789);
    CaptureReader ns = open_good(scratch.file("ns"));
    ASSERT_TRUE(ns.next(frame));
    EXPECT_EQ(frame.ts_ns, 1'700'000'000'123'456'789);
    write_raw_capture(scratch.file("swapped"), 0xA1B2C3D4, 1, frame_bytes, 123'456,
                      ByteOrder::swapped);
    CaptureReader swapped = open_good(scratch.file("swapped"));
    ASSERT_TRUE(swapped.next(frame));
    EXPECT_EQ(frame.ts_ns, 1'700'000'000'123'456'000);
    EXPECT_EQ(frame.bytes.size(), frame_bytes.size());
}

TEST(CaptureReader, GivesOtherLinkTypesAnEthernetHeader) {
    const ScratchDirectory scratch;
    const Bytes whole = udp_frame(route_of_tests, bytes_of("payload"));
    const Bytes ip(whole.begin() + 14, whole.end());
    Bytes cooked(16);
    store_be16(cooked.data() + 14, 0x0800);
    cooked.insert(cooked.end(), ip.begin(), ip.end());
    const auto loopback = [&](std::uint32_t family) {
        Bytes bytes(4 + ip.size());
        store_be32(bytes.data(), family);
        std::copy(ip.begin(), ip.end(), bytes.begin() + 4);
        return bytes;
    };
    Bytes cooked_2(20);
    store_be16(cooked_2.data(), 0x0800);
    cooked_2.insert(cooked_2.end(), ip.begin(), ip.end());
    const std::vector<std::pair<std::uint32_t, Bytes>> captures{{12, ip},
                                                                {14, ip},
                                                                {101, ip},
                                                                {228, ip},
                                                                {113, cooked},
                                                                {276, cooked_2},
                                                                {0, loopback(0x02000000)},
                                                                {0, loopback(2)},
                                                                {108, loopback(2)}};
    for (const auto& [link_type, bytes] : captures) {
        const std::string path = scratch.file(std::to_string(link_type));
        write_raw_capture(path, 0xA1B2C3D4, link_type, bytes, 0);
        CaptureReader reader = open_good(path);
        CapturedFrame frame;
        ASSERT_TRUE(reader.next(frame)) << link_type;
        Datagram datagram;
        ASSERT_EQ(parse_udp(packet_of(frame.bytes), ChecksumCheck::software, datagram), not_dropped)
            << link_type;
        EXPECT_EQ(text_of(datagram.payload), "payload");
        // A frame too short for its own header is still read as a frame; the parser drops it.
        const Bytes stump(bytes.begin(), bytes.begin() + 1);
        write_raw_capture(path, 0xA1B2C3D4, link_type, stump, 0);
        CaptureReader short_reader = open_good(path);
        ASSERT_TRUE(short_reader.next(frame));
        EXPECT_NE(parse_udp(packet_of(frame.bytes), ChecksumCheck::off, datagram), not_dropped);
    }
}

TEST(CaptureReader, TakesAnotherFamilyOfLoopbackForNoIpv4) {
    const ScratchDirectory scratch;
    Bytes bytes(64);
    store_be32(bytes.data(), 30);  // IPv6 on macOS
    write_raw_capture(scratch.file("x"), 0xA1B2C3D4, 108, bytes, 0);
    CaptureReader reader = open_good(scratch.file("x"));
    CapturedFrame frame;
    ASSERT_TRUE(reader.next(frame));
    Datagram datagram;
    EXPECT_EQ(parse_udp(packet_of(frame.bytes), ChecksumCheck::off, datagram), Drop::not_ipv4);
}

TEST(CaptureReader, ReportsWhatItCannotOpen) {
    const ScratchDirectory scratch;
    Problems problems;
    EXPECT_FALSE(CaptureReader::open(scratch.file("absent"), problems));
    std::ofstream(scratch.file("text")) << "this is no capture at all, only some text";
    EXPECT_FALSE(CaptureReader::open(scratch.file("text"), problems));
    std::ofstream(scratch.file("empty"));
    EXPECT_FALSE(CaptureReader::open(scratch.file("empty"), problems));
    write_raw_capture(scratch.file("wifi"), 0xA1B2C3D4, 105, {}, 0);
    EXPECT_FALSE(CaptureReader::open(scratch.file("wifi"), problems));
    ASSERT_EQ(problems.size(), 4U);
    EXPECT_NE(problems[0].text.find("No such file"), std::string::npos) << problems[0].text;
    EXPECT_EQ(problems[0].place.file, scratch.file("absent"));
    EXPECT_EQ(problems[0].remedy, Remedy::change);
    EXPECT_EQ(problems[2].text, "is empty, a pcap or pcapng file expected");
    EXPECT_NE(problems[3].text.find("105"), std::string::npos) << problems[3].text;
}

TEST(CaptureReader, ReportsWhatARetryMayOpen) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a.pcap"), {{"a", 1}});
    Problems problems;
    {
        const NoMoreDescriptors limit;
        EXPECT_FALSE(CaptureReader::open(scratch.file("a.pcap"), problems));
        EXPECT_TRUE(capture_files(std::vector{scratch.file("")}, problems).empty());
    }
    EXPECT_FALSE(FrameSender::open("nowhere0", problems));
    ASSERT_EQ(problems.size(), 3U);
    for (const Problem& problem : problems) {
        EXPECT_EQ(problem.remedy, Remedy::retry) << problem.text;
    }
}

TEST(CaptureFiles, ListPlainAndCompressedFormsOnce) {
    const ScratchDirectory scratch;
    std::vector<std::string> expected;
    for (const char* const name : {"a.pcapng", "b.pcap2.gz", "c.pcap"}) {
        std::ofstream(scratch.file(name)) << "a capture";
        expected.push_back(scratch.file(name));
    }
    std::ofstream(scratch.file("a.pcapng.zst")) << "the same";
    std::ofstream(scratch.file("c.pcap.xz")) << "the same";
    Problems problems;
    const std::string folder = std::filesystem::path{scratch.file("a")}.parent_path();
    EXPECT_EQ(capture_files(std::vector{folder}, problems), expected);
    EXPECT_TRUE(problems.empty());
}

TEST_P(CaptureFormats, HaveNoTimesBeforeTheEpoch) {
    const ScratchDirectory scratch;
    const std::string path = scratch.file(GetParam());
    write_capture(path, {{"x", std::numeric_limits<std::int64_t>::min()}});
    CaptureReader reader = open_good(path);
    CapturedFrame frame;
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.ts_ns, 0);
}

TEST(CaptureWriter, ReportsWhatItCannotWrite) {
    Problems problems;
    EXPECT_FALSE(CaptureWriter::open("/nonexistent/directory/x.pcap", problems));
    ASSERT_EQ(problems.size(), 1U);
    if (!std::filesystem::exists("/dev/full")) {
        GTEST_SKIP() << "there is no /dev/full here to write to";
    }
    auto writer = CaptureWriter::open("/dev/full", problems);
    ASSERT_TRUE(writer);
    writer->write(udp_frame(route_of_tests, {}), 0);
    EXPECT_FALSE(writer->close(problems));
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_NE(problems[1].text.find("No space left"), std::string::npos) << problems[1].text;
}

std::vector<std::string> payloads_of(std::span<const Packet> packets) {
    std::vector<std::string> payloads;
    for (const Packet& packet : packets) {
        Datagram datagram;
        EXPECT_EQ(parse_udp(packet, ChecksumCheck::software, datagram), not_dropped);
        payloads.push_back(text_of(datagram.payload));
    }
    return payloads;
}

std::vector<std::string> drain(Port& port, std::int64_t now_ns, std::size_t burst_packets = 4) {
    std::vector<std::string> all;
    std::vector<Packet> burst(burst_packets);
    while (const std::size_t count = port.receive(burst, now_ns)) {
        const auto payloads = payloads_of(std::span(burst).first(count));
        all.insert(all.end(), payloads.begin(), payloads.end());
    }
    return all;
}

using Names = std::vector<std::string>;

std::unique_ptr<PcapPort> open_port(
    const Names& files, Pace pace = {},
    std::shared_ptr<ReplayStart> start = std::make_shared<ReplayStart>(), GroupFilter filter = {}) {
    Problems problems;
    auto port =
        PcapPort::open("replay", files, pace, 4, problems, std::move(filter), std::move(start));
    EXPECT_TRUE(problems.empty()) << (problems.empty() ? "" : problems[0].text);
    return port;
}

TEST(PcapPort, MergesFilesByTime) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a"), {{"a1", 10}, {"a2", 20}, {"a3", 20}, {"a4", 50}});
    write_capture(scratch.file("b"), {{"b1", 5}, {"b2", 20}, {"b3", 60}});
    write_capture(scratch.file("c"), {});
    const auto opened = open_port({scratch.file("a"), scratch.file("b"), scratch.file("c")});
    PcapPort& port = *opened;
    EXPECT_TRUE(port.replays());
    EXPECT_FALSE(port.exhausted());
    EXPECT_EQ(drain(port, 0), (Names{"b1", "a1", "a2", "a3", "b2", "a4", "b3"}));
    EXPECT_TRUE(port.exhausted());
    EXPECT_EQ(port.counters().read(nic::PortCount::packets), 7U);
    EXPECT_EQ(port.counters().read(nic::PortCount::bytes), 7U * 44);
    EXPECT_EQ(port.counters().read(nic::PortCount::full_bursts), 1U);
    EXPECT_TRUE(port.remarks().empty());
}

TEST(PcapPort, CapturesOfAFolderThatCannotBeOpenedHideNoOther) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a.pcap"), {{"a", 10}});
    write_capture(scratch.file("c.pcap"), {{"c", 20}});
    std::ofstream{scratch.file("b.pcap")};
    const std::string folder = std::filesystem::path{scratch.file("a")}.parent_path();
    Problems problems;
    check_captures(std::vector{folder}, problems);
    EXPECT_TRUE(problems.empty());
    const auto port = open_port({folder});
    EXPECT_EQ(drain(*port, 0), (Names{"a", "c"}));
    ASSERT_EQ(port->unread().size(), 1U);
    EXPECT_NE(port->unread()[0].find("b.pcap: is empty"), std::string::npos) << port->unread()[0];
    std::ofstream{scratch.file("a.pcap")};
    std::ofstream{scratch.file("c.pcap")};
    check_captures(std::vector{folder}, problems);
    EXPECT_EQ(problems.size(), 3U);
    check_captures(std::vector{scratch.file("b.pcap")}, problems);
    EXPECT_EQ(problems.size(), 4U);
}

TEST(PcapPort, PacesFromTheFirstPacketAndNeverDrifts) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a"), {{"0", 1000}, {"300", 1300}, {"301", 1301}, {"900", 1900}});
    const auto opened = open_port({scratch.file("a")}, Pace{2.0});
    PcapPort& port = *opened;
    EXPECT_EQ(drain(port, 5000), (Names{"0"})) << "the first packet is due at once";
    EXPECT_EQ(drain(port, 5149), Names{});
    EXPECT_EQ(drain(port, 5150), (Names{"300"}));
    EXPECT_EQ(drain(port, 5151), (Names{"301"}));
    EXPECT_EQ(drain(port, 5449), Names{});
    EXPECT_FALSE(port.exhausted());
    EXPECT_EQ(drain(port, 6000), (Names{"900"}));
    EXPECT_TRUE(port.exhausted());
}

/// What the ports return while their time advances by `step_ns` per step: each payload with the
/// number of its step.
std::string played(std::span<PcapPort* const> ports, std::int64_t begin_ns, std::int64_t step_ns,
                   int steps) {
    std::string all;
    for (int step = 0; step < steps; ++step) {
        for (PcapPort* port : ports) {
            for (const std::string& payload : drain(*port, begin_ns + step * step_ns)) {
                all += (all.empty() ? "" : " ") + payload + "@" + std::to_string(step);
            }
        }
    }
    return all;
}

constexpr std::int64_t day_ns = 24 * 3600 * second_ns;

TEST(PcapPort, PassesOverLeapsOfMoreThanAnHourAndReportsThem) {
    const ScratchDirectory scratch;
    const std::int64_t wrong = 2'000 * day_ns;
    write_capture(scratch.file("a"), {{"zero", 0},
                                      {"first", 19'000 * day_ns},
                                      {"second", 19'000 * day_ns + second_ns},
                                      {"ahead", 19'000 * day_ns + wrong},
                                      {"third", 19'000 * day_ns + 2 * second_ns},
                                      {"evening", 19'000 * day_ns + 3603 * second_ns}});
    const auto port = open_port({scratch.file("a")}, Pace{1}, std::make_shared<ReplayStart>());
    PcapPort* const ports[] = {port.get()};
    // A step is a tenth of a second. A leap is skipped one step after it is seen. The 3,601 s up to
    // "evening" are a leap; the next test has a pause of one hour, which is not.
    EXPECT_EQ(played(ports, 500 * day_ns, second_ns / 10, 40),
              "zero@0 first@2 second@11 ahead@13 third@13 evening@15");
    EXPECT_TRUE(port->exhausted());
    const std::vector<std::string> remarks = port->remarks();
    ASSERT_EQ(remarks.size(), 4U);
    EXPECT_EQ(remarks[0], scratch.file("a") +
                              ": the time of record 2 leaps ahead by 456000.0 "
                              "hours, which were skipped");
    EXPECT_NE(remarks[1].find("record 4 leaps ahead by 48000.0 hours"), std::string::npos);
    EXPECT_NE(remarks[2].find("record 5 leaps back by 48000.0 hours"), std::string::npos);
    EXPECT_NE(remarks[3].find("record 6 leaps ahead by 1.0 hours"), std::string::npos);
}

TEST(PcapPort, WaitsAnHourAndPassesOverWhatNoPortHasFramesIn) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a"),
                  {{"a0", 0}, {"a1h", 3600 * second_ns}, {"a5h", 18000 * second_ns}});
    write_capture(scratch.file("b"), {{"b4h", 14400 * second_ns}, {"b4h1s", 14401 * second_ns}});
    const auto start = std::make_shared<ReplayStart>();
    const auto a = open_port({scratch.file("a")}, Pace{3600}, start);
    const auto b = open_port({scratch.file("b")}, Pace{3600}, start);
    PcapPort* const ports[] = {a.get(), b.get()};
    EXPECT_EQ(played(ports, second_ns, second_ns / 10, 60), "a0@0 a1h@10 b4h@12 b4h1s@12 a5h@21");
    ASSERT_EQ(b->remarks().size(), 1U);
    EXPECT_NE(b->remarks()[0].find("record 1 leaps ahead by 2.9 hours"), std::string::npos)
        << b->remarks()[0];
    EXPECT_TRUE(a->remarks().empty());
}

TEST(PcapPort, ReportsSomeOfManyLeaps) {
    const ScratchDirectory scratch;
    std::vector<Frame> frames;
    for (int i = 0; i < 10; ++i) {
        frames.push_back({"x", i % 2 * day_ns});
    }
    write_capture(scratch.file("a"), frames);
    const auto port = open_port({scratch.file("a")}, Pace{1}, std::make_shared<ReplayStart>());
    PcapPort* const ports[] = {port.get()};
    static_cast<void>(played(ports, day_ns, second_ns / 10, 40));
    EXPECT_TRUE(port->exhausted());
    ASSERT_EQ(port->remarks().size(), 9U);
    EXPECT_EQ(port->remarks()[8], "1 more leaps in the times of records were skipped");
}

TEST(PcapPort, CapturesReplayedTogetherKeepTheirDistance) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a"), {{"a0", 1000}, {"a600", 1600}});
    write_capture(scratch.file("b"), {{"b500", 1500}, {"b600", 1600}});
    const auto start = std::make_shared<ReplayStart>();
    const auto open = [&](const char* name) {
        return open_port({scratch.file(name)}, Pace{2.0}, start);
    };
    const auto b = open("b");
    const auto a = open("a");
    EXPECT_EQ(drain(*b, 5000), Names{}) << "it is not the first to begin";
    EXPECT_EQ(drain(*a, 5010), (Names{"a0"}));
    EXPECT_EQ(drain(*b, 5249), Names{});
    EXPECT_EQ(drain(*b, 5250), (Names{"b500"}));
    EXPECT_EQ(drain(*a, 5300), (Names{"a600"}));
    EXPECT_EQ(drain(*b, 5300), (Names{"b600"}));
}

TEST(PcapPort, StampsPacketsWithCaptureTime) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a"), {{"x", 1'700'000'000'000'000'007}});
    const auto opened = open_port({scratch.file("a")});
    PcapPort& port = *opened;
    std::array<Packet, 4> burst;
    ASSERT_EQ(port.receive(burst, 99), 1U);
    EXPECT_EQ(burst[0].ts_receive_ns, 1'700'000'000'000'000'007);
    EXPECT_EQ(burst[0].udp_checksum, Checksum::unknown);
}

TEST(PcapPort, EachFrameGoesToExactlyOneQueue) {
    const ScratchDirectory scratch;
    const Group second{Ipv4{0xE000CC02}, 45002};
    const Group nobody{Ipv4{0xE000CC03}, 45003};
    write_capture(scratch.file("a"),
                  {{"first", 1}, {"second", 2, second}, {"nobody", 3, nobody}, {"first", 4}});
    const auto open = [&](GroupFilter filter) {
        return open_port({scratch.file("a")}, {}, std::make_shared<ReplayStart>(),
                         std::move(filter));
    };
    const Group first = route_of_tests.destination;
    EXPECT_EQ(drain(*open({{first}, {second}, true}), 0), (Names{"first", "nobody", "first"}));
    EXPECT_EQ(drain(*open({{second}, {first}, false}), 0), (Names{"second"}));
    EXPECT_EQ(drain(*open({{}, {first, second}, false}), 0), Names{});
    EXPECT_EQ(drain(*open({{}, {first, second}, true}), 0), (Names{"nobody"}));
    EXPECT_EQ(drain(*open({}), 0).size(), 4U);
}

TEST(PcapPort, CountsAndReportsACutFile) {
    const ScratchDirectory scratch;
    write_capture(scratch.file("a"), {{"whole", 1}, {"cut", 2}});
    std::filesystem::resize_file(scratch.file("a"),
                                 std::filesystem::file_size(scratch.file("a")) - 1);
    const auto opened = open_port({scratch.file("a")});
    PcapPort& port = *opened;
    EXPECT_EQ(drain(port, 0), (Names{"whole"}));
    EXPECT_TRUE(port.exhausted());
    EXPECT_EQ(port.statistics().errors, 1U);
    ASSERT_EQ(port.remarks().size(), 1U);
    EXPECT_NE(port.remarks()[0].find("within record 2"), std::string::npos) << port.remarks()[0];
}

TEST(PcapPort, ReportsFramesOfItsGroupsThatTheSnapshotLengthCut) {
    const ScratchDirectory scratch;
    const Bytes whole = udp_frame(route_of_tests, bytes_of("a payload that is cut"));
    const Bytes foreign = udp_frame(route_to(Ipv4{0xE000CC09}, 45009), bytes_of("cut as well"));
    const Bytes padded = udp_frame(route_of_tests, {});
    const auto length = [](const Bytes& bytes) { return static_cast<std::uint32_t>(bytes.size()); };
    write_raw_capture(scratch.file("cut"), 0xA1B2C3D4, 1, std::span(whole).first(50), 0,
                      ByteOrder::host, length(whole));
    write_raw_capture(scratch.file("foreign"), 0xA1B2C3D4, 1, std::span(foreign).first(50), 0,
                      ByteOrder::host, length(foreign));
    write_raw_capture(scratch.file("padded"), 0xA1B2C3D4, 1, padded, 0, ByteOrder::host, 60);
    GroupFilter filter;
    filter.own = {route_of_tests.destination};
    const auto port =
        open_port({scratch.file("cut"), scratch.file("foreign"), scratch.file("padded")}, {},
                  std::make_shared<ReplayStart>(), filter);
    std::array<Packet, 4> burst;
    EXPECT_EQ(port->receive(burst, 0), 3U);
    ASSERT_EQ(port->unread().size(), 1U);
    EXPECT_NE(port->unread()[0].find("cut: the snapshot length of the capture cut 1 packets"),
              std::string::npos)
        << port->unread()[0];
    EXPECT_EQ(port->statistics().errors, 0U);
}

std::ptrdiff_t open_files() {
    const std::filesystem::directory_iterator folder{"/proc/self/fd"};
    return std::distance(begin(folder), end(folder));
}

/// There are more files than may be open at once. Each overlaps with the next, and is opened again
/// when it is due.
TEST(PcapPort, OpensManyFilesWhenTheyAreDue) {
    const ScratchDirectory scratch;
    Names files;
    Names expected;
    for (int i = 0; i < 200; ++i) {
        const std::string name = std::to_string(i);
        write_capture(scratch.file(name), {{name, 10 * i}, {name + "+", 10 * i + 15}});
        files.push_back(scratch.file(name));
        expected.push_back(name);
        if (i > 0) {
            expected.push_back(std::to_string(i - 1) + "+");
        }
    }
    expected.emplace_back("199+");
    std::rotate(files.begin(), files.begin() + 120, files.end());
    const auto before = open_files();
    const auto port = open_port(files);
    Names received;
    std::array<Packet, 4> burst;
    while (!port->exhausted()) {
        EXPECT_LT(open_files() - before, 70);
        const auto payloads = payloads_of(std::span(burst).first(port->receive(burst, 0)));
        received.insert(received.end(), payloads.begin(), payloads.end());
    }
    EXPECT_EQ(received, expected);
    EXPECT_EQ(open_files(), before);
    EXPECT_TRUE(port->unread().empty());
}

TEST(PcapPort, ReportsAFileThatIsGoneWhenItIsDue) {
    const ScratchDirectory scratch;
    Names files;
    // More than what is read ahead of the first packet.
    constexpr std::size_t first_frames = 2000;
    files.push_back(scratch.file("first"));
    write_capture(files.back(), std::vector<Frame>(first_frames, Frame{std::string(1400, 'x'), 0}));
    for (int i = 1; i < 70; ++i) {
        files.push_back(scratch.file(std::to_string(i)));
        write_capture(files.back(), {{std::to_string(i), i}});
    }
    const auto port = open_port(files);
    std::filesystem::remove(files[69]);
    EXPECT_EQ(drain(*port, 0).size(), first_frames + 68);
    EXPECT_TRUE(port->exhausted());
    EXPECT_EQ(port->statistics().errors, 1U);
    ASSERT_EQ(port->unread().size(), 1U);
    EXPECT_NE(port->unread()[0].find("69: could be opened at the start"), std::string::npos)
        << port->unread()[0];
}

TEST(PcapPort, TakesTheCapturesOfAFolder) {
    const ScratchDirectory scratch;
    std::filesystem::create_directory(scratch.file("below"));
    std::ofstream(scratch.file("notes.txt")) << "no capture";
    std::ofstream(scratch.file("pcap")) << "no capture by its name";
    for (const char* name : {"a.pcap", "b.pcap2", "c.cap", "below/d.pcapng"}) {
        write_capture(scratch.file(name), {{name, 1}});
    }
    EXPECT_EQ(drain(*open_port({scratch.file("")}), 0),
              (Names{"a.pcap", "b.pcap2", "below/d.pcapng", "c.cap"}));
    std::filesystem::create_directory(scratch.file("empty"));
    Problems problems;
    EXPECT_EQ(PcapPort::open("x", Names{scratch.file("empty")}, Pace{}, 4, problems), nullptr);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_NE(problems[0].text.find("has no capture"), std::string::npos) << problems[0].text;
}

TEST(PcapPort, SurvivesFramesLongerThanAnyPacket) {
    const ScratchDirectory scratch;
    Problems problems;
    auto writer = CaptureWriter::open(scratch.file("a"), problems);
    const Bytes huge(200'000, std::byte{0x55});
    for (int i = 0; i < 9; ++i) {
        writer->write(huge, i);
    }
    ASSERT_TRUE(writer->close(problems));
    const auto opened = open_port({scratch.file("a")});
    PcapPort& port = *opened;
    std::array<Packet, 4> burst;
    std::size_t total = 0;
    while (const std::size_t count = port.receive(burst, 0)) {
        total += count;
        for (const Packet& packet : std::span(burst).first(count)) {
            EXPECT_EQ(std::to_integer<int>(packet.bytes[packet.length_bytes - 1]), 0x55);
        }
    }
    EXPECT_EQ(total, 9U);
}

}  // namespace
}  // namespace pinstrike::nic
