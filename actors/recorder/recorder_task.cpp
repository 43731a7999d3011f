// path: cold
#include "actors/recorder/recorder_task.h"

#include "config/check.h"
#include "feed/recording/segment_compressor.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <thread>

namespace pinstrike::actors {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t writes_max = 8;  ///< of each poller at a time
constexpr std::int64_t retry_interval_ns = 1'000'000'000;
constexpr std::int64_t look_interval_ns = 1'000'000'000;
/// A segment that could not be removed is left out for this time, and others are removed.
constexpr std::int64_t unremovable_interval_ns = 60'000'000'000;
/// The most snapshots that are removed at a time. More could fill the queue of the disk.
constexpr std::size_t states_removed_max = 64;
/// A poller hands over a chunk each second while it records.
constexpr std::int64_t idle_ns_min = 10'000'000'000;
/// How long finish() waits for a disk that answers nothing.
constexpr std::int64_t patience_ns = 10'000'000'000;

/// What a crash left of segments that were removed.
void remove_lost_indexes(const std::string& folder, const std::vector<std::string>& segments) {
    std::set<std::string> indexes;
    std::ranges::transform(segments, std::inserter(indexes, indexes.end()), feed::index_path);
    std::error_code error;
    for (const std::string& path : feed::files_in(folder, {".pcapng.index"}, error)) {
        if (!indexes.contains(path)) {
            static_cast<void>(::unlink(path.c_str()));
        }
    }
}

}  // namespace

std::pair<std::unique_ptr<PacketRecorder>, RecorderInput> make_recorder_ends(
    std::string poller, const RecordConfig& config, std::span<const std::uint16_t> lines,
    const RepairRoute& repairs) {
    const std::size_t chunks = config.memory_bytes / nic::chunk_bytes_max;
    auto filled = Ring<FilledChunk>::make(Ring<FilledChunk>::slots_for(chunks));
    auto free = Ring<FreeChunk>::make(Ring<FreeChunk>::slots_for(chunks));
    // Zeros are written to it, so that no page is missing on the poll path.
    std::vector<feed::Page> memory(chunks * nic::chunk_bytes_max / sizeof(feed::Page));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span{memory});
    for (std::size_t i = 0; i < chunks; ++i) {
        const FreeChunk chunk{&bytes[i * nic::chunk_bytes_max]};
        PINSTRIKE_CHECK(free.producer.try_push({&chunk, 1}));
    }
    free.producer.release_ownership();
    const LineSet wanted = config.on_demand ? LineSet{} : line_set(config.lines);
    RecordFilter filter{places_of(wanted, lines), config.copies_bytes() / sizeof(std::uint64_t)};
    auto recorder = std::make_unique<PacketRecorder>(std::move(filter), std::move(filled.producer),
                                                     std::move(free.consumer),
                                                     std::vector<std::byte*>(chunks), repairs);
    const Counter* const not_recorded = &recorder->not_recorded();
    return {std::move(recorder), RecorderInput{std::move(poller),
                                               {},
                                               std::move(memory),
                                               std::move(filled.consumer),
                                               std::move(free.producer),
                                               not_recorded}};
}

RecorderTask::RecorderTask(RecorderSetup setup, std::vector<RecorderInput> inputs)
    : setup_(std::move(setup)),
      folder_(setup_.config.folder_of(setup_.feed)),
      inputs_(std::move(inputs)),
      outputs_(inputs_.size()),
      disk_(std::move(setup_.disk)) {}

RecorderTask::~RecorderTask() = default;

std::unique_ptr<RecorderTask> RecorderTask::open(RecorderSetup setup,
                                                 std::vector<RecorderInput> inputs,
                                                 Problems& problems) {
    const std::string folder = setup.config.folder_of(setup.feed);
    std::error_code error;
    if (fs::create_directories(folder, error)) {
        fs::permissions(folder, fs::perms{0750}, error);
    }
    if (!error && ::access(folder.c_str(), W_OK) != 0) {
        error = {errno, std::generic_category()};
    }
    if (error) {
        add_problem(problems, folder,
                    fmt::format("record: the folder cannot be written to: {}", error.message()),
                    remedy_of(error.value()));
        return nullptr;
    }
    std::unique_ptr<RecorderTask> task{new RecorderTask{std::move(setup), std::move(inputs)}};
    const std::size_t problems_before = problems.size();
    feed::remove_unfinished_compressions(folder);
    const std::vector<std::string> segments = feed::segments_in(folder, problems);
    if (problems.size() != problems_before) {
        return nullptr;  // segments of earlier starts could be neither repaired nor removed
    }
    remove_lost_indexes(folder, segments);
    task->unfinished_.assign(segments.begin(), segments.end());
    std::ranges::move(feed::foreign_captures_in(folder), std::back_inserter(task->unfinished_));
    if (const int level = task->setup_.config.compress_level; level != 0) {
        task->compressor_ = std::make_unique<CompressorTask>(folder, level, task->counters_);
    }
    if (auto& chunks = task->setup_.states) {
        task->states_ = StateWriter::open(folder, task->setup_.feed, std::move(*chunks),
                                          task->counters_, problems);
        if (task->states_ == nullptr) {
            return nullptr;
        }
    }
    if (task->disk_ == nullptr) {
        std::vector<std::span<std::byte>> memories;
        for (RecorderInput& input : task->inputs_) {
            memories.push_back(std::as_writable_bytes(std::span{input.memory}));
        }
        task->disk_ = make_uring_queue(memories, problems);
        if (task->disk_ == nullptr) {
            return nullptr;
        }
    }
    return task;
}

