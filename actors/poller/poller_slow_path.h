// path: hot
//
// The blocks of a poller that do not take the fast path, blocks that recovery brought, and how the
// decisions of an arbiter's slow path are carried out: deliveries, gaps, resets. Included by
// poller.h.
#pragma once

#include "actors/poller/poller.h"
#include "config/check.h"

namespace pinstrike::actors {

/// Processes a block that does not take the fast path: walks all its messages before anything is
/// delivered. A separate function, so that it does not take registers from the fast path.
template <class Codec>
template <bool with_history>
void Poller<Codec>::process_walked(Input& input, Line& line, feed::Block& block,
                                   feed::Stream stream) {
    count_rejects(line, line.codec.walk(scratch_, block));
    switch (line.arbiter.commit(block, stream)) {
        case feed::Verdict::deliver_all:
            select(line);
            decode(block, 0, block.messages, 0);
            note_first<with_history>(input, line, block, stream);
            break;
        case feed::Verdict::duplicate_all:
            line.skew.second(block, stream);
            break;
        case feed::Verdict::slow:
            if (commit_slow(line, block, stream) && with_history) {
                keep(input, line, block);
            }
            break;
    }
}

/// True if the block has the role `data` and at least one of its messages was accepted for the
/// first time.
template <class Codec>
bool Poller<Codec>::commit_slow(Line& line, const feed::Block& block, feed::Stream stream) {
    const std::uint64_t before = line.arbiter.committed_at_once();
    select(line);
    line.arbiter.commit_slow(block, stream, now_ns_, *this);
    next_deadline_ns_ = std::min(next_deadline_ns_, line.arbiter.next_deadline_ns());
    return line.arbiter.committed_at_once() != before && block.role == feed::BlockRole::data;
}

template <class Codec>
void Poller<Codec>::decode(const feed::Block& block, unsigned first, unsigned count,
                           feed::DeliveryFlags flags) {
    if (!line_->day.original(block.ts_exchange_ns)) [[unlikely]] {
        return line_->arbiter.counters().bump(feed::LineCount::filtered, count);
    }
    const feed::Header base = header_of(block, flags);
    LineEvents events{router_, *line_, test_symbols_};
    line_->codec.decode(block, first, count, base, line_->is_gth, events);
}

/// Processes blocks that recovery brought. They lie in no packet of a port.
template <class Codec>
std::size_t Poller<Codec>::read_repairs() {
    return repair_rings_->read_repairs(
        [this](std::uint32_t line, std::span<const std::byte> bytes) {
            process_repair(lines_[line], bytes);
        });
}

template <class Codec>
void Poller<Codec>::process_repair(Line& line, std::span<const std::byte> bytes) {
    if (recorder_ != nullptr) {
        record(wall_ns_);  // a recording has the order in which packets were processed
        recorder_->record_repair(static_cast<std::uint32_t>(line.index), line.number, bytes,
                                 wall_ns_);
    }
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

template <class Codec>
void Poller<Codec>::deliver(const feed::Block& block, unsigned first, unsigned count,
                            feed::DeliveryFlags flags) {
    if (block.places != nullptr) {
        return decode(block, first, count, flags);
    }
    // The message offsets of a held block are not kept, so they are found again.
    feed::Block whole = block;
    static_cast<void>(line_->codec.walk(waited_scratch_, whole));
    PINSTRIKE_CHECK(whole.decodable >= first + count);
    decode(whole, first, count, flags);
}

template <class Codec>
void Poller<Codec>::gap(std::uint64_t first, std::uint64_t last, std::uint64_t messages,
                        feed::GapCause cause, std::int64_t ts_exchange_ns,
                        feed::DeliveryFlags flags) {
    if (!line_->day.original(ts_exchange_ns)) {
        return;  // a gap in test data, which no core gets
    }
    feed::Event event = event_of(feed::EventKind::gap, *line_);
    event.header.set_number(first);
    event.header.flags = flags;
    event.body.gap = {first, last, messages, cause};
    router_.broadcast(event);
}

template <class Codec>
void Poller<Codec>::reset(const feed::Block& block, feed::Forget forget, bool inferred) {
    line_->skew.reset();
    feed::LineDay& day = line_->day;
    const bool starts = block.role != feed::BlockRole::reset || forget == feed::Forget::day;
    line_->codec.note_reset(block);
    if (starts ? !day.start(block.ts_exchange_ns, wall_ns_) : !day.original(block.ts_exchange_ns)) {
        return;  // a reset in test data, which clears no state
    }
    feed::Event event{};
    event.header = header_of(
        block, inferred ? feed::DeliveryFlags{feed::flag_inferred} : feed::DeliveryFlags{});
    event.header.kind = feed::EventKind::control;
    event.header.set_number(block.sequence);
    event.header.participant = Codec::control_participant;
    event.header.type = starts ? Codec::start_of_day_type : Codec::reset_type;
    event.body.control = {forget};
    router_.broadcast(event);
}

template <class Codec>
void Poller<Codec>::committed(const feed::Block& block) {
    if (history_ != nullptr && block.role == feed::BlockRole::data) {
        history_->copy(block, line_->index);  // published with the burst
    }
}

template <class Codec>
void Poller<Codec>::note(RepairNote::Kind kind, feed::Position begin, feed::Position end,
                         std::int64_t ts_before_ns, std::int64_t ts_behind_ns) {
    if (repair_rings_ != nullptr) {
        repair_rings_->note({begin, end, ts_before_ns, ts_behind_ns,
                             static_cast<std::uint32_t>(line_->index), kind});
    }
}

}  // namespace pinstrike::actors
