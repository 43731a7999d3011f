// path: cold
//
// The state of a snapshot is given to the book of a replay, which the test answers for.
#include "actors/snapshot/snapshot_loader.h"

#include "actors/peer/state_frames.h"
#include "config/time_units.h"
#include "tests/actors/peer/sessions.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

namespace fs = std::filesystem;
using Kind = StateRecord::Kind;

constexpr std::int64_t snapshot_ns = 1'764'500'000 * second_ns;

class Loader : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "loader-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
        auto [near, far] = StateRings::make();
        book_.emplace(std::move(near));
        std::vector<std::optional<StateRings>> rings;
        rings.emplace_back(std::move(far));
        exchange_ = std::make_unique<peer::StateExchange>(Sharding::series, std::move(rings));
        port_ = gate_->add_port();
    }

    void TearDown() override { fs::remove_all(folder_); }

    /// A snapshot with one series.
    [[nodiscard]] feed::StateFile snapshot() const {
        const auto head = feed::bytes_of(feed::StateHead{"test", 20251130, snapshot_ns});
        peer::FrameWriter writer;
        peer::put(writer, peer::StateFrame{0, peer::test::quoted()});
        std::vector<std::byte> chunk(feed::state_chunk_head_bytes);
        chunk.insert(chunk.end(), writer.waiting().begin(), writer.waiting().end());
        feed::StateChunk facts;
        facts.end_ns = snapshot_ns;
        facts.records = 1;
        facts.frames_bytes = static_cast<std::uint32_t>(writer.waiting().size());
        feed::seal_state_chunk(chunk, facts);
        std::vector<std::byte> end(feed::state_chunk_head_bytes);
        feed::seal_state_chunk(end, {snapshot_ns, 1, 0, 0, 0});
        const std::string path = feed::state_path(folder_, snapshot_ns);
        std::ofstream out{path, std::ios::binary};
        const std::array<std::span<const std::byte>, 3> parts{head, chunk, end};
        for (const std::span<const std::byte> part : parts) {
            out.write(reinterpret_cast<const char*>(part.data()),
                      static_cast<std::streamsize>(part.size()));
        }
        out.close();
        Problems problems;
        return *feed::StateFile::open(path, problems);
    }

    /// Replays to this moment. The port has packets at these times, and the book refuses the series
    /// because no message of its line has come. Returns how often the series was given.
    std::size_t replay(std::int64_t from_ns, std::span<const std::int64_t> packets) {
        std::uint64_t marks = 0;
        SnapshotLoader loader{SnapshotReader{snapshot()},
                              {"", from_ns, gate_, INT64_MIN},
                              {{peer::test::quoted().line}, {}},
                              *exchange_,
                              {[&] { return ++marks; }, [] { return true; },
                               [&](std::uint16_t) { return passed(packets); }}};
        std::size_t given = 0;
        for (int step = 0; step < 10'000 && !loader.over(); ++step) {
            const auto next = std::ranges::find_if_not(
                packets, [&](std::int64_t ts_ns) { return gate_->passes(ts_ns); });
            gate_->hold(port_, next == packets.end() ? nic::ReplayGate::never_ns : *next);
            loader.step();
            const auto records = book_->in.peek(StateRings::slots_wanted);
            for (StateRecord answer : records) {
                given += answer.kind == Kind::series ? 1 : 0;
                answer.kind = answer.kind == Kind::series ? Kind::refused : answer.kind;
                answer.verdict = StateVerdict::unheard;
                EXPECT_TRUE(book_->out.try_push({&answer, 1}));
            }
            book_->in.release(records.size());
        }
        EXPECT_TRUE(loader.over());
        EXPECT_EQ(loader.refused().read(), 1U);
        return given;
    }

    /// How many packets are in front of the gate.
    [[nodiscard]] std::uint64_t passed(std::span<const std::int64_t> packets) const {
        return static_cast<std::uint64_t>(std::ranges::count_if(
            packets, [&](std::int64_t ts_ns) { return gate_->passes(ts_ns); }));
    }

    std::string folder_;
    std::optional<StateRings> book_;
    std::unique_ptr<peer::StateExchange> exchange_;
    std::shared_ptr<nic::ReplayGate> gate_ = std::make_shared<nic::ReplayGate>();
    std::size_t port_ = 0;
};

TEST_F(Loader, GivesASeriesAgainWhenPacketsHaveCome) {
    std::vector<std::int64_t> packets;
    for (std::int64_t after_ns = 0; after_ns < 3 * second_ns; after_ns += 10 * ms_ns) {
        packets.push_back(snapshot_ns + after_ns);
    }
    EXPECT_GT(replay(snapshot_ns + 10 * second_ns, packets), 20U);
}

TEST_F(Loader, DoesNotGiveASeriesAgainWithoutPackets) {
    const std::vector<std::int64_t> packets{snapshot_ns - ms_ns, snapshot_ns + 8 * second_ns};
    EXPECT_EQ(replay(snapshot_ns + 10 * second_ns, packets), 2U);
    EXPECT_TRUE(gate_->is_open());
}

}  // namespace
}  // namespace pinstrike::actors