/// The thread is the reason if it had no processor for longer than the oldest write of the poller
/// was under way when it had one. A thread that waits in a system call for a slow disk needs none.
void RecorderTask::count_missing(std::int64_t away_ns) {
    const std::int64_t waited_ns = std::max(away_ns, run_delay_.take());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        Output& output = outputs_[i];
        const std::uint64_t packets = inputs_[i].not_recorded->read();
        const std::uint64_t more = packets - std::exchange(output.not_recorded, packets);
        if (more == 0) {
            continue;
        }
        const std::int64_t write_ns =
            output.writes.empty() ? 0 : stepped_ns_ - output.writes.front()->begun_ns;
        counters_.missing.bump(is_full(output.error)  ? MissingReason::disk_full
                               : output.error != 0    ? MissingReason::disk_failed
                               : waited_ns > write_ns ? MissingReason::thread_starved
                                                      : MissingReason::disk_slow,
                               more);
    }
}

std::size_t RecorderTask::step(std::int64_t now_ns, std::int64_t away_ns) {
    count_missing(away_ns);
    if (stepped_ns_ != 0) {
        const std::int64_t pause_ns = std::max<std::int64_t>(now_ns - stepped_ns_, 0);
        counters_.longest_pause_ns.raise_to(static_cast<std::uint64_t>(pause_ns));
    }
    stepped_ns_ = now_ns;
    clock_.step(now_ns);
    std::size_t work = collect(now_ns);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        work += write_chunks(i, now_ns);
    }
    disk_->submit();
    work += states_ != nullptr ? states_->step() : 0;
    const std::uint64_t snapshots = counters_.read(RecorderCount::snapshots);
    if (std::exchange(snapshots_, snapshots) != snapshots) {
        static_cast<void>(remove_states());
    }
    return work != 0 || repair_step() || remove_old(now_ns) ? 1 : 0;
}

/// Gives back the space that is reserved for a segment which gets no packets, because the lines are
/// quiet or recording was stopped (`ctl record stop`).
void RecorderTask::release_idle() {
    for (Output& output : outputs_) {
        if (output.writes.empty() && clock_.now_ns() - output.begun_ns >= idle_ns_min) {
            output.writer.set_reserved(false);
        }
    }
}

/// Begins to remove a segment beyond the limits of the config, one at a time.
bool RecorderTask::remove_old(std::int64_t now_ns) {
    if (clock_.now_ns() < removal_.next_look_ns || !removal_.path.empty()) {
        return false;
    }
    removal_.next_look_ns = clock_.now_ns() + look_interval_ns;
    release_idle();
    if (clock_.now_ns() >= removal_.again_ns) {
        removal_.unremovable.clear();
        removal_.again_ns = clock_.now_ns() + unremovable_interval_ns;
    }
    auto marks = feed::lock_marks(folder_);
    if (!marks) {
        return false;
    }
    const RecordConfig& config = setup_.config;
    const std::int64_t oldest_ns = config.keep_ns == 0 ? INT64_MIN : now_ns - config.keep_ns;
    removal_.path = feed::segment_to_remove(
        folder_, {oldest_ns, config.keep_bytes, config.free_bytes, removal_.unremovable});
    if (removal_.path.empty()) {
        return false;
    }
    removal_.marks = std::move(*marks);
    disk_->remove(removal_.path, &removal_);
    disk_->submit();  // at once: segment_to_remove() has just checked that no process has it locked
    return true;
}

/// The file of the segment is gone, or cannot be removed. What else belongs to it is small.
void RecorderTask::end_removal() {
    const std::string path = std::exchange(removal_.path, {});
    const nic::FileDescriptor marks = std::exchange(removal_.marks, nic::FileDescriptor{});
    if (!feed::remove_segment(path)) {
        setup_.listener(RecorderNote::not_removed,
                        fmt::format("{}: {}", path, std::strerror(errno)));
        removal_.unremovable.insert(path);
        return;
    }
    counters_.bump(RecorderCount::removed);
    if (!remove_states()) {  // they count among the bytes of the recording until they are gone
        removal_.next_look_ns = clock_.now_ns();
    }
}

