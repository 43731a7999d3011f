// The poller alone: frames made by hand, a venue of a few lines, rings read by the test.
#include "actors/poller.h"

#include "actors/peer/peer_task.h"
#include "actors/recovery/recovery_task.h"
#include "nic/udp_frame.h"
#include "tests/actors/events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {
// clang-format off
#define TOY_REJECTS(ROW) \
    ROW(too_short, blocks, "shorter than its header") \
    ROW(odd, blocks, "let pass, but odd")
// clang-format on
PINSTRIKE_ROWS(ToyReject, TOY_REJECTS)

namespace {

using feed::Event;
using feed::EventKind;

/// A venue whose blocks are: first number (4 bytes), count (1), role and day (1). Every message is
/// a quote of one series, but number 50, a control that flushes quotes, 60, a test, and 70, the end
/// of day.
struct Toy {
    static constexpr feed::Venue venue = feed::Venue::opra;
    static constexpr std::size_t header_bytes = 6;
    using Reject = ToyReject;
    static constexpr const auto& reject_rows = ToyReject_rows;

    struct Scratch {
        std::array<std::uint16_t, 256> offsets{};
    };

    struct Result {
        bool accepted = false;
        std::uint32_t reasons = 0;
    };

    static constexpr bool separate_session(std::uint16_t) { return false; }

    static constexpr bool keeps_alive(std::uint16_t) { return true; }

    static Result check(std::span<const std::byte> payload, bool, Scratch& scratch,
                        feed::Block& out) {
        if (payload.size() < header_bytes) {
            return {false, 1};
        }
        out.bytes = payload;
        out.sequence = nic::load_be32(payload.data());
        out.messages = std::to_integer<std::uint16_t>(payload[4]);
        out.decodable = out.messages;
        const auto role_and_day = std::to_integer<std::uint8_t>(payload[5]);
        out.role = static_cast<feed::BlockRole>(role_and_day % 16);
        out.offsets = scratch.offsets.data();
        out.ts_exchange_ns = 1'000 * (1 + role_and_day / 16) + out.sequence;
        return {true, payload.size() > header_bytes ? 2U : 0U};
    }

    template <class Sink>
    static void decode(const feed::Block& block, unsigned first, unsigned count,
                       const feed::Header& base, bool, Sink& sink) {
        PINSTRIKE_CHECK(block.offsets != nullptr);
        for (unsigned i = first; i < first + count; ++i) {
            const std::uint32_t number = block.sequence + i;
            if (number == 60 && !sink.wants_tests()) {
                sink.filtered();
                continue;
            }
            Event event = testing::quote_of(testing::series_of("SPX"), number);
            if (number == 50) {
                event = testing::control_of('P', feed::Forget::quotes, number);
            } else if (number == 70) {
                event = testing::control_of('J', feed::Forget::nothing, number);
                event.body.control.ends_day = true;
            }
            const feed::EventKind kind = event.header.kind;
            event.header = base;
            event.header.kind = kind;
            event.header.sequence = number;
            if (kind == EventKind::control) {
                sink.broadcast(event);
            } else {
                *sink.claim(event.body.series, 1U) = event;
            }
        }
    }
};

/// A port that gives what the test puts in.
class Script : public nic::Port {
  public:
    explicit Script(bool replays = false, bool lends = false)
        : Port("script"), replays_(replays), lends_(lends) {}

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        handed_.clear();
        std::size_t filled = 0;
        while (filled < burst.size() && !waiting_.empty()) {
            handed_.push_back(std::move(waiting_.front()));
            waiting_.pop_front();
            const auto& [bytes, ts_ns] = handed_.back();
            burst[filled] = {};
            burst[filled].bytes = bytes.data();
            burst[filled].length_bytes = static_cast<std::uint32_t>(bytes.size());
            burst[filled].ts_receive_ns = replays_ ? ts_ns : now_ns;
            ++filled;
        }
        count_burst(burst.first(filled), burst.size());
        return filled;
    }

