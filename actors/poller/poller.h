// path: mixed, cold: construction, prepare_lines()
//
// The path of a packet, from a NIC's queue to the rings of the cores, on one thread. The functions
// from step() on are in the order in which a packet meets them:
//
//     Port::receive                nic/port.h                    a burst, with one indirect call
//     parse_udp                    nic/packet/datagram.h         a datagram, or a reason to drop it
//     PollerLines::find            actors/poller/poller_lines.h  which line, which stream
//     Codec::open                  feed/event/codec.h            a valid block, or a reason
//     Arbiter::classify_by_header  feed/arbitration/arbiter.h    all, nothing, or the slow path
//     LineDay::original            feed/lines/line_day.h         whether it is of the trading day
//     Router::next_slots           actors/poller/router.h        slots for the events of the block
//     Codec::decode_fast           feed/event/codec.h            checked messages, in these slots
//     Router::commit               actors/poller/router.h        several cores: to their rings
//     Arbiter::commit_next         feed/arbitration/arbiter.h    the line is past the block
//     Router::publish              actors/poller/router.h        once for each step
//
// Nothing here blocks, allocates, or reads a clock: the caller passes the time of a step. Captures
// and all timers run on the time of the captured packets, so a replay gives the same events at any
// pace. Several captures of one poller are merged by time.
//
// `Codec` is a venue's codec; feed/event/codec.h says what its functions do. A step takes a burst
// of each port.
#pragma once

#include "actors/poller/arbitration_clock.h"
#include "actors/poller/poller_lines.h"
#include "actors/poller/poller_task.h"
#include "actors/poller/router.h"
#include "actors/threads/step_free_clock.h"
#include "feed/arbitration/arbiter.h"
#include "feed/arbitration/arbiter_sink.h"
#include "feed/arbitration/line_counts.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/position.h"
#include "nic/packet/datagram.h"
#include "nic/packet/drops.h"
#include "nic/packet/packet.h"
#include "nic/port.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// Opens the next block of a datagram that was received at `ts_receive_ns` on `route`.
template <class Codec>
[[gnu::always_inline]] inline feed::OpenResult open_block(
    Codec& codec, std::span<const std::byte>& rest, bool verify_checksum,
    std::int64_t ts_receive_ns, const LineRoute& route, feed::Block& block) {
    if constexpr (Codec::opens_by_arrival) {
        block.ts_receive_ns = ts_receive_ns;
        block.retransmitted = route.retransmission;
    }
    return codec.open(rest, verify_checksum, block);
}

/// The line of a packet, for what is done beside the fast path. A function of its own, because the
/// compiler does not inline parse_udp() and find() into the fast path if they are called in more
/// places.
template <class Codec>
[[nodiscard, gnu::noinline]] const LineRoute* route_of(const nic::Packet& packet,
                                                       const PollerLines<Codec>& lines) {
    nic::Datagram datagram;
    const bool parsed =
        nic::parse_udp(packet, nic::ChecksumCheck::off, datagram) == nic::not_dropped;
    return parsed ? lines.find(datagram) : nullptr;
}

template <class VenueCodec>
class Poller final : public PollerTask, private feed::ArbiterSink {
  public:
    using Codec = VenueCodec;

    Poller(PollerSetup setup, Router router);

    std::size_t step(std::int64_t now_ns) override {
        loop_clock_.start_step(counters_, now_ns);
        count_latency(now_ns);
        step_free_ns_ = step_free_clock_.step(now_ns);
        if (!begun_) [[unlikely]] {
            begin(now_ns);
        }
        const std::size_t packets = replays_ ? step_replay(now_ns) : step_live(now_ns);
        router_.publish();
        if (step_free_ns_ >= next_housekeeping_ns_) {
            housekeep();
        }
        if (packets != 0) {
            loop_clock_.worked();
            burst_packets_ = packets;
        }
        return packets;
    }

  private:
    using Input = PollerInput;  ///< a port and its latest burst
    using Lines = PollerLines<Codec>;
    using Line = CodecLine<Codec>;

    /// Takes a burst of each port, then runs the timers.
    std::size_t step_live(std::int64_t now_ns) {
        wall_ns_ = now_ns;
        now_ns_ = arbitration_clock_.step(now_ns);
        std::size_t packets = 0;
        bool behind = false;
        for (auto& input : inputs_) {
            packets += receive(*input, now_ns);
            behind = behind || input->filled == input->burst.size();
            process_burst(*input);
        }
        if (repair_rings_ != nullptr) {
            packets += read_repairs();
        }
        arbitration_clock_.looked(behind);
        run_timers();
        return packets;
    }