/// Begins to remove snapshots; false: all are needed. One that stays is found again later.
bool RecorderTask::remove_states() {
    std::vector<std::string> paths = feed::unneeded_states(folder_);
    paths.resize(std::min(paths.size(), states_removed_max));
    for (const std::string& path : paths) {
        disk_->remove(path, nullptr);
    }
    return !paths.empty();
}

/// Handles the writes that have ended.
std::size_t RecorderTask::collect(std::int64_t now_ns) {
    std::size_t count = 0;
    while (const auto ended = disk_->next_ended()) {
        if (ended->of == nullptr || ended->of == &removal_) {
            if (ended->of != nullptr) {
                end_removal();
            }
            continue;
        }
        auto& write = *static_cast<Write*>(ended->of);
        ++count;
        if (ended->result <= 0) {
            write.failed = outputs_[write.input].broken = true;
            fail(outputs_[write.input], ended->result == 0 ? ENOSPC : -ended->result);
        } else {
            write.done_bytes += static_cast<std::size_t>(ended->result);
            // A short write with O_DIRECT goes on at a multiple of the alignment.
            write.done_bytes -= write.done_bytes % nic::chunk_alignment_bytes;
            if (write.done_bytes < write.record.bytes) {
                submit(write);
                continue;
            }
        }
        write.ended = true;
        end_writes(outputs_[write.input], now_ns);
    }
    return count;
}

/// Chunks are given back in their order, so that those behind a failed one are still there to be
/// written again behind it, to the next segment.
void RecorderTask::end_writes(Output& output, std::int64_t now_ns) {
    while (!output.writes.empty() && output.writes.front()->ended &&
           !output.writes.front()->failed) {
        const Write& write = *output.writes.front();
        output.writer.add(write.record);
        counters_.bump(RecorderCount::written, write.chunk.packets);
        counters_.bump(RecorderCount::bytes, write.record.bytes);
        counters_.longest_write_ns.raise_to(
            static_cast<std::uint64_t>(std::max<std::int64_t>(now_ns - write.begun_ns, 0)));
        const FreeChunk chunk{write.chunk.bytes};
        PINSTRIKE_CHECK(inputs_[write.input].free.try_push({&chunk, 1}));
        output.writes.pop_front();
        if (!output.broken) {
            output.error = 0;
            show_error();
        }
    }
    const auto has_ended = [](const std::unique_ptr<Write>& write) { return write->ended; };
    if (output.broken && std::ranges::all_of(output.writes, has_ended)) {
        for (; !output.writes.empty(); output.writes.pop_back()) {
            output.failed.push_front(output.writes.back()->chunk);
        }
    }
}

/// The chunks that failed before come first.
std::size_t RecorderTask::write_chunks(std::size_t input, std::int64_t now_ns) {
    Output& output = outputs_[input];
    std::size_t begun = 0;
    while (output.writes.size() < writes_max) {
        const auto filled = inputs_[input].filled.peek(1);
        if ((output.failed.empty() && filled.empty()) || !ready(input, now_ns)) {
            break;
        }
        if (output.failed.empty()) {
            begin_write(input, filled[0], now_ns);
            inputs_[input].filled.release(1);
        } else {
            begin_write(input, output.failed.front(), now_ns);
            output.failed.pop_front();
        }
        ++begun;
    }
    return begun;
}

/// Whether the segment has space for a chunk. Begins another one if needed.
bool RecorderTask::ready(std::size_t input, std::int64_t now_ns) {
    Output& output = outputs_[input];
    SegmentWriter& writer = output.writer;
    const std::vector<std::uint16_t> lines = inputs_[input].lines();
    feed::SegmentHead head{setup_.feed, inputs_[input].poller, feed::interfaces_of(lines)};
    const bool usable = writer.is_open() && !output.broken && writer.fits(nic::chunk_bytes_max) &&
                        writer.interfaces() == head.interfaces.size();
    if (usable || !output.writes.empty()) {
        return usable;  // the segment is closed when its last write has ended
    }
    writer.close();
    output.broken = false;
    if (clock_.now_ns() < output.retry_ns) {
        return false;
    }
    const std::string path = feed::segment_path(folder_, inputs_[input].poller, now_ns);
    if (!writer.open(path, head, setup_.config.segment_bytes)) {
        fail(output, errno);
        return false;
    }
    counters_.bump(RecorderCount::segments);
    return true;
}

