// path: hot
//
// The whole way of a packet, from a NIC's queue to the rings of the cores, on one thread:
//
//     receive a burst              nic     one indirect call
//     parse_udp                    nic     a datagram, or the reason to drop the frame
//     lines_.find                  here    which line, which stream
//     Codec::open                  feed    a block of good header and checksum, or why not
//     Arbiter::classify_by_header  feed    all of it, nothing of it, or the slow path
//     Codec::decode_straight       feed    messages, checked while they are written into the rings
//     Router::publish              here    once a burst
//
// Nothing here blocks, allocates, or reads a clock: the time of a step is given. Captures run on
// the time of their packets, and all timers with them, so that a replay gives the same events at
// any pace; where a poller reads several captures they are merged by time.
//
// `Codec` is a venue's codec (feed/venue_codecs.h.in).
#pragma once

#include "actors/poller/arbitration_clock.h"
#include "actors/poller/line_events.h"
#include "actors/poller/poller_input.h"
#include "actors/poller/poller_lines.h"
#include "actors/poller/poller_task.h"
#include "actors/poller/router.h"
#include "actors/threads/even_clock.h"
#include "feed/arbitration/arbiter.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
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

template <class Codec>
class Poller final : public PollerTask {
  public:
    Poller(PollerSetup setup, Router router);

    std::size_t step(std::int64_t now_ns) override {
        loop_clock_.start_step(counters_, now_ns);
        count_latency(now_ns);
        even_ns_ = even_clock_.step(now_ns);
        if (!begun_) [[unlikely]] {
            begin(now_ns);
        }
        const std::size_t packets = replays_ ? step_replay(now_ns) : step_live(now_ns);
        router_.publish();
        if (even_ns_ >= next_housekeeping_ns_) {
            housekeep();
        }
        if (packets != 0) {
            loop_clock_.worked();
            burst_packets_ = packets;
        }
        return packets;
    }

    /// The input has ended, or is to end here: what was received goes through, what the arbiters
    /// hold is delivered or declared lost.
    void finish() override {
        for (auto& input : inputs_) {
            if (input->taken != input->filled) {
                admit_burst(*input);
            }
        }
        while (repair_rings_ != nullptr && take_repairs() != 0) {
        }
        for (auto& line : lines_) {
            select(*line);
            line->arbiter.finish(now_ns_, sink_);
        }
        if (history_ != nullptr) {
            history_->publish();
        }
        router_.settle();
    }

    bool settle() override { return router_.settle(); }

    [[nodiscard]] bool exhausted() const override {
        return std::all_of(inputs_.begin(), inputs_.end(), [](const auto& input) {
            return input->taken == input->filled && input->port->exhausted();
        });
    }

    [[nodiscard]] std::size_t ports_count() const override { return inputs_.size(); }

    [[nodiscard]] const nic::Port& port(std::size_t i) const override { return *inputs_[i]->port; }

    [[nodiscard]] const DropCounters& drops(std::size_t i) const override {
        return inputs_[i]->drops;
    }

    [[nodiscard]] const UnknownGroups& unknown_groups(std::size_t i) const override {
        return inputs_[i]->unknown_groups;
    }

    [[nodiscard]] std::uint64_t handed(std::size_t i) const override {
        return inputs_[i]->handed.read();
    }

    [[nodiscard]] std::size_t lines_count() const override { return lines_.size(); }

    [[nodiscard]] std::uint16_t line_number(std::size_t i) const override {
        return lines_[i].number;
    }

    [[nodiscard]] feed::Arbiter& arbiter(std::size_t i) override { return lines_[i].arbiter; }

    [[nodiscard]] const feed::LineWatch& watch(std::size_t i) const override {
        return lines_[i].watch;
    }

    [[nodiscard]] const Histogram& lead(std::size_t i, feed::Stream stream) const override {
        return lines_[i].lead.of(stream);
    }

    [[nodiscard]] std::uint64_t retransmission_packets(std::size_t i) const override {
        return lines_[i].retransmission_packets.read();
    }

    [[nodiscard]] std::span<const Row> reject_rows() const override { return Codec::reject_rows; }

