// path: cold
//
// Measures what recording costs the poll thread. All figures are of one thread, which also empties
// the poller's ring and gives filled chunks back, so no disk is part of them.
//
//     bench_recording CAPTURE [--runs N] [--seconds S] [--hugepages]
//     bench_recording CAPTURE --folder FOLDER [--rate PACKETS_PER_SECOND] [--seconds S]
//
// The first form compares the recorder's copy of the capture's packets with a memcpy into the same
// memory, of the packets alone and of as many bytes as the recorder writes, and the poll path with
// and without a recorder. Trials alternate.
//
// The second form records into FOLDER: DPDK's net_pcap replays the capture forever, the poll thread
// takes its packets at a rate, and the recorder's thread writes them on the other processor, in
// segments of which 20 GB are kept. It prints how many packets found no chunk.
#include "actors/poller/packet_recorder.h"
#include "actors/poller/poller_task.h"
#include "actors/recorder/recorder_task.h"
#include "actors/recorder/recording_disk.h"
#include "actors/topology/machine.h"
#include "config/check.h"
#include "feed/opra/opra.h"
#include "feed/venue_services.h"
#include "nic/clock.h"
#include "tests/bench/drained_path.h"
#include "tests/bench/measure.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::bench {
namespace {

struct Options {
    std::string capture;
    std::string folder;
    int runs = 7;
    double seconds = 0.3;
    double rate = 1'170'000;
    bool hugepages = false;
};

/// What a packet takes in a segment beside its own bytes, without padding.
constexpr std::size_t block_bytes = 32;

/// Gives filled chunks back to the poller, as if they were on disk.
void give_chunks_back(actors::RecorderInput& input) {
    for (auto filled = input.filled.peek(1); !filled.empty(); filled = input.filled.peek(1)) {
        const actors::FreeChunk chunk{filled.front().bytes};
        input.filled.release(1);
        PINSTRIKE_CHECK(input.free.try_push({&chunk, 1}));
    }
}

/// The first packets of a capture, copied: about 2 MB, which stay in the last-level cache.
class Frames {
  public:
    explicit Frames(nic::Port& port) {
        const nic::Clock clock;
        std::array<nic::Packet, burst_packets> burst;
        bytes_.reserve(bytes_max + burst_packets * packet_bytes_max);
        while (bytes_.size() < bytes_max) {
            for (const nic::Packet& packet :
                 std::span{burst}.first(port.receive(burst, clock.wall_ns()))) {
                packets_.push_back(packet);
                packets_.back().bytes = bytes_.data() + bytes_.size();
                bytes_.insert(bytes_.end(), packet.bytes, packet.bytes + packet.length_bytes);
            }
        }
    }

    [[nodiscard]] std::span<const nic::Packet> packets() const { return packets_; }

    [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }

  private:
    static constexpr std::size_t bytes_max = 2 << 20;
    static constexpr std::size_t packet_bytes_max = 2048;

    std::vector<std::byte> bytes_;  // never grows beyond what was reserved
    std::vector<nic::Packet> packets_;
};

void print_ratio(const std::string& what, const std::vector<double>& over,
                 const std::vector<double>& under) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < over.size(); ++i) {
        ratios.push_back(over[i] / under[i]);
    }
    print_row(what, spread_of(ratios), "times");
}

/// Calls `pass` for about `seconds`. Returns the processor time of a packet in ns.
template <class Pass>
double packet_ns(double seconds, std::size_t packets, Pass&& pass) {
    const double begin = cpu_seconds();
    double end = begin;
    std::size_t passes = 0;
    while (end - begin < seconds) {
        pass();
        ++passes;
        end = cpu_seconds();
    }
    return (end - begin) * 1e9 / static_cast<double>(passes * packets);
}

