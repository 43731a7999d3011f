// path: hot
//
// The poll path up to one stage, built from the parts of the poller. The times of two such paths
// differ by the cost of the stages between their ends. The complete path is actors/poller/poller.h.
// Its last stage includes all work of the poller that belongs to no stage.
#pragma once

#include "actors/bench/stages/stage.h"
#include "actors/poller/line_routes.h"
#include "actors/poller/poller_task.h"
#include "actors/poller/sharding.h"
#include "feed/arbitration/arbiter.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/series_key.h"
#include "nic/packet/datagram.h"
#include "nic/packet/packet.h"
#include "nic/port.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// Prevents the compiler from removing the computation of a value that nothing reads.
template <class T>
inline void keep(const T& value) noexcept {
    asm volatile("" : : "r,m"(value) : "memory");
}

/// An EventSink (feed/event/event_sink.h) for events that nothing reads. It returns the same few
/// slots again and again, so that they stay in the cache.
class ScratchSlots {
  public:
    /// If `routes`, finds the core of each message among `cores_count` cores; else uses core 0.
    ScratchSlots(std::size_t cores_count, bool routes)
        : cores_count_(cores_count), routes_(routes) {}

    feed::Event* claim(const feed::SeriesKey& series, unsigned /*records*/) noexcept {
        return at(routes_ ? core_of(series, Sharding::series, cores_count_) : 0);
    }

    feed::Event* claim_symbol(std::uint64_t symbol_word, unsigned /*records*/) noexcept {
        return at(routes_ ? core_of(feed::hash_symbol(symbol_word), cores_count_) : 0);
    }

    feed::Event* claim_line(std::uint16_t line, unsigned /*records*/) noexcept {
        return at(line % cores_count_);
    }

    feed::Event* offer(std::size_t records) noexcept {
        return records <= slots_.size() ? slots_.data() : nullptr;
    }

    void take(std::size_t /*messages*/, std::size_t records) noexcept {
        for (std::size_t i = 0; routes_ && i < records; i += slots_[i].header.records) {
            keep(core_of(slots_[i].body.series, Sharding::series, cores_count_));
        }
    }

    void broadcast(const feed::Event& /*event*/) noexcept {}

    void filtered() noexcept {}

    [[nodiscard]] static bool wants_tests() noexcept { return false; }

  private:
    static constexpr std::size_t message_records_max = 255;

    /// Returns the slot of a core. After each such slot there is space for the longest message.
    feed::Event* at(std::size_t core) noexcept { return &slots_[core % cores_max]; }

    static constexpr std::size_t cores_max = 256;

    std::size_t cores_count_;
    bool routes_;
    std::array<feed::Event, cores_max + message_records_max> slots_{};
};

/// `Codec` is a venue's codec. Only the constructor allocates memory.
template <class Codec, Stage last>
class CutPath final : private feed::ArbiterSink {
  public:
    /// `setup` has one port and its lines. As with a poller, only one thread may use the object.
    CutPath(PollerSetup setup, std::size_t cores_count);

    /// Processes one burst. Returns the number of packets.
    std::size_t step(std::int64_t now_ns) {
        now_ns_ = now_ns;
        const std::size_t filled = port_->receive(burst_, now_ns);
        for (std::size_t i = 0; i < filled; ++i) {
            receive(burst_[i]);
        }
        return filled;
    }

  private:
    struct Line {
        Line(const feed::ArbitrationConfig& arbitration, std::uint16_t line)
            : number(line), is_gth(Codec::is_gth(line)), arbiter(arbitration, Codec::numbering) {}

        std::uint16_t number;
        bool is_gth;
        [[no_unique_address]] Codec codec;
        feed::Arbiter arbiter;
    };

    void receive(const nic::Packet& packet) {
        if constexpr (last == Stage::receive) {
            keep(packet.bytes);
        } else {
            parse(packet);
        }
    }

    void parse(const nic::Packet& packet) {
        nic::Datagram datagram;
        if (nic::parse_udp(packet, udp_checksum_, datagram) != nic::not_dropped) [[unlikely]] {
            return;
        }
        if constexpr (last == Stage::parse) {
            keep(datagram.payload.data());
            keep(datagram.group_ip);
            keep(datagram.port);
        } else {
            find_line(datagram, packet.ts_receive_ns);
        }
    }

    void find_line(const nic::Datagram& datagram, std::int64_t ts_receive_ns) {
        const LineRoute* route = routes_.find(datagram.group_ip, datagram.port,
                                              [](const LineRoute& /*any*/) { return true; });
        if (route == nullptr) [[unlikely]] {
            return;
        }
        Line& line = *lines_[route->line];
        if constexpr (last == Stage::find_line) {
            line.arbiter.count_packet(route->stream);
            keep(&line);
        } else {
            check(line, route->stream, datagram.payload, ts_receive_ns);
        }
    }