    [[nodiscard]] bool exhausted() const override { return waiting_.empty(); }

    [[nodiscard]] bool replays() const override { return replays_; }

    void on_igmp(const nic::Packet&, std::int64_t now_ns) override {
        ++igmp_frames;
        igmp_ns = now_ns;
    }

    [[nodiscard]] bool lends() const override { return lends_; }

    void lend(std::span<const std::uint16_t> places, std::span<nic::LentBuffer> buffers) override {
        for (std::size_t i = 0; i < places.size(); ++i) {
            lent.push_back(std::move(handed_[places[i]].first));
            buffers[i] = lent.back().data();
        }
    }

    void take_back(std::span<const nic::LentBuffer> buffers) const override {
        for (const nic::LentBuffer buffer : buffers) {
            EXPECT_EQ(
                std::erase_if(lent, [=](const auto& bytes) { return bytes.data() == buffer; }), 1U);
        }
    }

    mutable std::deque<std::vector<std::byte>> lent;

    void give(std::vector<std::byte> frame, std::int64_t ts_ns = 0) {
        waiting_.emplace_back(std::move(frame), ts_ns);
    }

    void housekeep(std::int64_t now_ns) override {
        EXPECT_GE(now_ns, housekept_ns) << "its time never goes back";
        housekept_ns = now_ns;
        ++housekept;
    }

    int igmp_frames = 0;
    int housekept = 0;
    std::int64_t housekept_ns = 0;
    std::int64_t igmp_ns = 0;

  private:
    bool replays_;
    bool lends_;
    std::deque<std::pair<std::vector<std::byte>, std::int64_t>> waiting_;
    std::deque<std::pair<std::vector<std::byte>, std::int64_t>> handed_;
};