void RecorderTask::begin_write(std::size_t input, const FilledChunk& chunk, std::int64_t now_ns) {
    Output& output = outputs_[input];
    SegmentWriter& writer = output.writer;
    const std::span<std::byte> bytes{chunk.bytes, nic::chunk_bytes_max};
    feed::write_statistics(bytes, {chunk.first_ts_ns, chunk.received, chunk.filtered,
                                   chunk.not_recorded, chunk.not_recorded_before});
    writer.set_reserved(true);
    output.begun_ns = clock_.now_ns();
    nic::ChunkHead head;
    head.packets = chunk.packets;
    head.number = writer.chunks();
    head.not_recorded = chunk.not_recorded_before;
    head = feed::seal_chunk(bytes, chunk.used_bytes, head);
    auto write = std::make_unique<Write>();
    write->chunk = chunk;
    write->record =
        feed::record_of(head, writer.place(head.bytes), bytes.first(head.bytes), setup_.numbers_of);
    write->begun_ns = now_ns;
    write->input = input;
    submit(*write);
    output.writes.push_back(std::move(write));
}

void RecorderTask::submit(Write& write) {
    const std::span<const std::byte> bytes{write.chunk.bytes, write.record.bytes};
    disk_->add({.fd = outputs_[write.input].writer.fd(),
                .offset = write.record.offset + write.done_bytes,
                .bytes = bytes.subspan(write.done_bytes),
                .memory = write.input,
                .of = &write});
}

void RecorderTask::fail(Output& output, int error) {
    output.error = error;
    output.retry_ns = clock_.now_ns() + retry_interval_ns;
    counters_.bump(RecorderCount::failures);
    show_error();
}

void RecorderTask::show_error() {
    int error = 0;
    for (const Output& output : outputs_) {
        error = output.error != 0 ? output.error : error;
    }
    counters_.error.set(static_cast<std::uint64_t>(error));
}

/// Checks one segment of an earlier start, or reads one chunk of one that is unfinished.
bool RecorderTask::repair_step() {
    Problems problems;
    if (scan_) {
        if (!scan_->step()) {
            const std::string text = scan_->repair(problems);
            scan_.reset();
            if (!text.empty()) {
                setup_.listener(RecorderNote::repaired, text);
            }
        }
    } else if (!unfinished_.empty()) {
        const std::string path = std::move(unfinished_.front());
        unfinished_.pop_front();
        if (!feed::is_segment(path)) {
            setup_.listener(RecorderNote::repaired,
                            fmt::format("{}: {}", path, feed::foreign_capture));
            return true;
        }
        if (const std::string text = feed::remove_headless(path); !text.empty()) {
            setup_.listener(RecorderNote::repaired, text);
            return true;
        }
        auto file = feed::SegmentFile::open(path, problems);
        if (file && !file->is_being_written()) {
            if (!file->is_compressed()) {  // gives back the space that was reserved behind its end
                static_cast<void>(::truncate(path.c_str(), static_cast<off_t>(file->bytes())));
            }
            if (!file->index()) {
                scan_.emplace(std::move(*file), setup_.numbers_of);
            }
        }
    } else {
        return false;
    }
    for (const Problem& problem : problems) {
        setup_.listener(RecorderNote::repaired,
                        fmt::format("{}: {}", problem.place.text(), problem.text));
    }
    return true;
}

void RecorderTask::finish(std::int64_t now_ns) {
    const std::int64_t until_ns = now_ns + patience_ns;
    for (RecorderInput& input : inputs_) {
        input.filled.release_ownership();
        input.free.release_ownership();
    }
    for (Output& output : outputs_) {
        output.retry_ns = 0;  // one more try
    }
    unfinished_.clear();
    scan_.reset();
    if (states_ != nullptr) {
        states_->finish();
    }
    bool waiting = true;
    while (waiting && now_ns < until_ns) {
        static_cast<void>(step(now_ns));
        waiting = false;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const bool has_more = !outputs_[i].failed.empty() || !inputs_[i].filled.peek(1).empty();
            waiting =
                waiting || !outputs_[i].writes.empty() || (has_more && counters_.error.read() == 0);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        now_ns += 100'000;
    }
    const auto lose = [this](const FilledChunk& chunk) {
        counters_.bump(RecorderCount::unwritten, chunk.packets);
    };
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        std::ranges::for_each(outputs_[i].failed, lose);
        std::ranges::for_each(outputs_[i].writes, lose, [](auto& write) { return write->chunk; });
        auto& filled = inputs_[i].filled;
        for (; !filled.peek(1).empty(); filled.release(1)) {
            lose(filled.peek(1)[0]);
        }
        outputs_[i].writer.close();
    }
}

}  // namespace pinstrike::actors
