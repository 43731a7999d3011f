// path: cold
//
// Runs the contract of all ports on those that need no kernel: the simulator and captures.
#include "nic/capture/capture_config.h"
#include "nic/capture/capture_writer.h"
#include "nic/open_port.h"
#include "nic/sim/sim_port.h"
#include "tests/nic/port_contract.h"

#include <gtest/gtest.h>

namespace pinstrike::nic {
namespace {

/// Returns each of its frames once, from memory.
class ListSource final : public FrameSource {
  public:
    explicit ListSource(std::vector<Bytes> frames) : frames_(std::move(frames)) {}

    std::size_t fill(std::span<Packet> burst, std::int64_t now_ns) override {
        std::size_t count = 0;
        for (; count < burst.size() && next_ < frames_.size(); ++count, ++next_) {
            burst[count] = packet_of(frames_[next_]);
            burst[count].ts_receive_ns = now_ns;
        }
        return count;
    }

    [[nodiscard]] bool exhausted() const override { return next_ == frames_.size(); }

  private:
    std::vector<Bytes> frames_;
    std::size_t next_ = 0;
};

std::unique_ptr<Port> open_one(const PortConfig& config, const FrameSourceFactory& make_source) {
    Problems problems;
    auto ports = open_port(config, {contract_groups}, make_source, problems);
    for (const Problem& problem : problems) {
        ADD_FAILURE() << problem.place.text() << ": " << problem.text;
    }
    return ports.size() == 1 ? std::move(ports[0]) : nullptr;
}

TEST(PortContract, Sim) {
    port_contract([](const std::vector<Bytes>& frames) {
        PortConfig config;
        config.kind = PortKind::sim;
        return open_one(config,
                        [&](const PortConfig&, const std::vector<Group>& groups, Problems&) {
                            EXPECT_EQ(groups, contract_groups);
                            return std::make_unique<ListSource>(frames);
                        });
    });
}

class CaptureContract : public testing::TestWithParam<const char*> {};

TEST_P(CaptureContract, Holds) {
    const ScratchDirectory scratch;
    port_contract([&](const std::vector<Bytes>& frames) {
        PortConfig config;
        config.kind = PortKind::capture;
        config.own.get<CaptureConfig>().files = {scratch.file(std::string("even") + GetParam()),
                                                 scratch.file(std::string("odd") + GetParam())};
        for (std::size_t file = 0; file < 2; ++file) {
            Problems problems;
            auto writer =
                CaptureWriter::open(config.own.get<CaptureConfig>().files[file], problems);
            for (std::size_t i = file; i < frames.size(); i += 2) {
                writer->write(frames[i], static_cast<std::int64_t>(1000 + i));
            }
            EXPECT_TRUE(writer->close(problems));
        }
        return open_one(config, nullptr);
    });
}

INSTANTIATE_TEST_SUITE_P(PortContract, CaptureContract, testing::Values(".pcap", ".pcapng"));

TEST(OpenPort, ReportsEveryFileItCannotOpenAndOpensNothing) {
    PortConfig config;
    config.name = "replay";
    config.kind = PortKind::capture;
    config.own.get<CaptureConfig>().files = {"/nonexistent/a", "/nonexistent/b"};
    Problems problems;
    EXPECT_TRUE(open_port(config, {contract_groups, {}}, nullptr, problems).empty());
    EXPECT_EQ(problems.size(), 2U);
    config.own.get<CaptureConfig>().files.clear();
    EXPECT_TRUE(open_port(config, {contract_groups}, nullptr, problems).empty());
    EXPECT_EQ(problems.size(), 3U);
}

TEST(OpenPort, OpensOneQueueForEachPoller) {
    PortConfig config;
    config.name = "sim";
    config.kind = PortKind::sim;
    Problems problems;
    std::vector<std::vector<Group>> asked;
    const GroupsByQueue queues{{contract_groups[0]}, {contract_groups[1], contract_groups[2]}};
    const auto ports = open_port(
        config, queues,
        [&](const PortConfig&, const std::vector<Group>& groups, Problems&) {
            asked.push_back(groups);
            return std::make_unique<ListSource>(std::vector<Bytes>());
        },
        problems);
    ASSERT_EQ(ports.size(), 2U);
    EXPECT_EQ(asked, queues);
    EXPECT_EQ(ports[0]->name(), "sim/0");
    EXPECT_EQ(ports[1]->name(), "sim/1");
    EXPECT_TRUE(ports[0]->exhausted());
    EXPECT_FALSE(ports[0]->replays());
}

TEST(OpenPort, SharesACaptureAmongPollers) {
    const ScratchDirectory scratch;
    const std::vector<Bytes> frames = contract_frames(90);
    PortConfig config;
    config.name = "replay";
    config.kind = PortKind::capture;
    config.own.get<CaptureConfig>().files = {scratch.file("x.pcap")};
    Problems problems;
    auto writer = CaptureWriter::open(config.own.get<CaptureConfig>().files[0], problems);
    for (const Bytes& frame : frames) {
        writer->write(frame, 1);
    }
    ASSERT_TRUE(writer->close(problems));
    const auto ports =
        open_port(config, {{contract_groups[0]}, {contract_groups[1]}, {}}, nullptr, problems);
    ASSERT_EQ(ports.size(), 3U);
    const auto counts = [&](std::size_t queue) {
        std::size_t total = 0;
        std::array<Packet, 16> burst;
        while (const std::size_t count = ports[queue]->receive(burst, 0)) {
            total += count;
        }
        return total;
    };
    EXPECT_EQ(counts(0), 60U) << "its own group, and the one that is nobody's";
    EXPECT_EQ(counts(1), 30U);
    EXPECT_EQ(counts(2), 0U);
}

}  // namespace
}  // namespace pinstrike::nic