constexpr nic::Group group_a{{0xE000'CC01}, 45001};
constexpr nic::Group group_b{{0xE000'CE01}, 45001};
constexpr nic::Group group_v{{0xE000'CC80}, 46001};
constexpr nic::Group group_other{{0xE000'CC02}, 45002};
constexpr std::uint32_t sender = 0xA245'2C04;  // 162.69.44.4

std::vector<std::byte> frame_of(std::span<const std::byte> payload, nic::Group to,
                                std::uint32_t from = sender) {
    std::vector<std::byte> frame(nic::udp_headers_bytes(0) + payload.size());
    std::copy(payload.begin(), payload.end(), frame.end() - static_cast<long>(payload.size()));
    nic::UdpRoute route{};
    route.source = {from};
    route.source_port = to.port;
    route.destination = to;
    nic::write_udp_headers(frame.data(), route, payload.size(), nic::UdpChecksumSent::computed);
    return frame;
}

std::vector<std::byte> block_frame(std::uint32_t first, std::uint8_t count, nic::Group to = group_a,
                                   feed::BlockRole role = feed::BlockRole::data,
                                   std::uint8_t day = 0) {
    std::array<std::byte, Toy::header_bytes> block{};
    nic::store_be32(block.data(), first);
    block[4] = std::byte{count};
    block[5] = static_cast<std::byte>(static_cast<unsigned>(role) + 16U * day);
    return frame_of(block, to);
}

std::vector<std::byte> igmp_frame() {
    auto frame = block_frame(11, 1);
    frame[23] = std::byte{2};               // the IPv4 protocol
    nic::store_be16(frame.data() + 24, 0);  // its checksum again
    nic::store_checksum(frame.data() + 24, nic::checksum_sum(frame.data() + 14, 20));
    return frame;
}

constexpr std::int64_t ms = 1'000'000;

enum class Keeps { nothing, copies, lent_buffers };

struct Scene {
    explicit Scene(bool replays = false, std::size_t ports = 1, LineHours hours = {},
                   Keeps keeps = Keeps::nothing) {
        auto ring = Ring<Event>::make(1024);
        consumer = std::make_unique<Consumer<Event>>(std::move(ring.consumer));
        std::vector<Producer<Event>> rings;
        rings.push_back(std::move(ring.producer));
        PollerSetup setup;
        setup.name = "poll0";
        setup.hours = std::move(hours);
        for (std::size_t i = 0; i < ports; ++i) {
            auto script = std::make_unique<Script>(replays, keeps == Keeps::lent_buffers);
            scripts.push_back(script.get());
            setup.ports.push_back({"script",
                                   std::move(script),
                                   nic::ChecksumCheck::software,
                                   {nic::Subnet{{0xA245'2C00}, 0xFFFF'FF00}},
                                   8});
        }
        feed::LineConfig line;
        line.number = 1;
        line.streams = {group_a, group_b};
        line.retransmission[0] = group_v;
        setup.lines.push_back(line);
        auto [ends, others] = make_roads({1});
        setup.roads = std::move(ends);
        roads = std::make_unique<RecoveryRoads>(std::move(others));
        std::optional<Ring<FirstCopy>::Halves> copies;
        if (keeps != Keeps::nothing) {
            copies = Ring<FirstCopy>::make(Ring<FirstCopy>::slots_for(1));
            setup.history = std::make_unique<HistoryRoad>(std::move(copies->producer));
        }
        poller = std::make_unique<Poller<Toy>>(
            std::move(setup),
            Router{{Sharding::series, WhenFull::refuse, 1}, std::move(rings), {nullptr}});
        if (copies) {
            HistoryRoadEnd end{{1}, {}, std::move(copies->consumer)};
            for (const Script* script : scripts) {
                end.ports.push_back(script);
            }
            constexpr std::array<std::uint16_t, 1> lines{1};
            peers = std::make_unique<peer::PeerTask>(
                std::make_unique<feed::History>(
                    lines, feed::HistoryConfig{.keep_ns = 1'000'000 * ms, .memory_bytes = 1 << 20}),
                nullptr);
            peers->add_road(std::move(end));
        }
    }

    /// First numbers of what is kept.
    std::string kept() {
        peers->step(1'000 * ms);
        std::string words;
        for (const feed::KeptBlock& block :
             peers->history()->find({1, 1, 1, 1000, 0, std::numeric_limits<std::int64_t>::max()})) {
            EXPECT_EQ(nic::load_be32(block.bytes.data()), block.first);
            EXPECT_EQ(block.bytes.size(), Toy::header_bytes);
            words += fmt::format("{}{}", words.empty() ? "" : " ", block.first);
        }
        return words;
    }

    /// Looks now and then, as a poller does, for a while up to this time.
    void step_to(std::int64_t now_ns) {
        constexpr std::int64_t often_ns = 500 * ms;
        const std::int64_t while_ns = now_ns - 8'000 * ms;
        const bool goes_on = stepped_ns < now_ns;
        for (std::int64_t at_ns = goes_on ? std::max(stepped_ns, while_ns) : while_ns;
             at_ns < now_ns; at_ns += often_ns) {
            poller->step(std::max<std::int64_t>(at_ns, 1));
        }
        poller->step(now_ns);
        stepped_ns = now_ns;
    }

    /// Everything that has come to the core, in words.
    std::string told() {
        std::string words;
        const auto records = consumer->peek(1024);
        for (const Event& event : records) {
            const auto& gap = event.body.gap;
            words += words.empty() ? "" : " ";
            words += event.header.kind == EventKind::gap
                         ? fmt::format("gap{}-{}", gap.first, gap.last)
                     : event.header.kind == EventKind::line_state
                         ? fmt::format("{}:{}", event.body.line_state.stream,
                                       static_cast<int>(event.body.line_state.state))
                     : event.header.kind == EventKind::control
                         ? fmt::format("{}{}", event.header.type, event.header.sequence)
                         : fmt::format("{}{}", event.header.sequence,
                                       event.header.flags == 0 ? "" : "!");
        }
        consumer->release(records.size());
        return words;
    }

    /// What was noted for recovery: "?11-12 !11-11", missing and found.
    std::string noted() {
        std::string words;
        const auto notes = roads->notes.peek(100);
        for (const RepairNote& note : notes) {
            words += words.empty() ? "" : " ";
            words += fmt::format("{}{}-{}", note.kind == RepairNote::Kind::missing ? "?" : "!",
                                 feed::number_at(note.begin), feed::number_at(note.end - 1));
        }
        roads->notes.release(notes.size());
        return words;
    }

    /// Recovery brings a block.
    void bring(std::uint32_t first, std::uint8_t count) {
        const std::vector<std::byte> frame = block_frame(first, count);
        EXPECT_TRUE(roads->carry(0, std::span(frame).last(Toy::header_bytes)));
    }

    [[nodiscard]] std::uint64_t dropped(nic::Drop drop) const {
        return poller->drops(0).read(drop);
    }

    std::int64_t stepped_ns = 0;
    std::vector<Script*> scripts;
    std::unique_ptr<Consumer<Event>> consumer;
    std::unique_ptr<RecoveryRoads> roads;
    std::unique_ptr<Poller<Toy>> poller;
    std::unique_ptr<peer::PeerTask> peers;  ///< where something is kept
};

TEST(Poller, delivers_each_message_of_two_streams_once_and_in_order) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 2, group_a));
    scene.scripts[0]->give(block_frame(10, 2, group_b));
    scene.scripts[0]->give(block_frame(12, 1, group_b));
    scene.scripts[0]->give(block_frame(12, 1, group_a));
    EXPECT_EQ(scene.poller->step(1 * ms), 4U);
    EXPECT_EQ(scene.told(), "10 11 12");
    EXPECT_EQ(scene.poller->step(2 * ms), 0U);
    EXPECT_EQ(scene.poller->arbiter(0).counters().read(feed::LineCount::delivered), 3U);
}

TEST(Poller, counts_every_frame_that_is_no_lines) {
    Scene scene;
    const std::array<std::byte, 8> payload{};
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(frame_of(payload, group_other));
    scene.scripts[0]->give(frame_of(payload, group_a, 0x0A00'0001));
    auto damaged = block_frame(11, 1);
    damaged.back() ^= std::byte{1};
    scene.scripts[0]->give(damaged);
    scene.scripts[0]->give(std::vector<std::byte>(10));
    scene.scripts[0]->give(igmp_frame());
    scene.scripts[0]->give(frame_of(std::span{payload}.first(3), group_a));
    scene.poller->step(1 * ms);
    EXPECT_EQ(scene.told(), "10");
    EXPECT_EQ(scene.dropped(nic::Drop::unknown_group), 1U);
    EXPECT_EQ(scene.dropped(nic::Drop::foreign_source), 1U);
    EXPECT_EQ(scene.dropped(nic::Drop::udp_checksum), 1U);
    EXPECT_EQ(scene.dropped(nic::Drop::frame_truncated), 1U);
    EXPECT_EQ(scene.dropped(nic::Drop::igmp), 1U);
    EXPECT_EQ(scene.scripts[0]->igmp_frames, 1);
    EXPECT_EQ(scene.poller->rejects(0, 0), 1U) << "a block of 3 bytes";
    EXPECT_EQ(scene.poller->handed(0), 2U);
    EXPECT_EQ(scene.poller->port(0).counters().packets.read(),
              scene.poller->handed(0) + scene.poller->drops(0).sum());
}

TEST(Poller, declares_a_hole_lost_after_the_window_and_delivers_what_waited) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(13, 2));
    scene.poller->step(1 * ms);
    EXPECT_EQ(scene.told(), "10");
    scene.poller->step(2 * ms);
    EXPECT_EQ(scene.told(), "");
    scene.poller->step(5 * ms);
    EXPECT_EQ(scene.told(), "gap11-12 13 14");
    scene.scripts[0]->give(block_frame(11, 1, group_b));
    scene.poller->step(6 * ms);
    EXPECT_EQ(scene.told(), "11! gap11-11") << "late, then the news that it is repaired";
}

TEST(Poller, what_a_retransmission_group_brings_only_fills_what_is_missing) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(11, 1, group_v));
    scene.scripts[0]->give(block_frame(40, 1, group_v));
    scene.poller->step(1 * ms);
    EXPECT_EQ(scene.told(), "10 11! 12");
    EXPECT_EQ(scene.poller->retransmission_packets(0), 2U);
    EXPECT_EQ(scene.poller->arbiter(0).counters().read(feed::LineCount::unasked), 1U);
}

TEST(Poller, notes_a_hole_and_takes_what_recovery_brings_in_order) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(13, 1));
    scene.poller->step(1 * ms);
    EXPECT_EQ(scene.noted(), "?11-12");
    scene.bring(11, 2);
    scene.bring(40, 1);
    EXPECT_EQ(scene.poller->step(1 * ms + 1), 2U);
    EXPECT_EQ(scene.told(), "10 11! 12! 13");
    EXPECT_EQ(scene.noted(), "!11-12");
    EXPECT_EQ(scene.poller->roads()->repairs_taken().read(), 2U);
    EXPECT_EQ(scene.poller->arbiter(0).counters().read(feed::LineCount::repaired), 2U);
    EXPECT_EQ(scene.poller->arbiter(0).counters().read(feed::LineCount::unasked), 1U);
    EXPECT_EQ(scene.poller->retransmission_packets(0), 0U) << "they were in no packet";
}

TEST(Poller, takes_what_recovery_brings_late_as_late) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    for (int at = 1; at <= 6; ++at) {
        scene.poller->step(at * ms);
    }
    EXPECT_EQ(scene.told(), "10 gap11-11 12");
    scene.bring(11, 1);
    scene.poller->step(7 * ms);
    EXPECT_EQ(scene.told(), "11! gap11-11");
}

TEST(Poller, refuses_a_bad_repair_by_reason) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.poller->step(1 * ms);
    const std::array<std::byte, 3> cut{};
    EXPECT_TRUE(scene.roads->carry(0, cut));
    EXPECT_TRUE(scene.roads->carry(0, {}));
    scene.poller->step(2 * ms);
    EXPECT_EQ(scene.poller->rejects(0, 0), 2U);
    EXPECT_EQ(scene.told(), "10");
}

TEST(Poller, at_the_end_takes_what_recovery_had_brought) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(110, 1));
    scene.poller->step(1 * ms);
    for (std::uint32_t number = 11; number < 110; ++number) {
        if (number != 50 && number != 60) {  // a control, and a test
            scene.bring(number, 1);
        }
    }
    scene.poller->finish();
    EXPECT_EQ(scene.poller->arbiter(0).counters().read(feed::LineCount::repaired), 97U);
    EXPECT_EQ(scene.poller->arbiter(0).counters().read(feed::LineCount::lost), 2U);
}