void compare_copies(const Options& options, nic::Port& port) {
    const Frames frames{port};
    auto [recorder, input] = actors::make_recorder_ends("poller0", {}, all_lines());
    const std::vector<std::uint32_t> interfaces(burst_packets, 1);
    const auto record = [&] {
        for (std::size_t at = 0; at < frames.packets().size(); at += burst_packets) {
            const auto burst =
                frames.packets().subspan(at, std::min(burst_packets, frames.packets().size() - at));
            recorder->record(burst, std::span{interfaces}.first(burst.size()));
            give_chunks_back(input);
        }
    };
    // The recorder uses the chunk that came back last, so these copies use one chunk as well.
    std::byte* const chunk = std::as_writable_bytes(std::span{input.memory}).data();
    std::size_t next = 0;
    const auto copy = [&](std::size_t more_bytes) {
        for (const nic::Packet& packet : frames.packets()) {
            const std::size_t bytes = packet.length_bytes + more_bytes;
            if (next + bytes > nic::chunk_bytes_max) {
                next = 0;
            }
            std::memcpy(chunk + next, packet.bytes, bytes);
            next += bytes;
        }
        keep(chunk);
    };
    std::vector<double> record_ns;
    std::vector<double> packet_copy_ns;
    std::vector<double> block_copy_ns;
    const std::size_t count = frames.packets().size();
    for (int run = -1; run < options.runs; ++run) {  // the first one is the warm-up
        const double recorded = packet_ns(options.seconds, count, record);
        const double packet = packet_ns(options.seconds, count, [&] { copy(0); });
        const double block = packet_ns(options.seconds, count, [&] { copy(block_bytes); });
        if (run >= 0) {
            record_ns.push_back(recorded);
            packet_copy_ns.push_back(packet);
            block_copy_ns.push_back(block);
        }
    }
    PINSTRIKE_CHECK(recorder->not_recorded().read() == 0);
    print_row("recording: memcpy of a packet", spread_of(packet_copy_ns), "ns");
    print_row("recording: memcpy of as much as it writes", spread_of(block_copy_ns), "ns");
    print_row("recording: copy of the recorder", spread_of(record_ns), "ns");
    print_ratio("recording: copy, times a memcpy of a packet", record_ns, packet_copy_ns);
    print_ratio("recording: copy, times a memcpy of its bytes", record_ns, block_copy_ns);
}

struct Rate {
    double packets = 0;  ///< millions a second of processor time
    double messages = 0;
};

/// The poller has taken the whole capture at least once before the trial begins.
constexpr std::size_t warm_up_packets = 40'000;

Rate measure_path(const Options& options, nic::Port& port, bool records) {
    std::unique_ptr<actors::PacketRecorder> recorder;
    std::unique_ptr<actors::RecorderInput> input;
    if (records) {
        auto ends = actors::make_recorder_ends("poller0", {}, all_lines());
        recorder = std::move(ends.first);
        input = std::make_unique<actors::RecorderInput>(std::move(ends.second));
    }
    DrainedPath path{std::make_unique<LentPort>(port), std::move(recorder)};
    const auto step = [&] {
        const std::size_t packets = path.step();
        if (input != nullptr) {
            give_chunks_back(*input);
        }
        return packets;
    };
    for (std::size_t packets = 0; packets < warm_up_packets;) {
        packets += step();
    }
    const std::uint64_t messages_before = path.messages();
    std::size_t packets = 0;
    const double begin = cpu_seconds();
    double end = begin;
    while (end - begin < options.seconds) {
        for (int turn = 0; turn < 64; ++turn) {
            packets += step();
        }
        end = cpu_seconds();
    }
    if (records) {
        PINSTRIKE_CHECK(path.poller().recorder()->not_recorded().read() == 0);
    }
    const double micros = (end - begin) * 1e6;
    return {static_cast<double>(packets) / micros,
            static_cast<double>(path.messages() - messages_before) / micros};
}

void compare_paths(const Options& options, nic::Port& port) {
    std::array<std::vector<double>, 2> packets;
    std::array<std::vector<double>, 2> messages;
    for (int run = 0; run < options.runs; ++run) {
        for (const bool records : {false, true}) {
            const Rate rate = measure_path(options, port, records);
            packets.at(records ? 1 : 0).push_back(rate.packets);
            messages.at(records ? 1 : 0).push_back(rate.messages);
        }
    }
    print_row("recording: packets, without a recorder", spread_of(packets[0]), "M packets/s");
    print_row("recording: packets, with a recorder", spread_of(packets[1]), "M packets/s");
    print_row("recording: messages, without a recorder", spread_of(messages[0]), "M messages/s");
    print_row("recording: messages, with a recorder", spread_of(messages[1]), "M messages/s");
    print_ratio("recording: rate with a recorder, of that without", packets[1], packets[0]);
}

/// What the disk takes by itself, in GB/s; 0: not measured.
double disk_gigabytes_per_second(const std::string& folder) {
    const auto disk = actors::find_recording_disk(folder);
    constexpr std::uint64_t bytes = 10'000'000'000;
    return disk ? actors::measure_writes(*disk, bytes, bytes).bytes_per_second / 1e9 : 0;
}

/// Of `record.memory`: 0.5 s at 10 Gb/s. A file system that tells the disk which space is free
/// keeps writes waiting while it removes a segment.
constexpr std::size_t memory_bytes = std::size_t{512} << 20;

