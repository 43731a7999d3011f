// path: cold
//
// A poller without threads. The test writes the frames, the venue has a few lines, and the test
// reads the rings.
#pragma once

#include "actors/peer/peer_task.h"
#include "actors/poller/poller.h"
#include "actors/recovery/recovery_task.h"
#include "config/time_units.h"
#include "nic/packet/udp_frame_writer.h"
#include "tests/actors/events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors::poller_scene {

// clang-format off
#define TOY_REJECTS(ROW) \
    ROW(too_short, blocks, "shorter than its header") \
    ROW(odd, blocks, "let pass, but odd")
// clang-format on
PINSTRIKE_ROWS(ToyReject, TOY_REJECTS)

using feed::Event;
using feed::EventKind;

/// A venue whose blocks have the first number (4 bytes), the count (1), and role and day (1). Each
/// message is a quote of one series, except number 50 (a control that flushes quotes), 60 (a test)
/// and 70 (the end of day).
struct Toy {
    static constexpr feed::Venue venue = feed::Venue::opra;
    static constexpr char control_participant = 'T';
    static constexpr char start_of_day_type = 'S';
    static constexpr char reset_type = 'R';
    static constexpr std::size_t header_bytes = 6;
    static constexpr std::int64_t day_ns = 400'000'000;  ///< between the block times of two days
    using Reject = ToyReject;
    static constexpr const auto& reject_rows = ToyReject_rows;

    struct Scratch {
        std::array<feed::MessagePlace, 256> places{};
    };

    static constexpr feed::Numbering numbering{};
    static constexpr bool lines_share_groups = false;

    static std::optional<std::uint16_t> line_number(std::span<const std::byte>) {
        return std::nullopt;
    }

    static constexpr bool is_gth(std::uint16_t) { return false; }

    static constexpr bool opens_by_arrival = true;

    static constexpr bool sends_heartbeats(std::uint16_t) { return true; }

    inline static std::int64_t opened_at_ns = 0;      ///< the sum of all blocks' times of receipt
    inline static unsigned opened_retransmitted = 0;  ///< blocks

    static feed::OpenResult open(std::span<const std::byte>& rest, bool verify, feed::Block& out) {
        // A payload that consists of several headers has as many blocks.
        const bool several = rest.size() > header_bytes && rest.size() % header_bytes == 0;
        const auto block = several ? rest.first(header_bytes) : rest;
        rest = rest.subspan(block.size());
        opened_at_ns += out.ts_receive_ns;
        opened_retransmitted += out.retransmitted ? 1 : 0;
        out.retransmitted = false;  // a codec may say so of a block that came on a stream
        return open_repair(block, verify, out);
    }

    static feed::OpenResult open_repair(std::span<const std::byte> payload, bool,
                                        feed::Block& out) {
        if (payload.size() < header_bytes) {
            return {false, 1};
        }
        out.bytes = payload;
        out.sequence = nic::load_be32(payload.data());
        out.messages = std::to_integer<std::uint16_t>(payload[4]);
        const auto role_and_day = std::to_integer<std::uint8_t>(payload[5]);
        out.role = static_cast<feed::BlockRole>(role_and_day % 16);
        out.ts_exchange_ns =
            1'000 + role_and_day / 16 * day_ns + static_cast<std::int64_t>(out.sequence);
        return {true, payload.size() > header_bytes ? 2U : 0U};
    }

    /// If this byte follows the header of a block, no message of the block can be decoded.
    static constexpr std::byte unsound{0xEE};

    static bool is_sound(const feed::Block& block) {
        return block.bytes.size() == header_bytes || block.bytes[header_bytes] != unsound;
    }

    static std::uint32_t walk(Scratch& scratch, feed::Block& out) {
        out.decodable = is_sound(out) ? out.messages : std::uint16_t{0};
        out.places = scratch.places.data();
        return is_sound(out) ? 0 : 1;
    }

    static void note_reset(const feed::Block&) {}

    static std::optional<std::int64_t> ts_of_copy(std::span<const feed::BlockStart>,
                                                  const feed::Block&) {
        return std::nullopt;
    }