TEST(Poller, a_stop_of_its_thread_loses_nothing_that_waits_in_the_queue) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.poller->step(1 * ms);
    scene.scripts[0]->give(block_frame(12, 1));
    scene.poller->step(2 * ms);
    scene.scripts[0]->give(block_frame(14, 1));  // all of this came while the thread was stopped
    scene.scripts[0]->give(block_frame(11, 1, group_b));
    scene.scripts[0]->give(block_frame(13, 1, group_b));
    scene.poller->step(40 * ms);
    EXPECT_EQ(scene.told(), "10 11 12 13 14");
}

class PollerKeeps : public ::testing::TestWithParam<Keeps> {};

TEST_P(PollerKeeps, first_copies_alone) {
    Scene scene{false, 1, {}, GetParam()};
    scene.scripts[0]->give(block_frame(10, 2));
    scene.scripts[0]->give(block_frame(10, 2, group_b));
    scene.scripts[0]->give(block_frame(12, 1, group_b));
    scene.scripts[0]->give(igmp_frame());
    scene.scripts[0]->give(block_frame(14, 1));  // waits for 13
    scene.scripts[0]->give(block_frame(12, 1));
    scene.scripts[0]->give(block_frame(14, 0, group_a, feed::BlockRole::line_integrity));
    scene.poller->step(1 * ms);
    EXPECT_EQ(scene.kept(), "10 12 14");
    scene.scripts[0]->give(block_frame(14, 1, group_b));
    scene.scripts[0]->give(block_frame(13, 1, group_v));
    scene.poller->step(2 * ms);
    scene.bring(13, 1);  // a peer has it as well, too late
    scene.poller->step(2 * ms);
    EXPECT_EQ(scene.kept(), "10 12 14 13");
    EXPECT_EQ(scene.told(), "10 11 12 13! 14");
    EXPECT_EQ(scene.poller->history()->skipped().read(), 0U);
    EXPECT_TRUE(scene.scripts[0]->lent.empty());
}