/// Records to a disk, at a rate.
int record_to_disk(const Options& options, nic::Port& port) {
    const double alone_before = disk_gigabytes_per_second(options.folder);
    actors::RecorderSetup setup;
    setup.feed = "bench";
    setup.config.folder = options.folder;
    setup.config.keep_bytes = 20'000'000'000;
    setup.config.memory_bytes = memory_bytes;
    auto [recorder, input] = actors::make_recorder_ends("poller0", setup.config, all_lines());
    input.lines = all_lines;
    setup.numbers_of = feed::venue_services(feed::opra::Opra::name).numbers_of;
    std::vector<actors::RecorderInput> inputs;
    inputs.push_back(std::move(input));
    Problems problems;
    const auto task = actors::RecorderTask::open(std::move(setup), std::move(inputs), problems);
    if (task == nullptr) {
        fmt::print(stderr, "{}\n", problems.front().text);
        return 1;
    }
    DrainedPath path{std::make_unique<LentPort>(port), std::move(recorder)};
    const nic::Clock clock;
    std::atomic<bool> stop{false};  // relaxed, because it orders no other data
    std::thread other{[&] {
        actors::place_this_thread(1, "recorder");
        while (!stop.load(std::memory_order_relaxed)) {
            if (task->step(clock.wall_ns()) == 0) {
                std::this_thread::sleep_for(std::chrono::nanoseconds{actors::RecorderTask::nap_ns});
            }
        }
    }};
    const std::int64_t begin_ns = clock.wall_ns();
    const std::int64_t end_ns = begin_ns + static_cast<std::int64_t>(options.seconds * 1e9);
    const double burst_ns = 1e9 * burst_packets / options.rate;
    double due_ns = static_cast<double>(begin_ns);
    std::size_t packets = 0;
    std::int64_t now_ns = begin_ns;
    for (; now_ns < end_ns; now_ns = clock.wall_ns()) {
        if (static_cast<double>(now_ns) >= due_ns) {
            due_ns += burst_ns;
            packets += path.step();
        }
    }
    path.poller().finish_recording();
    stop.store(true, std::memory_order_relaxed);
    other.join();
    task->finish(clock.wall_ns());
    const double alone_after = disk_gigabytes_per_second(options.folder);
    const double seconds = static_cast<double>(now_ns - begin_ns) / 1e9;
    const std::uint64_t bytes = task->counters().read(actors::RecorderCount::bytes);
    fmt::print(
        "recording to disk: {:.2f} M packets/s for {:.0f} s, {:.2f} GB/s; {} packets "
        "recorded, {} not recorded; longest write {:.1f} ms, longest pause of the recorder's "
        "thread {:.1f} ms; the disk alone takes {:.2f} GB/s before and {:.2f} GB/s after it\n",
        static_cast<double>(packets) / seconds / 1e6, seconds,
        static_cast<double>(bytes) / seconds / 1e9, path.poller().recorder()->recorded().read(),
        path.poller().recorder()->not_recorded().read(),
        static_cast<double>(task->counters().longest_write_ns.read()) / 1e6,
        static_cast<double>(task->counters().longest_pause_ns.read()) / 1e6, alone_before,
        alone_after);
    return 0;
}

int run(const Options& options) {
    const actors::LoopedCaptures capture = open_one(options.capture, {options.hugepages, false});
    if (capture.ports.empty()) {
        return 1;
    }
    actors::place_this_thread(0, "poller");
    if (!options.folder.empty()) {
        return record_to_disk(options, *capture.ports.front());
    }
    print_head("processor time of one thread");
    compare_copies(options, *capture.ports.front());
    compare_paths(options, *capture.ports.front());
    return 0;
}

}  // namespace
}  // namespace pinstrike::bench

int main(int argc, char** argv) {
    pinstrike::bench::Options options;
    for (int i = 1; i < argc; ++i) {
        const auto is = [&](const char* name) {
            return std::strcmp(argv[i], name) == 0 && i + 1 < argc;
        };
        if (is("--runs")) {
            options.runs = std::atoi(argv[++i]);
        } else if (is("--seconds")) {
            options.seconds = std::atof(argv[++i]);
        } else if (is("--rate")) {
            options.rate = std::atof(argv[++i]);
        } else if (is("--folder")) {
            options.folder = argv[++i];
        } else if (std::strcmp(argv[i], "--hugepages") == 0) {
            options.hugepages = true;
        } else {
            options.capture = argv[i];
        }
    }
    if (options.capture.empty() || options.runs < 1 || options.rate <= 0) {
        fmt::print(stderr,
                   "usage: bench_recording CAPTURE [--runs N] [--seconds S] [--hugepages] "
                   "[--folder FOLDER [--rate PACKETS_PER_SECOND]]\n");
        return 2;
    }
    return pinstrike::bench::run(options);
}
