// path: cold
#include "actors/peer/peer_task.h"

#include <utility>

namespace pinstrike::actors::peer {
namespace {

constexpr std::size_t blocks_each_step = 4096;  // per poller

}  // namespace

PeerTask::PeerTask(std::unique_ptr<feed::History> history, std::unique_ptr<Peers> peers)
    : history_(std::move(history)), peers_(std::move(peers)) {}

std::size_t PeerTask::step(std::int64_t now_ns) {
    const std::int64_t time_ns = clock_.step(now_ns);
    std::size_t done = 0;
    for (HistoryRingReader& ring : history_rings_) {
        done += read(ring);
    }
    if (history_) {
        history_->expire(time_ns);
    }
    done += peers_ ? peers_->step(time_ns) : 0;
    done += exchange_ != nullptr ? exchange_->step() : 0;
    if (transfer_ != nullptr && peers_) {
        done += transfer_->step(time_ns, peers_->state_sources());
    }
    return done;
}

void PeerTask::finish() {
    for (HistoryRingReader& ring : history_rings_) {
        ring.copies
            .release_ownership();  // because this thread may not be the one that called step()
        while (read(ring) != 0) {
        }
    }
}

std::size_t PeerTask::read(HistoryRingReader& ring) {
    std::size_t copies = 0;
    for (; copies != blocks_each_step; ++copies) {
        const auto record = peek_record(ring.copies);
        if (!record) {
            break;
        }
        const FirstCopy& copy = record->head;
        const auto bytes =
            copy.kept_bytes == nullptr ? record->bytes : std::span{copy.kept_bytes, copy.bytes};
        history_->keep({ring.lines[copy.line], copy.messages, copy.number(), copy.ts_exchange_ns,
                        clock_.now_ns(), bytes, copy.session});
        ring.copies.release(record->slots);
    }
    return copies;
}

}  // namespace pinstrike::actors::peer