TEST_P(PollerKeeps, what_a_peer_brought) {
    Scene scene{false, 1, {}, GetParam()};
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    scene.poller->step(1 * ms);
    scene.bring(11, 1);
    scene.poller->step(1 * ms);
    EXPECT_EQ(scene.kept(), "10 12 11");
}

TEST_P(PollerKeeps, skips_what_finds_no_room_and_waits_for_nobody) {
    Scene scene{false, 1, {}, GetParam()};
    const std::size_t slots = Ring<FirstCopy>::slots_for(1);
    const std::size_t room = GetParam() == Keeps::copies ? slots / 2 : slots;
    for (std::uint32_t i = 0; i < room + 20; ++i) {
        scene.scripts[0]->give(block_frame(100 + i, 1));
        scene.poller->step(1 * ms);
    }
    EXPECT_EQ(scene.poller->history()->skipped().read(), 20U);
    EXPECT_EQ(scene.scripts[0]->lent.size(), GetParam() == Keeps::copies ? 0 : room);
    scene.peers->finish();
    EXPECT_EQ(scene.peers->history()->blocks(), room);
    EXPECT_TRUE(scene.scripts[0]->lent.empty());
}

INSTANTIATE_TEST_SUITE_P(Both, PollerKeeps, ::testing::Values(Keeps::copies, Keeps::lent_buffers));