    static bool begins_with_data(const feed::Block& block) {
        return block.role == feed::BlockRole::data;
    }

    static bool is_control(std::uint32_t number) { return number == 50 || number == 70; }

    template <class Sink>
    static bool decode_fast(const feed::Block& block, const feed::Header& base, bool, Sink& sink) {
        const bool may = begins_with_data(block) && is_sound(block);
        Event* const reserved = may ? sink.next_slots(block.messages) : nullptr;
        Event* event = reserved;
        for (unsigned i = 0; event != nullptr && i < block.messages; ++i) {
            const auto number = static_cast<std::uint32_t>(block.sequence + i);
            if (is_control(number)) {
                return false;  // the written events are discarded
            }
            if (number == 60 && !sink.wants_tests()) {
                sink.filtered();
                continue;
            }
            *event++ = event_of(number, base);
        }
        if (event == nullptr) {
            return false;
        }
        const auto written = static_cast<std::size_t>(event - reserved);
        sink.commit(written, written);
        return true;
    }

    template <class Sink>
    static void decode(const feed::Block& block, unsigned first, unsigned count,
                       const feed::Header& base, bool, Sink& sink) {
        PINSTRIKE_CHECK(block.places != nullptr);
        for (unsigned i = first; i < first + count; ++i) {
            const auto number = static_cast<std::uint32_t>(block.sequence + i);
            if (number == 60 && !sink.wants_tests()) {
                sink.filtered();
            } else if (is_control(number)) {
                sink.broadcast(event_of(number, base));
            } else {
                const Event event = event_of(number, base);
                sink.push({&event, 1});
            }
        }
    }

    static Event event_of(std::uint32_t number, const feed::Header& base) {
        Event event = test_events::quote_of(test_events::series_of("SPX"), number);
        if (number == 50) {
            event = test_events::control_of('P', feed::Forget::quotes, number);
        } else if (number == 70) {
            event = test_events::control_of('J', feed::Forget::nothing, number);
            event.body.control.ends_day = true;
        }
        const feed::EventKind kind = event.header.kind;
        event.header = base;
        event.header.kind = kind;
        event.header.sequence = number;
        return event;
    }
};

/// A port that returns the packets that the test adds.
class Script : public nic::Port {
  public:
    explicit Script(bool replays = false, bool keeps = false)
        : Port("script"), replays_(replays), keeps_(keeps) {}

    std::size_t receive(std::span<nic::Packet> burst, std::int64_t now_ns) override {
        if (!std::exchange(keeps_burst_, false)) {
            handed_.resize(handed_.size() - last_burst_);
        }
        handed_.erase(handed_.begin(),
                      handed_.begin() + static_cast<std::ptrdiff_t>(std::exchange(given_back_, 0)));
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
        last_burst_ = filled;
        return filled;
    }

    [[nodiscard]] bool exhausted() const override { return waiting_.empty(); }

    [[nodiscard]] bool replays() const override { return replays_; }

    void on_igmp(const nic::Packet&, std::int64_t now_ns) override {
        ++igmp_frames;
        igmp_ns = now_ns;
    }

    [[nodiscard]] bool keeps() const override { return keeps_; }

    /// The number of packets that the poller has not given back.
    [[nodiscard]] std::size_t held() const { return handed_.size(); }

    void give(std::vector<std::byte> frame, std::int64_t ts_ns = 0) {
        waiting_.emplace_back(std::move(frame), ts_ns);
    }

    void housekeep(std::int64_t now_ns) override {
        EXPECT_GE(now_ns, housekept_ns) << "its time never goes back";
        housekept_ns = now_ns;
        ++housekept;
    }

    [[nodiscard]] std::unique_ptr<nic::MoreGroups> prepare(std::span<const nic::Group> groups,
                                                           Problems& problems) override {
        if (takes_no_more) {
            return Port::prepare(groups, problems);
        }
        auto more = std::make_unique<Groups>();
        more->groups.assign(groups.begin(), groups.end());
        return more;
    }

