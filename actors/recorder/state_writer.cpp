// path: cold
#include "actors/recorder/state_writer.h"

#include "actors/recorder/record_config.h"
#include "feed/recording/moment.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace pinstrike::actors {

namespace {

using ChunkKind = FilledStateChunk::Kind;

}  // namespace

StateWriter::StateWriter(std::string folder, std::string feed, Consumer<FilledStateChunk> chunks,
                         RecorderCounters& counters, std::unique_ptr<DiskQueue> disk)
    : folder_(std::move(folder)),
      feed_(std::move(feed)),
      chunks_(std::move(chunks)),
      counters_(counters),
      disk_(std::move(disk)) {}

std::unique_ptr<StateWriter> StateWriter::open(std::string folder, std::string feed,
                                               Consumer<FilledStateChunk> chunks,
                                               RecorderCounters& counters, Problems& problems) {
    feed::remove_unfinished_states(folder);
    auto disk = make_uring_queue({}, problems);
    if (disk == nullptr) {
        return nullptr;
    }
    return std::unique_ptr<StateWriter>{new StateWriter{
        std::move(folder), std::move(feed), std::move(chunks), counters, std::move(disk)}};
}

std::size_t StateWriter::step() {
    if (doing_ != Doing::nothing) {
        const auto done = disk_->next_ended();
        if (done) {
            ended(done->result);
        }
        return done ? 1 : 0;
    }
    const auto next = chunks_.peek(1);
    if (next.empty()) {
        return 0;
    }
    const FilledStateChunk& chunk = next.front();
    if (chunk.kind == ChunkKind::begin) {
        begin(chunk);
    } else if (!file_.valid()) {
        release();
    } else if (chunk.kind == ChunkKind::given_up) {
        give_up(ETIMEDOUT);
        release();
    } else if (chunk.kind == ChunkKind::end) {
        mark_.assign(feed::state_chunk_head_bytes, std::byte{});
        begin_write(chunk, mark_);
    } else {
        begin_write(chunk, {chunk.bytes, chunk.used_bytes});
    }
    return 1;
}

void StateWriter::begin(const FilledStateChunk& chunk) {
    if (file_.valid()) {
        give_up(ETIMEDOUT);  // the snapshot before has no end
    }
    begin_ns_ = chunk.time_ns;
    path_ = feed::state_path(folder_, begin_ns_);
    const std::string unfinished = feed::unfinished_state_path(path_);
    file_ = nic::FileDescriptor{
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, recording_file_mode)};
    if (!file_.valid()) {
        give_up(errno);
        return release();
    }
    static_cast<void>(::fchmod(file_.get(), recording_file_mode));  // whatever the umask says
    offset_ = 0;
    next_number_ = 0;
    series_ = 0;
    mark_ = feed::bytes_of(feed::StateHead{feed_, feed::trade_date_of(begin_ns_), begin_ns_});
    unwritten_ = mark_;
    add(Doing::writing, unwritten_);
}

void StateWriter::begin_write(const FilledStateChunk& chunk, std::span<std::byte> bytes) {
    series_ += chunk.series;
    feed::seal_state_chunk(
        bytes, {.end_ns = chunk.time_ns, .number = next_number_++, .records = chunk.records});
    unwritten_ = bytes;
    add(Doing::writing, unwritten_);
}

void StateWriter::add(Doing doing, std::span<const std::byte> bytes) {
    disk_->add({.fd = file_.get(), .offset = offset_, .bytes = bytes});
    disk_->submit();
    doing_ = doing;
}

/// A write or a sync has ended.
void StateWriter::ended(int result) {
    const bool wrote = std::exchange(doing_, Doing::nothing) == Doing::writing;
    if (result < 0 || (wrote && result == 0)) {
        give_up(result == 0 ? ENOSPC : -result);
        return release();
    }
    if (!wrote) {
        complete();
        return release();
    }
    offset_ += static_cast<std::uint64_t>(result);
    unwritten_ = unwritten_.subspan(static_cast<std::size_t>(result));
    if (!unwritten_.empty()) {
        add(Doing::writing, unwritten_);
    } else if (chunks_.peek(1).front().kind == ChunkKind::end) {
        add(Doing::syncing, {});
    } else {
        release();
    }
}

void StateWriter::complete() {
    file_ = nic::FileDescriptor{};
    if (::rename(feed::unfinished_state_path(path_).c_str(), path_.c_str()) != 0) {
        return give_up(errno);
    }
    counters_.bump(RecorderCount::snapshots);
    counters_.snapshot_ns.set(static_cast<std::uint64_t>(begin_ns_));
    counters_.snapshot_series.set(series_);
    counters_.snapshot_error.set(0);
}

void StateWriter::release() {
    chunks_.release(1);
}

void StateWriter::give_up(int error) {
    file_ = nic::FileDescriptor{};
    static_cast<void>(::unlink(feed::unfinished_state_path(path_).c_str()));
    counters_.bump(RecorderCount::snapshots_failed);
    counters_.snapshot_error.set(static_cast<std::uint64_t>(error));
}

void StateWriter::finish() {
    constexpr int pauses_max = 10'000;  // of a millisecond, for a disk that answers nothing
    chunks_.release_ownership();
    for (int pauses = 0; pauses < pauses_max;) {
        if (step() != 0) {
            continue;
        }
        if (doing_ == Doing::nothing) {
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++pauses;
    }
    if (file_.valid()) {
        file_ = nic::FileDescriptor{};
        static_cast<void>(::unlink(feed::unfinished_state_path(path_).c_str()));
    }
}

}  // namespace pinstrike::actors