    [[nodiscard]] std::uint64_t rejects(std::size_t line, std::size_t row) const override {
        return lines_[line].rejects.read(static_cast<typename Codec::Reject>(row));
    }

    [[nodiscard]] const Router& router() const override { return router_; }

    [[nodiscard]] std::unique_ptr<MoreLines> prepare_lines(
        const PollerSetup& setup, const std::vector<std::vector<nic::Group>>& groups,
        Problems& problems) const override;

  private:
    using Input = PollerInput;
    using Lines = PollerLines<Codec>;
    using Line = PollerLine<Codec>;

    /// Before the first packet, which may be a test.
    void begin(std::int64_t now_ns) {
        begun_ = true;
        for (auto& line : lines_) {
            if (!replays_) {
                line->day.look(now_ns);
            }
        }
    }

    std::size_t receive(Input& input, std::int64_t now_ns) {
        input.filled = input.port->receive(input.burst, now_ns);
        input.taken = 0;
        return input.filled;
    }

    /// Whether a history is kept is asked once a burst: `keeps`.
    void admit_burst(Input& input) {
        if (tap_ != nullptr && tap_->wants()) [[unlikely]] {
            tap_burst(input);
        }
        if (history_ == nullptr) {
            while (input.taken < input.filled) {
                admit<false>(input, input.burst[input.taken++]);
            }
            return;
        }
        while (input.taken < input.filled) {
            admit<true>(input, input.burst[input.taken++]);
        }
        if (input.keeps) {
            history_->end_burst(*input.port, input.kept, input.filled);
        } else {
            history_->publish();
        }
    }

    /// Apart from their way to the line, so that this costs nothing while nobody looks.
    void tap_burst(const Input& input) {
        for (std::size_t i = input.taken; i < input.filled; ++i) {
            const nic::Packet& packet = input.burst[i];
            nic::Datagram datagram;
            if (nic::parse_udp(packet, nic::ChecksumCheck::off, datagram) != nic::not_dropped) {
                continue;
            }
            const LineRoute* route = lines_.find(datagram);
            if (route != nullptr && route->line == tap_->line()) {
                tap_->take(packet, input.index);
            }
        }
        tap_->publish();
    }

    template <bool keeps>
    void admit(Input& input, const nic::Packet& packet) {
        nic::Datagram datagram;
        const nic::Drop drop = nic::parse_udp(packet, input.udp_checksum, datagram);
        if (drop != nic::not_dropped) [[unlikely]] {
            return input.drop(packet, drop, even_ns_);
        }
        if (!input.allows(datagram.source_ip)) [[unlikely]] {
            return input.drops.bump(nic::Drop::foreign_source);
        }
        const LineRoute* route = lines_.find(datagram);
        if (route == nullptr) [[unlikely]] {
            return input.drop_unknown(datagram);
        }
        input.handed.add();
        admit_datagram<keeps>(input, lines_[route->line], *route, datagram.payload,
                              packet.ts_receive_ns);
    }

    /// All blocks of a datagram, in order.
    template <bool keeps>
    [[gnu::always_inline]] void admit_datagram(Input& input, Line& line, const LineRoute& route,
                                               std::span<const std::byte> rest,
                                               std::int64_t ts_receive_ns) {
        feed::Block block;
        auto result = line.codec.open(rest, block_checksum_, block);
        // Counted after open(): the address of the counter depends on the lookup of the line, and a
        // store whose address is not known yet delays the loads in open().
        if (!route.retransmission) [[likely]] {
            line.arbiter.count_packet(route.stream);
        } else {
            line.retransmission_packets.add();
        }
        while (true) {
            admit_block<keeps>(input, line, route, block, result, ts_receive_ns);
            if (rest.empty()) [[likely]] {
                return;
            }
            block = {};
            result = line.codec.open(rest, block_checksum_, block);
        }
    }

