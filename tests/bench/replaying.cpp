// path: cold
//
// Measures what reading a recording costs.
//
//     bench_replaying CAPTURE FOLDER [--runs N] [--packets N] [--hugepages]
//
// Records packets of the capture, which DPDK's net_pcap replays forever, into FOLDER, compresses a
// copy of the segments, and compares the poll path from memory with that from both recordings: the
// time of the thread that polls and empties the poller's ring. A second thread reads and
// decompresses, so two processors must be idle. Trials alternate. FOLDER should be in memory, so
// that no disk is part of the figures.
//
// Then it makes the indexes of a day of 100 GB, whose segments are files without blocks, except for
// one chunk. It prints the time from the folder's name to the packet of this chunk.
#include "actors/recorder/recorder_task.h"
#include "actors/topology/machine.h"
#include "config/time_units.h"
#include "feed/recording/recorded_packets.h"
#include "feed/recording/segment_compressor.h"
#include "feed/venue_services.h"
#include "nic/capture/pcap_port.h"
#include "tests/bench/drained_path.h"
#include "tests/bench/measure.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::bench {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::string capture;
    std::string folder;
    int runs = 5;
    std::size_t packets = 600'000;
    bool hugepages = false;
};

/// The usual level, and one that is read faster.
constexpr std::array<int, 2> compress_levels{1, -1};

feed::NumbersOf numbers_of() {
    return feed::venue_services(feed::opra::Opra::name).numbers_of;
}

/// Records packets of the port, each of which finds a chunk.
void record(const Options& options, nic::Port& port, const std::string& folder) {
    auto [recorder, input] = actors::make_recorder_ends("poller0", {}, all_lines());
    input.lines = all_lines;
    actors::RecorderSetup setup;
    setup.feed = "bench";
    setup.config.folder = folder;
    setup.config.segment_bytes = std::size_t{128} << 20;
    setup.numbers_of = numbers_of();
    std::vector<actors::RecorderInput> inputs;
    inputs.push_back(std::move(input));
    Problems problems;
    const auto task = actors::RecorderTask::open(std::move(setup), std::move(inputs), problems);
    PINSTRIKE_CHECK(task != nullptr);
    const actors::PacketRecorder& counts = *recorder;
    DrainedPath path{std::make_unique<LentPort>(port), std::move(recorder)};
    const nic::Clock clock;
    std::size_t packets = 0;
    while (packets < options.packets) {
        packets += path.step();
        // Half of the memory is free before the next burst.
        constexpr std::uint64_t waiting_max = 16'000;
        do {
            static_cast<void>(task->step(clock.wall_ns()));
        } while (counts.recorded().read() - task->counters().read(actors::RecorderCount::written) >
                 waiting_max);
    }
    path.poller().finish_recording();
    task->finish(clock.wall_ns());
    PINSTRIKE_CHECK(counts.not_recorded().read() == 0);
    PINSTRIKE_CHECK(task->counters().read(actors::RecorderCount::unwritten) == 0);
}

void compress(const std::string& folder, int level) {
    Problems problems;
    for (const std::string& path : feed::segments_in(folder, problems)) {
        auto file = feed::SegmentFile::open(path, problems);
        PINSTRIKE_CHECK(file.has_value());
        const auto index = file->index();
        PINSTRIKE_CHECK(index.has_value());
        auto compressor = feed::SegmentCompressor::begin(std::move(*file), *index, level, problems);
        PINSTRIKE_CHECK(compressor.has_value());
        while (compressor->step(problems)) {
        }
        PINSTRIKE_CHECK(compressor->finish(problems));
    }
    PINSTRIKE_CHECK(problems.empty());
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Millions of messages a second.
double measure_memory(nic::Port& port, std::size_t packets_count) {
    DrainedPath path{std::make_unique<LentPort>(port), nullptr};
    constexpr std::size_t warm_up_packets = 40'000;
    for (std::size_t packets = 0; packets < warm_up_packets;) {
        packets += path.step();
    }
    const std::uint64_t before = path.messages();
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t packets = 0; packets < packets_count;) {
        packets += path.step();
    }
    return static_cast<double>(path.messages() - before) / seconds_since(begin) / 1e6;
}

