// path: cold
#include "actors/peer/peer_task.h"

#include "config/check.h"

#include <algorithm>
#include <utility>

namespace pinstrike::actors::peer {
namespace {

constexpr std::size_t blocks_each_step = 4096;  // of each poller
/// A clock that is set makes nothing older by more than this.
constexpr std::int64_t step_ns_max = 1'000'000'000;

}  // namespace

PeerTask::PeerTask(std::unique_ptr<feed::History> history, std::unique_ptr<Peers> peers)
    : history_(std::move(history)), peers_(std::move(peers)) {}

std::size_t PeerTask::step(std::int64_t now_ns) {
    time_ns_ = seen_ns_ == 0
                   ? now_ns
                   : time_ns_ + std::clamp<std::int64_t>(now_ns - seen_ns_, 0, step_ns_max);
    seen_ns_ = now_ns;
    std::size_t done = 0;
    for (HistoryRoadEnd& road : roads_) {
        done += take(road);
    }
    if (history_) {
        history_->expire(time_ns_);
    }
    done += peers_ ? peers_->step(time_ns_) : 0;
    done += desk_ != nullptr ? desk_->step() : 0;
    if (transfer_ != nullptr && peers_) {
        done += transfer_->step(time_ns_, peers_->state_sources());
    }
    return done;
}

void PeerTask::finish() {
    for (HistoryRoadEnd& road : roads_) {
        road.copies.hand_on();  // to this thread
        while (take(road) != 0) {
        }
    }
}

std::size_t PeerTask::take(HistoryRoadEnd& road) {
    std::size_t taken = 0;
    for (; taken != blocks_each_step; ++taken) {
        const auto head = road.copies.peek(1);
        if (head.empty()) {
            break;
        }
        const FirstCopy copy = head.front();
        const bool by_reference = copy.kept_bytes != nullptr;
        const std::size_t records = by_reference ? 1 : FirstCopy::records_for(copy.bytes);
        const auto whole = road.copies.peek(records);  // published together
        PINSTRIKE_CHECK(whole.size() == records);
        const auto bytes = by_reference ? std::span{copy.kept_bytes, copy.bytes}
                                        : std::as_bytes(whole.subspan(1)).first(copy.bytes);
        history_->keep({road.lines[copy.line], copy.messages, copy.first, copy.ts_exchange_ns,
                        time_ns_, bytes});
        road.copies.release(records);
    }
    return taken;
}

}  // namespace pinstrike::actors::peer
