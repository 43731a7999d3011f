// path: cold
#include "actors/snapshot/snapshot_task.h"

#include "actors/peer/state_frames.h"
#include "config/time_units.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pinstrike::actors {

namespace {

using ChunkKind = FilledStateChunk::Kind;

/// If a peer receives state, or the recorder is still busy with the snapshot before.
constexpr std::int64_t retry_ns = second_ns;
/// A chunk is passed on after this time, also if it is not full: a replay must have the messages
/// since its records were given.
constexpr std::int64_t oldest_ns = 20'000'000;
/// If the recorder takes nothing for this long, the snapshot is given up, so that peers get state.
constexpr std::int64_t walk_patience_ns = 10 * second_ns;
constexpr std::size_t frame_bytes_max =
    peer::header_bytes + peer::state_series_bytes + peer::state_trades_bytes;
constexpr std::size_t frames_bytes_most =
    StateChunks::buffer_bytes - feed::state_chunk_head_bytes - frame_bytes_max;

}  // namespace

SnapshotTask::SnapshotTask(SnapshotSetup setup, peer::StateExchange& exchange,
                           std::unique_ptr<StateChunks> chunks)
    : setup_(std::move(setup)), exchange_(exchange), chunks_(std::move(chunks)) {}

std::size_t SnapshotTask::step(std::int64_t now_ns) {
    const bool first = clock_.now_ns() == 0;
    clock_.step(now_ns);
    if (first) {
        due_ns_ = clock_.now_ns() + std::min(setup_.interval_ns, first_after_ns);
    }
    const std::size_t done = exchange_.step();
    switch (phase_) {
        case Phase::waiting:
            return done + (clock_.now_ns() >= due_ns_ ? begin(now_ns) : 0);
        case Phase::walking:
            return done + walk(now_ns);
        case Phase::ending:
            return done + end(now_ns);
    }
    return done;
}

std::size_t SnapshotTask::begin(std::int64_t now_ns) {
    walked_ns_ = passed_ns_ = clock_.now_ns();
    due_ns_ = clock_.now_ns() + setup_.interval_ns;
    const std::uint64_t packets = setup_.packets();
    if (packets == packets_) {
        return 0;
    }
    const bool given = !exchange_.begin().has_value();
    if (!given || !chunks_->pass({.kind = ChunkKind::begin, .time_ns = now_ns})) {
        if (given) {
            exchange_.leave();
        }
        due_ns_ = clock_.now_ns() + std::min(setup_.interval_ns, retry_ns);
        return 0;
    }
    packets_ = packets;
    open_ = {};
    phase_ = Phase::walking;
    return 1;
}

std::size_t SnapshotTask::walk(std::int64_t now_ns) {
    const std::size_t allowed = allowed_records();
    std::size_t records = 0;
    while (records < allowed && phase_ == Phase::walking) {
        if (frames_.waiting().size() > frames_bytes_most && !pass_frames(now_ns)) {
            break;
        }
        StateRecord record;
        const auto next = exchange_.next(record);
        if (next == peer::StateGiver::Next::nothing_yet) {
            break;
        }
        if (next == peer::StateGiver::Next::end) {
            phase_ = Phase::ending;
            return 1;
        }
        peer::put(frames_, peer::StateFrame{0, record});
        ++open_.records;
        open_.series += record.kind == StateRecord::Kind::series ? 1 : 0;
        ++records;
    }
    if (clock_.now_ns() - passed_ns_ >= oldest_ns && pass_frames(now_ns)) {
        return records + 1;
    }
    if (clock_.now_ns() - passed_ns_ >= walk_patience_ns) {
        leave();
    }
    return records;
}

/// How many records may be requested now, so that the books give at most records_per_second,
/// however often this is called.
std::size_t SnapshotTask::allowed_records() {
    const std::int64_t elapsed_ns =
        std::clamp<std::int64_t>(clock_.now_ns() - walked_ns_, 0, second_ns / 100);
    const std::int64_t records = elapsed_ns * records_per_second / second_ns;
    if (records != 0) {
        walked_ns_ = clock_.now_ns();
    }
    return static_cast<std::size_t>(records);
}

/// Passes on the open chunk, unless it is empty. False: the recorder still has all buffers.
bool SnapshotTask::pass_frames(std::int64_t now_ns) {
    const auto frames = frames_.waiting();
    if (!frames.empty()) {
        const auto buffer = chunks_->buffer();
        if (buffer.empty()) {
            return false;
        }
        std::memcpy(buffer.data() + feed::state_chunk_head_bytes, frames.data(), frames.size());
        open_.kind = ChunkKind::frames;
        open_.used_bytes = static_cast<std::uint32_t>(feed::state_chunk_head_bytes + frames.size());
        open_.time_ns = now_ns;
        open_.bytes = buffer.data();
        if (!chunks_->pass(open_)) {
            return false;
        }
        frames_.sent(frames.size());
        open_ = {};
    }
    passed_ns_ = clock_.now_ns();
    return true;
}

/// All records were given.
std::size_t SnapshotTask::end(std::int64_t now_ns) {
    if ((frames_.waiting().empty() || pass_frames(now_ns)) &&
        chunks_->pass({.kind = ChunkKind::end, .time_ns = now_ns})) {
        exchange_.leave();
        phase_ = Phase::waiting;
        return 1;
    }
    if (clock_.now_ns() - passed_ns_ >= walk_patience_ns) {
        leave();
    }
    return 0;
}

/// Gives up. If the recorder cannot even take the mark now, the next begin has the same effect.
void SnapshotTask::leave() {
    frames_.sent(frames_.waiting().size());
    static_cast<void>(chunks_->pass({.kind = ChunkKind::given_up}));
    exchange_.leave();
    phase_ = Phase::waiting;
}

}  // namespace pinstrike::actors