    std::size_t receive(Input& input, std::int64_t now_ns) {
        input.filled = input.port->receive(input.burst, now_ns);
        input.processed = 0;
        return input.filled;
    }

    /// Decides once for the whole burst whether its blocks are recorded in a history.
    void process_burst(Input& input) {
        if (tap_ != nullptr && tap_->wants()) [[unlikely]] {
            copy_to_tap(input);
        }
        if (history_ == nullptr) {
            while (input.processed < input.filled) {
                parse_and_route<false>(input, input.burst[input.processed++]);
            }
            return;
        }
        while (input.processed < input.filled) {
            parse_and_route<true>(input, input.burst[input.processed++]);
        }
        if (input.can_hold_packets) {
            history_->end_burst(*input.port, input.kept, input.filled);
        } else {
            history_->publish();
        }
    }

    template <bool with_history>
    void parse_and_route(Input& input, const nic::Packet& packet) {
        nic::Datagram datagram;
        const nic::Drop drop = nic::parse_udp(packet, input.udp_checksum, datagram);
        if (drop != nic::not_dropped) [[unlikely]] {
            return input.drop(packet, drop, step_free_ns_);
        }
        if (!input.allows(datagram.source_ip)) [[unlikely]] {
            return input.drops.bump(nic::Drop::foreign_source);
        }
        const LineRoute* route = lines_.find(datagram);
        if (route == nullptr) [[unlikely]] {
            return input.drop_unknown(datagram);
        }
        input.to_lines.add();
        process_datagram<with_history>(input, lines_[route->line], *route, datagram.payload,
                                       packet.ts_receive_ns);
    }

    /// All blocks of a datagram, in order.
    template <bool with_history>
    [[gnu::always_inline]] void process_datagram(Input& input, Line& line, const LineRoute& route,
                                                 std::span<const std::byte> rest,
                                                 std::int64_t ts_receive_ns) {
        feed::Block block;
        auto result = open_block(line.codec, rest, block_checksum_, ts_receive_ns, route, block);
        // Counted after open(): the address of the counter depends on the lookup of the line, and a
        // store whose address is not known yet delays the loads in open().
        if (!route.retransmission) [[likely]] {
            line.arbiter.count_packet(route.stream);
        } else {
            line.retransmission_packets.add();
        }
        while (true) {
            process_block<with_history>(input, line, route, block, result, ts_receive_ns);
            if (rest.empty()) [[likely]] {
                return;
            }
            block = {};
            result = open_block(line.codec, rest, block_checksum_, ts_receive_ns, route, block);
        }
    }

    template <bool with_history>
    [[gnu::always_inline]] void process_block(Input& input, Line& line, const LineRoute& route,
                                              feed::Block& block, const feed::OpenResult& result,
                                              std::int64_t ts_receive_ns) {
        if (result.reasons != 0) [[unlikely]] {
            count_rejects(line, result.reasons);
        }
        if (!result.accepted) [[unlikely]] {
            return;
        }
        block.ts_receive_ns = ts_receive_ns;
        block.retransmitted = block.retransmitted || route.retransmission;
        const feed::Verdict verdict = line.arbiter.classify_by_header(block, route.stream);
        if (verdict == feed::Verdict::deliver_all && decode_fast(line, block)) [[likely]] {
            line.arbiter.commit_next(block, route.stream);
            note_first<with_history>(input, line, block, route.stream);
        } else if (verdict == feed::Verdict::duplicate_all && line.codec.begins_with_data(block))
            [[likely]] {
            line.arbiter.commit_duplicate(block, route.stream);
            line.skew.second(block, route.stream);
        } else {
            feed::Block walked = block;  // so that `block` can stay in registers
            process_walked<with_history>(input, line, walked, route.stream);
        }
    }

    /// False: the block does not take the fast path, and none of its messages was decoded.
    [[nodiscard, gnu::always_inline]] bool decode_fast(Line& line, const feed::Block& block) {
        select(line);
        LineEvents events{router_, line, test_symbols_};
        return line.day.original(block.ts_exchange_ns) &&
               line.codec.decode_fast(block, header_of(block, 0), line.is_gth, events);
    }