TEST(Poller, hands_queries_to_their_port_with_a_time_that_does_not_stand_still) {
    Scene scene;
    scene.poller->step(1 * ms);
    scene.scripts[0]->give(igmp_frame());
    scene.poller->step(40 * ms);  // arbitration time stood still
    EXPECT_EQ(scene.scripts[0]->igmp_ns, 40 * ms);
}

TEST(Poller, housekeeping_goes_on_when_the_clock_is_set) {
    constexpr std::int64_t hour = 3'600'000 * ms;
    Scene scene;
    for (const std::int64_t begin_ns : {2 * hour, hour, 3 * hour}) {
        const int before = scene.scripts[0]->housekept;
        for (int i = 0; i < 400; ++i) {
            scene.poller->step(begin_ns + i * ms / 4);
        }
        EXPECT_GT(scene.scripts[0]->housekept, before + 30) << "in 100 ms, about each";
    }
}

TEST(Poller, tells_controls_to_the_cores_and_counts_them_and_what_is_filtered) {
    Scene scene;
    scene.scripts[0]->give(block_frame(0, 1, group_a, feed::BlockRole::start_of_day));
    scene.scripts[0]->give(block_frame(0, 1, group_b, feed::BlockRole::start_of_day));
    scene.scripts[0]->give(block_frame(1, 1));
    scene.poller->step(1 * ms);
    EXPECT_EQ(scene.told(), "C0 1");
    scene.scripts[0]->give(block_frame(49, 2, group_a, feed::BlockRole::data));
    for (std::int64_t now_ns = 10 * ms; now_ns <= 20 * ms; now_ns += ms) {
        scene.poller->step(now_ns);
    }
    EXPECT_EQ(scene.told(), "gap2-48 49  50") << "the control has no type here but a space";
    scene.scripts[0]->give(block_frame(51, 10));
    scene.poller->step(21 * ms);
    EXPECT_EQ(scene.told(), "51 52 53 54 55 56 57 58 59");
    const auto& counts = scene.poller->arbiter(0).counters();
    EXPECT_EQ(counts.read(feed::LineCount::controls), 1U) << "a start of day has no number";
    EXPECT_EQ(counts.read(feed::LineCount::filtered), 1U);
}