double measure_recording(const std::string& folder) {
    Problems problems;
    actors::place_this_thread(1, "reader");  // the port's thread stays on this processor
    auto port = nic::PcapPort::open("recording", std::span{&folder, 1}, nic::Pace{}, burst_packets,
                                    problems);
    actors::place_this_thread(0, "poller");
    PINSTRIKE_CHECK(port != nullptr);
    const nic::PcapPort& disk = *port;
    DrainedPath path{std::move(port), nullptr};
    const auto begin = std::chrono::steady_clock::now();
    while (!disk.exhausted()) {
        static_cast<void>(path.step());
    }
    const double seconds = seconds_since(begin);
    PINSTRIKE_CHECK(disk.unread().empty());
    return static_cast<double>(path.messages()) / seconds / 1e6;
}

std::vector<double> ratios_of(const std::vector<double>& over, const std::vector<double>& under) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < over.size(); ++i) {
        ratios.push_back(over[i] / under[i]);
    }
    return ratios;
}

void compare_replays(const Options& options, nic::Port& port) {
    const std::string plain = options.folder + "/plain";
    record(options, port, plain);
    std::array<std::string, compress_levels.size()> packed;
    for (std::size_t i = 0; i < packed.size(); ++i) {
        packed[i] = fmt::format("{}/packed{}", options.folder, i);
        fs::copy(plain, packed[i]);
        compress(packed[i], compress_levels[i]);
    }
    std::vector<double> memory;
    std::vector<double> uncompressed;
    std::array<std::vector<double>, compress_levels.size()> compressed;
    for (int run = 0; run < options.runs; ++run) {
        memory.push_back(measure_memory(port, options.packets));
        uncompressed.push_back(measure_recording(plain));
        for (std::size_t i = 0; i < packed.size(); ++i) {
            compressed[i].push_back(measure_recording(packed[i]));
        }
    }
    print_row("replay: poll path from memory", spread_of(memory), "M messages/s");
    print_row("replay: uncompressed recording", spread_of(uncompressed), "M messages/s");
    for (std::size_t i = 0; i < packed.size(); ++i) {
        print_row(fmt::format("replay: compressed recording, level {}", compress_levels[i]),
                  spread_of(compressed[i]), "M messages/s");
        fs::remove_all(packed[i]);
    }
    print_row("replay: uncompressed, of the poll path from memory",
              spread_of(ratios_of(uncompressed, memory)), "times");
    fs::remove_all(plain);
}

// ---------------------------------------------------------------- a moment of a large recording

constexpr std::int64_t day_begin_ns = 1'764'426'600'000'000'000;
constexpr std::int64_t day_seconds = 6 * 3600 + 1800;
constexpr std::size_t pollers = 4;
constexpr std::uint16_t lines_each = 24;
constexpr std::uint64_t segment_bytes = std::uint64_t{1} << 30;
constexpr std::size_t segments_each = 24;  // 103 GB in all
constexpr std::size_t chunks_each = segment_bytes / nic::chunk_bytes_max - 1;
constexpr std::size_t target_segment = segments_each / 2;

std::int64_t time_of(std::size_t segment, std::size_t chunk) {
    const double part = (static_cast<double>(segment) +
                         static_cast<double>(chunk) / static_cast<double>(chunks_each)) /
                        static_cast<double>(segments_each);
    return day_begin_ns +
           static_cast<std::int64_t>(part * static_cast<double>(day_seconds * second_ns));
}

std::int64_t target_ns() {
    return time_of(target_segment, chunks_each / 2);
}

/// A chunk of one packet.
std::vector<std::byte> chunk_at(std::int64_t ts_ns, nic::ChunkHead& head) {
    auto [recorder, input] = actors::make_recorder_ends("poller0", {}, all_lines());
    std::array<std::byte, 100> frame{};
    nic::Packet packet;
    packet.bytes = frame.data();
    packet.length_bytes = frame.size();
    packet.ts_receive_ns = ts_ns;
    const std::uint32_t interface = 1;
    recorder->record({&packet, 1}, {&interface, 1});
    recorder->close();
    const actors::FilledChunk filled = input.filled.peek(1)[0];
    const std::span<std::byte> bytes{filled.bytes, nic::chunk_bytes_max};
    feed::write_statistics(bytes, {ts_ns, 0, 0, 0, 0});
    head.packets = 1;
    head = feed::seal_chunk(bytes, filled.used_bytes, head);
    return {bytes.begin(), bytes.begin() + head.bytes};
}