    /// The EventSink (feed/event/event_sink.h) through which a codec writes the events of a line to
    /// the router. It also applies numbered control messages to the line. It lives for one call of
    /// the codec. `line` is the one that Router::begin() selected.
    struct LineEvents {
        Router& router;
        PollerLine& line;
        bool test_symbols;  ///< the config wants test symbols

        feed::Event* next_slots(std::size_t records) { return router.next_slots(records); }

        void commit(std::size_t messages, std::size_t records) { router.commit(messages, records); }

        void push(std::span<const feed::Event> message) { router.push(message); }

        /// A control message that takes a number: it goes to all cores and is applied to the line.
        void broadcast(const feed::Event& event) {
            line.arbiter.counters().bump(feed::LineCount::controls);
            router.broadcast(event);
            if (event.body.control.forget != feed::Forget::nothing) {
                line.arbiter.flush_at(event.header.number());
            }
            if (event.body.control.ends_day) {
                line.day.end(event.header.ts_exchange_ns);
            }
        }

        void filtered() { line.arbiter.counters().bump(feed::LineCount::filtered); }

        [[nodiscard]] bool wants_tests() const { return test_symbols; }
    };

    void select(Line& line) {
        line_ = &line;
        router_.begin(line.index);
    }

    [[nodiscard]] feed::Header header_of(const feed::Block& block,
                                         feed::DeliveryFlags flags) const {
        feed::Header header;
        header.venue = Codec::venue;
        header.flags =
            static_cast<std::uint8_t>(flags | (block.retransmitted ? feed::flag_retransmitted : 0));
        header.line = line_->number;
        header.session = block.session;
        header.ts_exchange_ns = block.ts_exchange_ns;
        header.ts_receive_ns = block.ts_receive_ns;
        return header;
    }

    /// The first copy of a block was delivered.
    template <bool with_history>
    void note_first(Input& input, Line& line, const feed::Block& block, feed::Stream stream) {
        if (sample_ts_exchange_ns_ == 0) {
            sample_ts_exchange_ns_ = block.ts_exchange_ns;
        }
        line.skew.first(block, stream);
        if constexpr (with_history) {
            keep(input, line, block);
        }
    }

    /// Records the latency of the previous step's burst, which ended at the start of this step. It
    /// begins at the exchange's stamp, or when a capture's packet was due. Every packet of a burst
    /// counts with the figure of the first: bursts grow when the poller is late, so one figure for
    /// each burst would make late packets look rare.
    void count_latency(std::int64_t now_ns) {
        if (sample_ts_exchange_ns_ != 0 && (!replays_ || due_.known())) {
            const std::int64_t begin_ns =
                replays_ ? due_.due_ns(burst_ts_ns_) : sample_ts_exchange_ns_;
            counters_.exchange_to_decoded_ns.record(now_ns - begin_ns, burst_packets_);
            if (overlaps_stall(begin_ns, counters_.stalled_until_ns)) [[unlikely]] {
                counters_.exchange_to_decoded_preempted_ns.record(now_ns - begin_ns,
                                                                  burst_packets_);
            }
        }
        sample_ts_exchange_ns_ = 0;
    }

    // Off the fast path (poller_slow_path.h).

    template <bool with_history>
    [[gnu::noinline]] void process_walked(Input& input, Line& line, feed::Block& block,
                                          feed::Stream stream);
    bool commit_slow(Line& line, const feed::Block& block, feed::Stream stream);
    void decode(const feed::Block& block, unsigned first, unsigned count,
                feed::DeliveryFlags flags);
    std::size_t read_repairs();
    // Not inline, because then the compiler would inline less of the fast path.
    [[gnu::cold, gnu::noinline]] void process_repair(Line& line, std::span<const std::byte> bytes);
    void note(RepairNote::Kind kind, feed::Position begin, feed::Position end,
              std::int64_t ts_before_ns, std::int64_t ts_behind_ns);

    // The decisions of the arbiters' slow path about the line `line_`.

    void deliver(const feed::Block& block, unsigned first, unsigned count,
                 feed::DeliveryFlags flags) override;
    void gap(std::uint64_t first, std::uint64_t last, std::uint64_t messages, feed::GapCause cause,
             std::int64_t ts_exchange_ns, feed::DeliveryFlags flags) override;
    void reset(const feed::Block& block, feed::Forget forget, bool inferred) override;
    void committed(const feed::Block& block) override;