TEST(Poller, at_the_end_what_is_missing_is_lost_and_what_waited_is_delivered) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1));
    scene.scripts[0]->give(block_frame(12, 1));
    scene.poller->step(1 * ms);
    EXPECT_EQ(scene.told(), "10");
    scene.poller->finish();
    EXPECT_EQ(scene.told(), "gap11-11 12");
}

TEST(Poller, captures_are_merged_by_time_and_timers_run_on_it) {
    Scene scene{true, 2};
    scene.scripts[0]->give(block_frame(10, 1), 100 * ms);
    scene.scripts[1]->give(block_frame(11, 1, group_b), 101 * ms);
    scene.scripts[0]->give(block_frame(12, 1), 102 * ms);
    scene.scripts[0]->give(block_frame(14, 1), 103 * ms);           // 13 is missing
    scene.scripts[1]->give(block_frame(15, 1, group_b), 200 * ms);  // long after the window
    scene.scripts[0]->give(block_frame(13, 1), 201 * ms);           // too late
    while (scene.poller->step(7) != 0) {                            // wall time does not count
    }
    EXPECT_EQ(scene.told(), "10 11 12 gap13-13 14 15 13! gap13-13");
    EXPECT_TRUE(scene.poller->exhausted());
}

TEST(LineRoutes, finds_what_was_put_in_and_nothing_else) {
    std::vector<LineRoutes::Entry> entries;
    for (std::uint32_t i = 0; i < 400; ++i) {
        entries.push_back({{{0xE000'CC00 + i}, static_cast<std::uint16_t>(45'000 + i)},
                           {i, feed::Stream::b, i % 2 == 0}});
    }
    const LineRoutes routes{entries};
    for (std::uint32_t i = 0; i < 400; ++i) {
        const LineRoute* route =
            routes.find(0xE000'CC00 + i, static_cast<std::uint16_t>(45'000 + i));
        ASSERT_NE(route, nullptr);
        EXPECT_EQ(route->line, i);
        EXPECT_EQ(routes.find(0xE000'CC00 + i, static_cast<std::uint16_t>(46'000 + i)), nullptr);
    }
    EXPECT_EQ(LineRoutes{}.find(1, 1), nullptr);
}