    template <bool keeps>
    [[gnu::always_inline]] void admit_block(Input& input, Line& line, const LineRoute& route,
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
        if (verdict == feed::Verdict::deliver_all && decode_straight(line, block)) [[likely]] {
            line.arbiter.commit_next(block, route.stream);
            note_first<keeps>(input, line, block, route.stream);
        } else if (verdict == feed::Verdict::duplicate_all && line.codec.begins_with_data(block))
            [[likely]] {
            line.arbiter.commit_duplicate(block, route.stream);
            line.lead.second(block, route.stream);
        } else {
            feed::Block walked = block;  // so that the other can stay in registers
            admit_walked<keeps>(input, line, walked, route.stream);
        }
    }

    /// The way of what does not go straight: all its messages are looked at before anything is
    /// done. Apart, so that nothing of it burdens the others.
    template <bool keeps>
    [[gnu::noinline]] void admit_walked(Input& input, Line& line, feed::Block& block,
                                        feed::Stream stream) {
        count_rejects(line, line.codec.walk(scratch_, block));
        switch (line.arbiter.commit(block, stream)) {
            case feed::Verdict::deliver_all:
                select(line);
                decode(block, 0, block.messages, 0);
                note_first<keeps>(input, line, block, stream);
                break;
            case feed::Verdict::duplicate_all:
                line.lead.second(block, stream);
                break;
            case feed::Verdict::slow:
                if (commit_slow(line, block, stream) && keeps) {
                    keep(input, line, block);
                }
                break;
        }
    }

    /// The first copy of a block was delivered.
    template <bool keeps>
    void note_first(Input& input, Line& line, const feed::Block& block, feed::Stream stream) {
        if (sample_ts_exchange_ns_ == 0) {
            sample_ts_exchange_ns_ = block.ts_exchange_ns;
        }
        line.lead.first(block, stream);
        if constexpr (keeps) {
            keep(input, line, block);
        }
    }

    /// True if some of its messages had not come before.
    bool commit_slow(Line& line, const feed::Block& block, feed::Stream stream) {
        const std::uint64_t before = line.arbiter.committed_at_once();
        select(line);
        line.arbiter.commit_slow(block, stream, now_ns_, sink_);
        next_deadline_ns_ = std::min(next_deadline_ns_, line.arbiter.next_deadline_ns());
        return line.arbiter.committed_at_once() != before && block.role == feed::BlockRole::data;
    }

    /// The block is in the packet that was taken last.
    void keep(Input& input, const Line& line, const feed::Block& block) {
        if (!input.keeps) {
            history_->copy(block, line.index);
        } else if (input.kept.has_room(input.filled)) {
            history_->keep(block, line.index);
        } else {
            history_->skip();
        }
    }

    /// Blocks that recovery had brought: copies of the streams', in no packet.
    std::size_t take_repairs() {
        return repair_rings_->take_repairs(
            [this](std::uint32_t line, std::span<const std::byte> bytes) {
                admit_repair(lines_[line], bytes);
            });
    }

    void admit_repair(Line& line, std::span<const std::byte> bytes) {
        feed::Block block;
        const auto result = line.codec.open_repair(bytes, block_checksum_, block);
        count_rejects(line, result.reasons);
        if (!result.accepted) {
            return;
        }
        count_rejects(line, line.codec.walk(scratch_, block));
        block.ts_receive_ns = wall_ns_;
        block.retransmitted = true;
        if (commit_slow(line, block, feed::Stream::a) && history_ != nullptr) {
            history_->copy(block, line.index);
            history_->publish();
        }
    }

    void select(Line& line) {
        line_ = &line;
        router_.begin(line.index);
    }

    /// False: it does not go straight, and nothing of it was decoded.
    [[nodiscard, gnu::always_inline]] bool decode_straight(Line& line, const feed::Block& block) {
        select(line);
        LineEvents<Line> events{router_, line, test_symbols_};
        return line.day.original(block.ts_exchange_ns) &&
               line.codec.decode_straight(block, header_of(block, 0), line.is_gth, events);
    }