    [[nodiscard]] std::optional<std::int64_t> ts_of_copy(std::span<const feed::BlockStart> starts,
                                                         const feed::Block& block) const override {
        return line_->codec.ts_of_copy(starts, block);
    }

    [[nodiscard]] bool start_is_due() const override { return line_->day.start_is_due(); }

    void missing(feed::Position begin, feed::Position end, std::int64_t ts_before_ns,
                 std::int64_t ts_behind_ns) override {
        note(RepairNote::Kind::missing, begin, end, ts_before_ns, ts_behind_ns);
    }

    void found(feed::Position begin, feed::Position end) override {
        note(RepairNote::Kind::found, begin, end, 0, 0);
    }

    // The rest of a step.

    /// Gives the block, which lies in the packet that was processed last, to the history.
    void keep(Input& input, const Line& line, const feed::Block& block) {
        if (!input.can_hold_packets) {
            history_->copy(block, line.index);
        } else if (input.kept.has_room(input.filled)) {
            history_->keep(block, line.index);
        } else {
            history_->skip();
        }
    }

    void count_rejects(Line& line, std::uint32_t reasons) {
        for (; reasons != 0; reasons &= reasons - 1) {
            line.rejects.bump(static_cast<typename Codec::Reject>(std::countr_zero(reasons)));
        }
    }

    /// An event that no message caused.
    [[nodiscard]] feed::Event event_of(feed::EventKind kind, const Line& line) const {
        feed::Event event{};
        event.header.kind = kind;
        event.header.venue = Codec::venue;
        event.header.line = line.number;
        event.header.ts_receive_ns = wall_ns_;
        return event;
    }

    void run_timers() {
        if (now_ns_ < next_deadline_ns_) [[likely]] {
            return;
        }
        next_deadline_ns_ = feed::Arbiter::never_ns;
        loop_clock_.acted();
        for (auto& line : lines_) {
            if (line->arbiter.next_deadline_ns() <= now_ns_) {
                select(*line);
                line->arbiter.step(now_ns_, *this);
            }
            next_deadline_ns_ = std::min(next_deadline_ns_, line->arbiter.next_deadline_ns());
        }
    }

    /// Copies the packets of the tapped line. This is a separate pass over the burst, so that an
    /// inactive tap costs only one test for each burst.
    void copy_to_tap(const Input& input) {
        for (std::size_t i = input.processed; i < input.filled; ++i) {
            const nic::Packet& packet = input.burst[i];
            const LineRoute* route = route_of(packet, lines_);
            if (route != nullptr && route->line == tap_->line()) {
                tap_->copy(packet, input.index);
            }
        }
        tap_->publish();
    }

    /// Called before the first packet, because that packet may be a test.
    void begin(std::int64_t now_ns) {
        begun_ = true;
        for (auto& line : lines_) {
            if (!replays_) {
                line->day.look(now_ns);
            }
        }
    }

    // Captures that are replayed.

    /// Takes about a burst of packets of all captures in the order of their times. The timers run
    /// up to the time of each packet before it is processed. `now_ns` is for ports that set the
    /// pace.
    std::size_t step_replay(std::int64_t now_ns) {
        std::size_t packets = 0;
        while (packets < replay_burst_packets) {
            Input* next = earliest(now_ns);
            if (next == nullptr) {
                break;
            }
            const nic::Packet& packet = next->burst[next->processed++];
            now_ns_ = wall_ns_ = std::max(now_ns_, packet.ts_receive_ns);
            burst_ts_ns_ = packets == 0 ? packet.ts_receive_ns : burst_ts_ns_;
            run_timers();
            parse_and_route<false>(*next, packet);
            ++packets;
        }
        return packets;
    }

    /// The input whose next packet is the oldest; nullptr: none has any now.
    Input* earliest(std::int64_t now_ns) {
        Input* best = nullptr;
        for (auto& input : inputs_) {
            if (input->processed == input->filled && receive(*input, now_ns) == 0) {
                continue;
            }
            if (best == nullptr || input->burst[input->processed].ts_receive_ns <
                                       best->burst[best->processed].ts_receive_ns) {
                best = input.get();
            }
        }
        return best;
    }

    // Low-rate work at random intervals, so that the pollers do not do it at the same time
    // (poller_housekeeping.h).

    void housekeep();
    void adopt(PollerSettings& settings);
    void adopt_lines(typename Lines::Prepared& more);
    [[gnu::cold]] void look_at_lines();  // otherwise the compiler changes decode() for it