    void join(nic::MoreGroups& groups, std::int64_t) override {
        joined.swap(static_cast<Groups&>(groups).groups);
    }

    bool takes_no_more = false;
    std::vector<nic::Group> joined;
    int igmp_frames = 0;
    int housekept = 0;
    std::int64_t housekept_ns = 0;
    std::int64_t igmp_ns = 0;

  private:
    struct Groups final : nic::MoreGroups {
        std::vector<nic::Group> groups;
    };

    bool replays_;
    bool keeps_;
    std::size_t last_burst_ = 0;
    std::deque<std::pair<std::vector<std::byte>, std::int64_t>> waiting_;
    std::deque<std::pair<std::vector<std::byte>, std::int64_t>> handed_;
};

inline constexpr nic::Group group_a{{0xE000'CC01}, 45001};
inline constexpr nic::Group group_b{{0xE000'CE01}, 45001};
inline constexpr nic::Group group_v{{0xE000'CC80}, 46001};
inline constexpr nic::Group group_other{{0xE000'CC02}, 45002};
inline constexpr std::uint32_t sender = 0xA245'2C04;  // 162.69.44.4

inline std::vector<std::byte> frame_of(std::span<const std::byte> payload, nic::Group to,
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

inline std::vector<std::byte> block_frame(std::uint32_t first, std::uint8_t count,
                                          nic::Group to = group_a,
                                          feed::BlockRole role = feed::BlockRole::data,
                                          std::uint8_t day = 0) {
    std::array<std::byte, Toy::header_bytes> block{};
    nic::store_be32(block.data(), first);
    block[4] = std::byte{count};
    block[5] = static_cast<std::byte>(static_cast<unsigned>(role) + 16U * day);
    return frame_of(block, to);
}

/// A datagram of several blocks: their first numbers and counts.
inline std::vector<std::byte> blocks_frame(
    std::initializer_list<std::pair<std::uint32_t, std::uint8_t>> blocks, nic::Group to = group_a) {
    std::vector<std::byte> payload;
    for (const auto& [first, count] : blocks) {
        const auto frame = block_frame(first, count, to);
        payload.insert(payload.end(), frame.end() - Toy::header_bytes, frame.end());
    }
    return frame_of(payload, to);
}

inline std::vector<std::byte> igmp_frame() {
    auto frame = block_frame(11, 1);
    frame[23] = std::byte{2};               // the IPv4 protocol
    nic::store_be16(frame.data() + 24, 0);  // its checksum again
    nic::store_checksum(frame.data() + 24, nic::checksum_sum(frame.data() + 14, 20));
    return frame;
}

enum class Keeps { nothing, copies, by_reference };

struct Scene {
    static constexpr std::size_t lines_max = 3;

    explicit Scene(bool replays = false, std::size_t ports = 1, LineHours hours = {},
                   Keeps keeps = Keeps::nothing, bool marks = false,
                   std::unique_ptr<PacketRecorder> recorder = nullptr) {
        auto ring = Ring<Event>::make(1024);
        consumer = std::make_unique<Consumer<Event>>(std::move(ring.consumer));
        std::vector<Producer<Event>> rings;
        rings.push_back(std::move(ring.producer));
        PollerSetup setup;
        setup.name = "poll0";
        setup.hours = std::move(hours);
        setup.marks = marks;
        setup.recorder = std::move(recorder);
        for (std::size_t i = 0; i < ports; ++i) {
            auto script = std::make_unique<Script>(replays, keeps == Keeps::by_reference);
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
        auto [ends, others] = make_repair_rings({1});
        setup.repair_rings = std::move(ends);
        repair_rings = std::make_unique<RecoveryRepairRings>(std::move(others));
        std::optional<Ring<FirstCopy>::Halves> copies;
        if (keeps != Keeps::nothing) {
            copies = Ring<FirstCopy>::make(Ring<FirstCopy>::slots_for(1));
            setup.history = std::make_unique<HistoryRingWriter>(std::move(copies->producer));
        }
        auto tap = Ring<TappedPacket>::make(Ring<TappedPacket>::slots_for(PacketTap::slots));
        setup.tap = std::make_unique<PacketTap>(std::move(tap.producer));
        tapped = std::make_unique<Consumer<TappedPacket>>(std::move(tap.consumer));
        poller = std::make_unique<Poller<Toy>>(
            std::move(setup),
            Router{{Sharding::series, WhenFull::refuse, lines_max}, std::move(rings), {nullptr}});
        if (copies) {
            constexpr std::array<std::uint16_t, 1> lines{1};
            peers = std::make_unique<peer::PeerTask>(
                std::make_unique<feed::History>(
                    lines,
                    feed::HistoryConfig{.keep_ns = 1'000'000 * ms_ns, .memory_bytes = 1 << 20},
                    Toy::numbering),
                nullptr);
            peers->add_history_ring({{1}, std::move(copies->consumer)});
        }
    }

    /// The first numbers of the blocks in the history.
    std::string kept() {
        peers->step(1'000 * ms_ns);
        std::string words;
        for (const feed::KeptBlock& block :
             peers->history()->find({1, 1, 1, 1000, 0, std::numeric_limits<std::int64_t>::max()})) {
            EXPECT_EQ(nic::load_be32(block.bytes.data()), block.first);
            EXPECT_EQ(block.bytes.size(), Toy::header_bytes);
            words += fmt::format("{}{}", words.empty() ? "" : " ", block.first);
        }
        return words;
    }

    /// Steps the poller every 500 ms until this time, beginning at most 8 s before it.
    void step_to(std::int64_t now_ns) {
        constexpr std::int64_t often_ns = 500 * ms_ns;
        const std::int64_t while_ns = now_ns - 8'000 * ms_ns;
        const bool goes_on = stepped_ns < now_ns;
        for (std::int64_t at_ns = goes_on ? std::max(stepped_ns, while_ns) : while_ns;
             at_ns < now_ns; at_ns += often_ns) {
            poller->step(std::max<std::int64_t>(at_ns, 1));
        }
        poller->step(now_ns);
        stepped_ns = now_ns;
    }

    /// All events that the core has received, as text.
    std::string reported() {
        std::string words;
        const auto records = consumer->peek(1024);
        for (const Event& event : records) {
            const auto& gap = event.body.gap;
            words += words.empty() ? "" : " ";
            words += event.header.kind == EventKind::gap
                         ? fmt::format("gap{}-{}", gap.first, gap.last)
                     : event.header.kind == EventKind::line_mark
                         ? fmt::format("={}", event.header.sequence)
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

    /// The notes for recovery: "?11-12 !11-11", missing and found.
    std::string noted() {
        std::string words;
        const auto notes = repair_rings->notes.peek(100);
        for (const RepairNote& note : notes) {
            words += words.empty() ? "" : " ";
            words += fmt::format("{}{}-{}", note.kind == RepairNote::Kind::missing ? "?" : "!",
                                 feed::Numbering{}.number_at(note.begin),
                                 feed::Numbering{}.number_at(note.end - 1));
        }
        repair_rings->notes.release(notes.size());
        return words;
    }

    /// Recovery delivers a block.
    void bring(std::uint32_t first, std::uint8_t count, std::uint8_t day = 0) {
        const std::vector<std::byte> frame =
            block_frame(first, count, group_a, feed::BlockRole::data, day);
        EXPECT_TRUE(repair_rings->carry(0, std::span(frame).last(Toy::header_bytes)));
    }

    [[nodiscard]] std::uint64_t dropped(nic::Drop drop) const {
        return poller->input(0).drops.read(drop);
    }

    std::int64_t stepped_ns = 0;
    std::vector<Script*> scripts;
    std::unique_ptr<Consumer<Event>> consumer;
    std::unique_ptr<Consumer<TappedPacket>> tapped;
    std::unique_ptr<RecoveryRepairRings> repair_rings;
    std::unique_ptr<Poller<Toy>> poller;
    std::unique_ptr<peer::PeerTask> peers;  ///< null: no history
};

}  // namespace pinstrike::actors::poller_scene