    void decode(const feed::Block& block, unsigned first, unsigned count,
                feed::DeliveryFlags flags) {
        if (!line_->day.original(block.ts_exchange_ns)) [[unlikely]] {
            return line_->arbiter.counters().bump(feed::LineCount::filtered, count);
        }
        const feed::Header base = header_of(block, flags);
        LineEvents<Line> events{router_, *line_, test_symbols_};
        line_->codec.decode(block, first, count, base, line_->is_gth, events);
    }

    /// What the arbiters' slow path decides.
    class Sink final : public feed::ArbiterSink {
      public:
        explicit Sink(Poller& poller) : poller_(poller) {}

        void deliver(const feed::Block& block, unsigned first, unsigned count,
                     feed::DeliveryFlags flags) override {
            if (block.places != nullptr) {
                return poller_.decode(block, first, count, flags);
            }
            // A block that was held lost its places, so they are found again.
            feed::Block whole = block;
            static_cast<void>(poller_.line_->codec.walk(poller_.waited_scratch_, whole));
            PINSTRIKE_CHECK(whole.decodable >= first + count);
            poller_.decode(whole, first, count, flags);
        }

        [[nodiscard]] std::optional<std::int64_t> ts_of_copy(
            std::span<const feed::BlockStart> starts, const feed::Block& block) const override {
            return poller_.line_->codec.ts_of_copy(starts, block);
        }

        void gap(std::uint64_t first, std::uint64_t last, std::uint64_t messages,
                 feed::GapCause cause, std::int64_t ts_exchange_ns) override {
            if (!poller_.line_->day.original(ts_exchange_ns)) {
                return;  // of tests, which no core is given
            }
            feed::Event event = poller_.event_of(feed::EventKind::gap, *poller_.line_);
            event.header.set_number(first);
            event.body.gap = {first, last, messages, cause};
            poller_.router_.broadcast(event);
        }

        void reset(const feed::Block& block, feed::Forget forget, bool inferred) override {
            poller_.line_->lead.reset();
            feed::LineDay& day = poller_.line_->day;
            const bool starts = block.role != feed::BlockRole::reset || forget == feed::Forget::day;
            poller_.line_->codec.note_reset(block);
            if (starts ? !day.start(block.ts_exchange_ns, poller_.wall_ns_)
                       : !day.original(block.ts_exchange_ns)) {
                return;  // of tests: wipes nothing
            }
            feed::Event event{};
            event.header = poller_.header_of(
                block, inferred ? feed::DeliveryFlags{feed::flag_inferred} : feed::DeliveryFlags{});
            event.header.kind = feed::EventKind::control;
            event.header.set_number(block.sequence);
            event.header.participant = Codec::control_participant;
            event.header.type = starts ? Codec::start_of_day_type : Codec::reset_type;
            event.body.control = {forget};
            poller_.router_.broadcast(event);
        }

        [[nodiscard]] bool start_is_due() const override {
            return poller_.line_->day.start_is_due();
        }

        void committed(const feed::Block& block) override {
            if (poller_.history_ != nullptr && block.role == feed::BlockRole::data) {
                poller_.history_->copy(block, poller_.line_->index);  // shown with the burst
            }
        }

        void missing(feed::Position begin, feed::Position end, std::int64_t ts_before_ns,
                     std::int64_t ts_behind_ns) override {
            poller_.note({begin, end, ts_before_ns, ts_behind_ns,
                          static_cast<std::uint32_t>(poller_.line_->index),
                          RepairNote::Kind::missing});
        }

        void found(feed::Position begin, feed::Position end) override {
            poller_.note({begin, end, 0, 0, static_cast<std::uint32_t>(poller_.line_->index),
                          RepairNote::Kind::found});
        }

      private:
        Poller& poller_;
    };

    /// One that comes of no message.
    [[nodiscard]] feed::Event event_of(feed::EventKind kind, const Line& line) const {
        feed::Event event{};
        event.header.kind = kind;
        event.header.venue = Codec::venue;
        event.header.line = line.number;
        event.header.ts_receive_ns = wall_ns_;
        return event;
    }