    void record_bursts() override;

  public:
    /// Processes what was received. What the arbiters hold is delivered or declared lost.
    void finish() override {
        for (auto& input : inputs_) {
            if (input->processed != input->filled) {
                process_burst(*input);
            }
        }
        while (repair_rings_ != nullptr && read_repairs() != 0) {
        }
        for (auto& line : lines_) {
            select(*line);
            line->arbiter.finish(now_ns_, *this);
        }
        if (history_ != nullptr) {
            history_->publish();
        }
        router_.flush_pending();
    }

    // Functions for other threads, the control thread among them.

    [[nodiscard]] std::size_t lines_count() const override { return lines_.size(); }

    [[nodiscard]] PollerLine& line(std::size_t i) const override { return lines_[i]; }

    [[nodiscard]] std::span<const Row> reject_rows() const override { return Codec::reject_rows; }

    [[nodiscard]] std::uint64_t rejects(std::size_t line, std::size_t row) const override {
        return lines_[line].rejects.read(static_cast<typename Codec::Reject>(row));
    }

    [[nodiscard]] std::unique_ptr<MoreLines> prepare_lines(
        const PollerSetup& setup, const std::vector<std::vector<nic::Group>>& groups,
        Problems& problems) const override;

  private:
    static constexpr std::size_t replay_burst_packets = 64;
    static constexpr std::int64_t look_interval_ns = 100'000'000;

    bool block_checksum_;
    bool test_symbols_;
    bool marks_;
    bool replays_ = false;
    bool begun_ = false;
    std::int64_t wall_ns_ = 0;
    StepFreeClock step_free_clock_;
    std::int64_t step_free_ns_ =
        0;  ///< wall time of this step without clock steps, for periodic work
    ArbitrationClock arbitration_clock_;
    std::int64_t now_ns_ = 0;  ///< arbitration time; when captures are replayed, packet time
    std::int64_t next_deadline_ns_ = feed::Arbiter::never_ns;
    std::int64_t next_housekeeping_ns_ = 0;
    std::int64_t next_look_ns_ = 0;
    std::int64_t sample_ts_exchange_ns_ = 0;  ///< of the first block that this step delivered
    std::uint64_t burst_packets_ = 0;         ///< packets of the last step that had any
    nic::DueTimes due_;
    std::int64_t burst_ts_ns_ = 0;  ///< of a replay: capture time of the step's first packet
    Line* line_ = nullptr;          ///< the line whose messages are being delivered
    typename Codec::Scratch scratch_;
    typename Codec::Scratch waited_scratch_;
    Lines lines_;
};

/// Damaged packets are recorded as well.
template <class Codec>
void Poller<Codec>::record_bursts() {
    std::array<std::uint32_t, nic::burst_packets_max> interfaces;
    for (const auto& input : inputs_) {
        const std::span<const nic::Packet> packets{input->burst.data(), input->filled};
        for (std::size_t i = 0; i < packets.size(); ++i) {
            const LineRoute* const route = route_of(packets[i], lines_);
            interfaces[i] =
                route == nullptr ? interface_of_no_line : interface_of(route->line, route->stream);
        }
        recorder_->record(packets, interfaces);
    }
}

// --- cold ---

template <class Codec>
Poller<Codec>::Poller(PollerSetup setup, Router router)
    : PollerTask(setup, std::move(router)),
      block_checksum_(setup.block_checksum),
      test_symbols_(setup.test_symbols),
      marks_(setup.marks),
      due_(setup.due),
      lines_(setup, router_.lines_max()) {
    replays_ = std::any_of(inputs_.begin(), inputs_.end(),
                           [](const auto& input) { return input->port->replays(); });
}

template <class Codec>
std::unique_ptr<MoreLines> Poller<Codec>::prepare_lines(
    const PollerSetup& setup, const std::vector<std::vector<nic::Group>>& groups,
    Problems& problems) const {
    auto more = std::make_unique<typename Lines::Prepared>();
    lines_.prepare(setup, *more);
    for (const auto& input : inputs_) {
        const auto& wanted = groups[input->index];
        more->groups.push_back(wanted.empty() ? nullptr : input->port->prepare(wanted, problems));
    }
    return problems.empty() ? std::move(more) : nullptr;
}

}  // namespace pinstrike::actors

#include "actors/poller/poller_housekeeping.h"
#include "actors/poller/poller_slow_path.h"