    void check(Line& line, feed::Stream stream, std::span<const std::byte> rest,
               std::int64_t ts_receive_ns) {
        feed::Block block;
        const auto result = line.codec.open(rest, true, block);
        line.arbiter.count_packet(stream);  // after open(), as in the poller
        if (!result.accepted) [[unlikely]] {
            return;
        }
        block.ts_receive_ns = ts_receive_ns;
        if constexpr (last == Stage::check) {
            keep(block.messages);
            keep(block.bytes.data());
        } else {
            arbitrate(line, stream, block);
        }
    }

    void arbitrate(Line& line, feed::Stream stream, feed::Block& block) {
        line_ = &line;
        const feed::Verdict verdict = line.arbiter.classify_by_header(block, stream);
        if (verdict == feed::Verdict::deliver_all && decode_straight(block)) [[likely]] {
            line.arbiter.commit_next(block, stream);
        } else if (verdict == feed::Verdict::duplicate_all && line.codec.begins_with_data(block))
            [[likely]] {
            line.arbiter.commit_duplicate(block, stream);
        } else {
            feed::Block walked = block;
            arbitrate_walked(line, stream, walked);
        }
    }

    [[nodiscard, gnu::always_inline]] bool decode_straight(const feed::Block& block) {
        if constexpr (last == Stage::arbitrate) {
            keep(block.messages);
            return true;
        } else {
            const bool straight =
                line_->codec.decode_straight(block, header_of(block, 0), line_->is_gth, slots_);
            keep(&slots_);
            return straight;
        }
    }

    [[gnu::noinline]] void arbitrate_walked(Line& line, feed::Stream stream, feed::Block& block) {
        static_cast<void>(line.codec.walk(scratch_, block));
        const feed::Verdict verdict = line.arbiter.commit(block, stream);
        if (verdict == feed::Verdict::slow) {
            line.arbiter.commit_slow(block, stream, now_ns_, *this);
        } else if (verdict == feed::Verdict::deliver_all) {
            deliver(block, 0, block.messages, 0);
        }
    }

    [[nodiscard]] feed::Header header_of(const feed::Block& block,
                                         feed::DeliveryFlags flags) const {
        feed::Header base;
        base.venue = Codec::venue;
        base.flags = flags;
        base.line = line_->number;
        base.session = block.session;
        base.ts_exchange_ns = block.ts_exchange_ns;
        base.ts_receive_ns = block.ts_receive_ns;
        return base;
    }

    // feed::ArbiterSink. The slow path calls these functions where a looped capture starts again.

    void deliver(const feed::Block& block, unsigned first, unsigned count,
                 feed::DeliveryFlags flags) override {
        if (last > Stage::arbitrate && block.places != nullptr) {
            line_->codec.decode(block, first, count, header_of(block, flags), line_->is_gth,
                                slots_);
            keep(&slots_);
        }
    }

    [[nodiscard]] std::optional<std::int64_t> ts_of_copy(std::span<const feed::BlockStart> starts,
                                                         const feed::Block& block) const override {
        return line_->codec.ts_of_copy(starts, block);
    }

    void gap(std::uint64_t /*first*/, std::uint64_t /*last*/, std::uint64_t /*messages*/,
             feed::GapCause /*cause*/, std::int64_t /*ts_exchange_ns*/) override {}

    void reset(const feed::Block& /*block*/, feed::Forget /*forget*/, bool /*inferred*/) override {}

    std::unique_ptr<nic::Port> port_;
    nic::ChecksumCheck udp_checksum_;
    std::vector<nic::Packet> burst_;
    std::int64_t now_ns_ = 0;
    LineRoutes routes_;
    std::vector<std::unique_ptr<Line>> lines_;
    Line* line_ = nullptr;
    typename Codec::Scratch scratch_;
    ScratchSlots slots_;
};

// --- cold ---

template <class Codec, Stage last>
CutPath<Codec, last>::CutPath(PollerSetup setup, std::size_t cores_count)
    : port_(std::move(setup.ports.front().port)),
      udp_checksum_(setup.ports.front().udp_checksum),
      burst_(setup.ports.front().burst_packets),
      slots_(cores_count, last == Stage::route) {
    routes_ = routes_.with(setup.lines, 0);
    for (const feed::LineConfig& line : setup.lines) {
        lines_.push_back(std::make_unique<Line>(setup.arbitration, line.number));
    }
}

}  // namespace pinstrike::actors