TEST(Poller, tells_every_core_of_a_stream_that_falls_silent_and_of_its_return) {
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1, group_a));
    scene.scripts[0]->give(block_frame(10, 1, group_b));
    scene.step_to(1'000 * ms);
    EXPECT_EQ(scene.told(), "10");
    scene.step_to(8'000 * ms);
    scene.scripts[0]->give(block_frame(11, 1, group_a));
    scene.step_to(14'000 * ms);
    EXPECT_EQ(scene.told(), "11 B:1");
    scene.step_to(15'000 * ms);
    EXPECT_EQ(scene.told(), "");
    EXPECT_EQ(scene.poller->watch(0).state(feed::Stream::b), feed::LineState::stream_silent);
    scene.step_to(21'000 * ms);
    EXPECT_EQ(scene.told(), "A:1  :3");
    EXPECT_TRUE(scene.poller->watch(0).down());
    scene.scripts[0]->give(block_frame(11, 1, group_b));
    scene.step_to(22'000 * ms);
    EXPECT_EQ(scene.told(), "B:0  :0");
}

TEST(Poller, takes_a_clock_that_is_set_for_no_silence) {
    constexpr std::int64_t hour = 3'600'000 * ms;
    Scene scene;
    scene.scripts[0]->give(block_frame(10, 1, group_a));
    scene.scripts[0]->give(block_frame(10, 1, group_b));
    scene.step_to(1'000 * ms);
    EXPECT_EQ(scene.told(), "10");
    scene.poller->step(hour);
    scene.step_to(hour + 5'000 * ms);
    EXPECT_EQ(scene.told(), "");
    scene.poller->step(1 * ms);
    scene.step_to(9'000 * ms);
    EXPECT_EQ(scene.told(), "A:1 B:1  :3") << "though it was set back, too";
}

TEST(Poller, measures_by_how_much_a_stream_is_ahead) {
    Scene scene;
    scene.scripts[0]->give(block_frame(9, 1, group_a));
    scene.scripts[0]->give(block_frame(9, 1, group_b));
    scene.scripts[0]->give(block_frame(10, 2, group_a));
    scene.poller->step(1 * ms);
    scene.scripts[0]->give(block_frame(12, 1, group_a));  // not measured: one at a time
    scene.poller->step(2 * ms);
    scene.scripts[0]->give(block_frame(10, 2, group_b));
    scene.scripts[0]->give(block_frame(12, 1, group_b));
    scene.poller->step(4 * ms);
    const auto lead = scene.poller->lead(0, feed::Stream::a).snapshot();
    EXPECT_EQ(lead.count, 1U);
    EXPECT_EQ(lead.sum_ns, 3U * ms);
    EXPECT_EQ(scene.poller->lead(0, feed::Stream::b).snapshot().count, 0U);
}

TEST(Poller, gives_no_core_what_is_a_test_outside_session_hours) {
    const feed::SessionHours hours{{{0, 100 * ms}, {500 * ms, 600 * ms}}};
    Scene scene{false, 1, {hours, hours}};
    std::uint8_t day = 0;
    const auto both = [&](std::uint32_t first, std::uint8_t count, std::int64_t at_ms,
                          feed::BlockRole role = feed::BlockRole::data) {
        scene.scripts[0]->give(block_frame(first, count, group_a, role, day));
        scene.scripts[0]->give(block_frame(first, count, group_b, role, day));
        scene.poller->step(at_ms * ms);
    };
    both(0, 1, 10, feed::BlockRole::start_of_day);
    both(1, 2, 11);
    EXPECT_EQ(scene.told(), "C0 1 2");
    scene.scripts[0]->give(block_frame(3, 1, group_b));
    scene.poller->step(12 * ms);
    both(70, 1, 99);
    scene.poller->step(150 * ms);
    EXPECT_EQ(scene.told(), "3 gap4-69  70");
    both(71, 3, 160);
    EXPECT_EQ(scene.told(), "") << "behind the end of day";
    scene.scripts[0]->give(block_frame(69, 1, group_b));
    scene.poller->step(161 * ms);
    EXPECT_EQ(scene.told(), "69! gap69-69") << "late, and of the day that has ended";
    day = 1;
    both(0, 1, 200, feed::BlockRole::start_of_day);
    both(1, 5, 201);
    both(9, 1, 202);
    scene.poller->step(210 * ms);
    both(5, 1, 211, feed::BlockRole::reset);
    EXPECT_EQ(scene.told(), "") << "a test, its gap and its reset too";
    scene.poller->step(510 * ms);
    day = 2;
    both(0, 1, 520, feed::BlockRole::start_of_day);
    both(1, 1, 521);
    EXPECT_EQ(scene.told(), "C0 1");
    const auto& counters = scene.poller->arbiter(0).counters();
    EXPECT_EQ(counters.read(feed::LineCount::filtered), 3U + 6U);
    EXPECT_EQ(counters.read(feed::LineCount::delivered), 2U + 1U + 1U + 3U + 1U + 6U + 1U);
}

}  // namespace
}  // namespace pinstrike::actors