    void note(const RepairNote& note) {
        if (repair_rings_ != nullptr) {
            repair_rings_->note(note);
        }
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

    void run_timers() {
        if (now_ns_ < next_deadline_ns_) [[likely]] {
            return;
        }
        next_deadline_ns_ = feed::Arbiter::never_ns;
        loop_clock_.acted();
        for (auto& line : lines_) {
            if (line->arbiter.next_deadline_ns() <= now_ns_) {
                select(*line);
                line->arbiter.step(now_ns_, sink_);
            }
            next_deadline_ns_ = std::min(next_deadline_ns_, line->arbiter.next_deadline_ns());
        }
    }

    /// A burst of each port, then the timers.
    std::size_t step_live(std::int64_t now_ns) {
        wall_ns_ = now_ns;
        now_ns_ = arbitration_clock_.step(now_ns);
        std::size_t packets = 0;
        bool behind = false;
        for (auto& input : inputs_) {
            packets += receive(*input, now_ns);
            behind = behind || input->filled == input->burst.size();
            admit_burst(*input);
        }
        if (repair_rings_ != nullptr) {
            packets += take_repairs();
        }
        arbitration_clock_.looked(behind);
        run_timers();
        return packets;
    }

    /// Packets of all captures by their time, about a burst of them; timers up to each packet's
    /// time before it. `now_ns` is for ports that pace themselves.
    std::size_t step_replay(std::int64_t now_ns) {
        std::size_t packets = 0;
        while (packets < replay_burst_packets) {
            Input* next = earliest(now_ns);
            if (next == nullptr) {
                break;
            }
            const nic::Packet& packet = next->burst[next->taken++];
            now_ns_ = wall_ns_ = std::max(now_ns_, packet.ts_receive_ns);
            burst_ts_ns_ = packets == 0 ? packet.ts_receive_ns : burst_ts_ns_;
            run_timers();
            admit<false>(*next, packet);
            ++packets;
        }
        return packets;
    }

    /// The input whose next packet is the oldest; nullptr: none has any now.
    Input* earliest(std::int64_t now_ns) {
        Input* best = nullptr;
        for (auto& input : inputs_) {
            if (input->taken == input->filled && receive(*input, now_ns) == 0) {
                continue;
            }
            if (best == nullptr ||
                input->burst[input->taken].ts_receive_ns < best->burst[best->taken].ts_receive_ns) {
                best = input.get();
            }
        }
        return best;
    }

    /// Low-rate work, at random intervals, so that the pollers do not fall into step.
    void housekeep() {
        loop_clock_.acted();
        for (auto& input : inputs_) {
            input->port->housekeep(even_ns_);
        }
        if (even_ns_ >= next_look_ns_ && !replays_) {
            look_at_lines();
            if (marks_) {
                mark_lines();
            }
            next_look_ns_ = even_ns_ + look_interval_ns;
        }
        settings_.take([this](PollerSettings& settings) { adopt(settings); });
        router_.settle();
        next_housekeeping_ns_ = even_ns_ + next_housekeeping_interval_ns();
    }

    void adopt(PollerSettings& settings) {
        if (settings.lines != nullptr) {
            take_lines(static_cast<typename Lines::Prepared&>(*settings.lines));
        }
        block_checksum_ = settings.block_checksum;
        test_symbols_ = settings.test_symbols;
        for (auto& line : lines_) {
            line->arbiter.set_window(settings.window_ns);
            line->watch.configure(settings.silence);
        }
        for (auto& input : inputs_) {
            input->sources.swap(settings.sources[input->index]);
        }
    }

    /// Their groups last: by then each has its line.
    void take_lines(typename Lines::Prepared& more) {
        for (auto& line : more.lines) {
            line->day.look(wall_ns_);
        }
        lines_.take(more);
        for (auto& input : inputs_) {
            if (more.groups[input->index] != nullptr) {
                input->port->join(*more.groups[input->index], even_ns_);
            }
        }
    }

    /// Which streams are heard, and whether a day has begun.
    void look_at_lines() {
        for (auto& line : lines_) {
            line->day.look(wall_ns_);
            const bool on_air =
                line->day.hours().on_air(wall_ns_) && Codec::sends_heartbeats(line->number);
            line->watch.look({even_ns_, wall_ns_}, packets_of(*line), on_air,
                             [&](feed::LineState state, char stream) {
                                 feed::Event event = event_of(feed::EventKind::line_state, *line);
                                 event.body.line_state = {state, stream};
                                 router_.begin(line->index);
                                 router_.broadcast(event);
                             });
        }
    }

    /// A core gets its share of a line's messages: so it knows how far the line has come even where
    /// none was for it.
    void mark_lines() {
        for (auto& line : lines_) {
            feed::Event event = event_of(feed::EventKind::line_mark, *line);
            if (line->marker.look(line->arbiter, line->day, event.header)) {
                router_.begin(line->index);
                router_.broadcast(event);
            }
        }
    }

    static std::array<std::uint64_t, feed::streams_count> packets_of(Line& line) {
        using feed::Stream;
        const auto of = [&line](Stream stream) {
            return line.arbiter.counters(stream).read(feed::StreamCount::packets);
        };
        return {of(Stream::a), of(Stream::b)};
    }

    /// Wall time from the exchange's stamp, or from when a capture's packet was due, to the end of
    /// the burst: the start of this step is the end of the last. Each packet counts as the first:
    /// bursts grow where the poller was late, and one figure a burst would make that rare.
    void count_latency(std::int64_t now_ns) {
        if (sample_ts_exchange_ns_ != 0 && (!replays_ || due_.known())) {
            const std::int64_t begin_ns =
                replays_ ? due_.due_ns(burst_ts_ns_) : sample_ts_exchange_ns_;
            counters_.exchange_to_decoded_ns.record(now_ns - begin_ns, burst_packets_);
            if (overlaps_stop(begin_ns, counters_.stopped_until_ns)) [[unlikely]] {
                counters_.exchange_to_decoded_disturbed_ns.record(now_ns - begin_ns,
                                                                  burst_packets_);
            }
        }
        sample_ts_exchange_ns_ = 0;
    }

    void count_rejects(Line& line, std::uint32_t reasons) {
        for (; reasons != 0; reasons &= reasons - 1) {
            line.rejects.bump(static_cast<typename Codec::Reject>(std::countr_zero(reasons)));
        }
    }

    static constexpr std::size_t replay_burst_packets = 64;
    static constexpr std::int64_t look_interval_ns = 100'000'000;

    bool block_checksum_;
    bool test_symbols_;
    bool marks_;
    bool replays_ = false;
    bool begun_ = false;
    std::int64_t wall_ns_ = 0;
    EvenClock even_clock_;
    std::int64_t even_ns_ = 0;  ///< of this step, for what ports do again and again
    ArbitrationClock arbitration_clock_;
    std::int64_t now_ns_ = 0;  ///< the time of arbitration: of packets where captures are replayed
    std::int64_t next_deadline_ns_ = feed::Arbiter::never_ns;
    std::int64_t next_housekeeping_ns_ = 0;
    std::int64_t next_look_ns_ = 0;
    std::int64_t sample_ts_exchange_ns_ = 0;  ///< of the step's first block that was delivered
    std::uint64_t burst_packets_ = 0;         ///< of the last step that had any
    nic::DueTimes due_;
    std::int64_t burst_ts_ns_ = 0;  ///< of a replay: when the step's first packet was captured
    Line* line_ = nullptr;          ///< whose messages are being delivered
    Router router_;
    typename Codec::Scratch scratch_;
    typename Codec::Scratch waited_scratch_;
    std::vector<std::unique_ptr<Input>> inputs_;
    Lines lines_;
    Sink sink_;
};

// --- cold ---

template <class Codec>
Poller<Codec>::Poller(PollerSetup setup, Router router)
    : PollerTask(setup),
      block_checksum_(setup.block_checksum),
      test_symbols_(setup.test_symbols),
      marks_(setup.marks),
      due_(setup.due),
      router_(std::move(router)),
      lines_(setup, router_.lines_max()),
      sink_(*this) {
    for (PollerPort& port : setup.ports) {
        replays_ = replays_ || port.port->replays();
        inputs_.push_back(std::make_unique<Input>(std::move(port), inputs_.size()));
    }
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