/// The index of the segment is whole. The segment has one chunk if it is the target.
void make_segment(const std::string& folder, std::size_t poller, std::size_t segment) {
    std::vector<std::uint16_t> lines(lines_each);
    std::iota(lines.begin(), lines.end(), static_cast<std::uint16_t>(1 + poller * lines_each));
    const std::string name = fmt::format("poller{}", poller);
    const auto head = feed::bytes_of({"bench", name, feed::interfaces_of(lines)});
    const std::string path = feed::segment_path(folder, name, time_of(segment, 0));
    std::ofstream file{path, std::ios::binary};
    file.write(reinterpret_cast<const char*>(head.data()),
               static_cast<std::streamsize>(head.size()));
    std::vector<std::byte> index;
    feed::append_index_head(index, head.size());
    feed::ChunkRecord record;
    for (std::size_t chunk = 0; chunk < chunks_each; ++chunk) {
        record.offset = head.size() + chunk * nic::chunk_bytes_max;
        record.bytes = nic::chunk_bytes_max;
        record.packets = 1000;
        record.first_ts_ns = time_of(segment, chunk);
        record.last_ts_ns = time_of(segment, chunk + 1) - 1;
        record.lines.resize(2U * lines_each);
        if (record.first_ts_ns == target_ns()) {
            nic::ChunkHead chunk_head;
            chunk_head.number = chunk;
            const auto bytes = chunk_at(record.first_ts_ns, chunk_head);
            record.bytes = chunk_head.bytes;
            record.checksum = chunk_head.checksum;
            file.seekp(static_cast<std::streamoff>(record.offset));
            file.write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
        }
        feed::append_record(index, record);
    }
    file.close();
    fs::resize_file(path, record.offset + record.bytes);
    std::ofstream{feed::index_path(path), std::ios::binary}.write(
        reinterpret_cast<const char*>(index.data()), static_cast<std::streamsize>(index.size()));
}

void measure_seek(const Options& options) {
    const std::string folder = options.folder + "/day";
    fs::create_directory(folder);
    for (std::size_t poller = 0; poller < pollers; ++poller) {
        for (std::size_t segment = 0; segment < segments_each; ++segment) {
            make_segment(folder, poller, segment);
        }
    }
    std::vector<double> seek_ms;
    for (int run = 0; run < options.runs; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        Problems problems;
        feed::PacketRange range;
        range.from_ns = target_ns();
        range.to_ns = target_ns() + 1;
        auto packets = feed::RecordedPackets::open(folder, problems);
        PINSTRIKE_CHECK(packets.has_value());
        packets->select(range);
        const auto packet = packets->next();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        PINSTRIKE_CHECK(packet && packet->ts_ns == target_ns() && packets->damage().empty());
        seek_ms.push_back(took.count() * 1e3);
    }
    print_row("replay: seek to a moment of a day of 103 GB", spread_of(seek_ms), "ms");
    fs::remove_all(folder);
}

int run(const Options& options) {
    const actors::LoopedCaptures capture = open_one(options.capture, {options.hugepages, false});
    if (capture.ports.empty()) {
        return 1;
    }
    actors::place_this_thread(0, "poller");
    print_head("time of the poll thread; seek: wall time");
    compare_replays(options, *capture.ports.front());
    measure_seek(options);
    return 0;
}

}  // namespace
}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    pinstrike::bench::Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--runs" && i + 1 < argc) {
            options.runs = std::atoi(argv[++i]);
        } else if (word == "--packets" && i + 1 < argc) {
            options.packets = std::strtoull(argv[++i], nullptr, 10);
        } else if (word == "--hugepages") {
            options.hugepages = true;
        } else {
            (options.capture.empty() ? options.capture : options.folder) = word;
        }
    }
    if (options.folder.empty() || options.runs < 1 || options.packets == 0) {
        fmt::print(stderr,
                   "usage: bench_replaying CAPTURE FOLDER [--runs N] [--packets N] "
                   "[--hugepages]\n");
        return 2;
    }
    return pinstrike::bench::run(options);
}
