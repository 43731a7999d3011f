// path: hot
#pragma once

#include "actors/poller/poller_task.h"
#include "config/check.h"
#include "feed/arbitration/arbiter_sink.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/position.h"
#include "feed/lines/line_day.h"

#include <cstdint>
#include <optional>
#include <span>

namespace pinstrike::actors {

/// Carries out the decisions of the arbiters' slow path for one poller.
template <class Poller>
class SlowPathSink final : public feed::ArbiterSink {
  public:
    explicit SlowPathSink(Poller& poller) : poller_(poller) {}

    void deliver(const feed::Block& block, unsigned first, unsigned count,
                 feed::DeliveryFlags flags) override {
        if (block.places != nullptr) {
            return poller_.decode(block, first, count, flags);
        }
        // The message offsets of a held block are not kept, so they are found again.
        feed::Block whole = block;
        static_cast<void>(poller_.line_->codec.walk(poller_.waited_scratch_, whole));
        PINSTRIKE_CHECK(whole.decodable >= first + count);
        poller_.decode(whole, first, count, flags);
    }

    [[nodiscard]] std::optional<std::int64_t> ts_of_copy(std::span<const feed::BlockStart> starts,
                                                         const feed::Block& block) const override {
        return poller_.line_->codec.ts_of_copy(starts, block);
    }

    void gap(std::uint64_t first, std::uint64_t last, std::uint64_t messages, feed::GapCause cause,
             std::int64_t ts_exchange_ns) override {
        if (!poller_.line_->day.original(ts_exchange_ns)) {
            return;  // a gap in test data, which no core gets
        }
        feed::Event event = poller_.event_of(feed::EventKind::gap, *poller_.line_);
        event.header.set_number(first);
        event.body.gap = {first, last, messages, cause};
        poller_.router_.broadcast(event);
    }

    void reset(const feed::Block& block, feed::Forget forget, bool inferred) override {
        poller_.line_->skew.reset();
        feed::LineDay& day = poller_.line_->day;
        const bool starts = block.role != feed::BlockRole::reset || forget == feed::Forget::day;
        poller_.line_->codec.note_reset(block);
        if (starts ? !day.start(block.ts_exchange_ns, poller_.wall_ns_)
                   : !day.original(block.ts_exchange_ns)) {
            return;  // a reset in test data, which clears no state
        }
        feed::Event event{};
        event.header = poller_.header_of(
            block, inferred ? feed::DeliveryFlags{feed::flag_inferred} : feed::DeliveryFlags{});
        event.header.kind = feed::EventKind::control;
        event.header.set_number(block.sequence);
        event.header.participant = Poller::Codec::control_participant;
        event.header.type = starts ? Poller::Codec::start_of_day_type : Poller::Codec::reset_type;
        event.body.control = {forget};
        poller_.router_.broadcast(event);
    }

    [[nodiscard]] bool start_is_due() const override { return poller_.line_->day.start_is_due(); }

    void committed(const feed::Block& block) override {
        if (poller_.history_ != nullptr && block.role == feed::BlockRole::data) {
            poller_.history_->copy(block, poller_.line_->index);  // published with the burst
        }
    }

    void missing(feed::Position begin, feed::Position end, std::int64_t ts_before_ns,
                 std::int64_t ts_behind_ns) override {
        poller_.note({begin, end, ts_before_ns, ts_behind_ns,
                      static_cast<std::uint32_t>(poller_.line_->index), RepairNote::Kind::missing});
    }

    void found(feed::Position begin, feed::Position end) override {
        poller_.note({begin, end, 0, 0, static_cast<std::uint32_t>(poller_.line_->index),
                      RepairNote::Kind::found});
    }

  private:
    Poller& poller_;
};

}  // namespace pinstrike::actors
