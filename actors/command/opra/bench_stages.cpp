// path: cold
//
// `pinstrike bench stages`: measures the cost of each stage of a message's path on this machine.
#include "actors/bench/stages/looped_capture.h"
#include "actors/bench/stages/stage_bench.h"
#include "actors/bench/stages/stage_figures.h"
#include "actors/command/command.h"
#include "actors/command/opra/cut_poller.h"
#include "actors/topology/machine.h"
#include "feed/opra/lines.h"
#include "feed/opra/opra.h"
#include "feed/opra/traffic/presets.h"
#include "nic/capture/capture_reader.h"
#include "nic/capture/cut_frame.h"
#include "nic/capture/tunnel.h"
#include "nic/clock.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

namespace pinstrike::command {
namespace {

namespace traffic = feed::opra::traffic;

struct BenchStagesArguments {
    actors::StageOptions bench;
    std::vector<std::string> shapes{traffic::preset_names.begin(), traffic::preset_names.end()};
    std::vector<std::string> captures;
    std::string streams = "A";
    unsigned messages_per_packet = 0;
    bool trusting = false;
    bool hugepages = false;
    bool json = false;
};

/// A temporary folder for captures. The destructor removes it.
class TemporaryFolder {
  public:
    /// Ends the command if the folder cannot be made.
    TemporaryFolder() {
        std::error_code error;
        std::string pattern =
            std::filesystem::temp_directory_path(error) / "pinstrike-bench-XXXXXX";
        if (error || ::mkdtemp(pattern.data()) == nullptr) {
            complain("no folder for captures can be made in $TMPDIR, or in /tmp: {}",
                     error ? error.message() : std::strerror(errno));
            throw Ended{};
        }
        path_ = pattern;
    }

    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

struct Measured {
    std::string name;
    std::string file;
    std::size_t packets = 0;
};

/// Reads a capture to its end and returns the number of its packets. Ends the command if it was not
/// read to its end, if its snapshot length cut datagrams, or if it has no packets.
std::size_t packets_of(const std::string& file) {
    Problems problems;
    auto reader = nic::CaptureReader::open(file, problems);
    end_unless(reader.has_value(), problems);
    nic::CapturedFrame frame;
    nic::TunnelExit tunnel;
    std::size_t packets = 0;
    std::size_t cut_packets = 0;
    for (; reader->next(frame); ++packets) {
        frame.bytes = tunnel.inside(frame);
        cut_packets += nic::group_of_cut(frame) ? 1 : 0;
    }
    Problems found;
    if (const std::string complaint = reader->complaint(); !complaint.empty()) {
        add_problem(found, "", complaint);  // it names the file
    } else if (packets == 0) {
        add_problem(found, file, "holds no packets");
    } else if (cut_packets != 0) {
        add_problem(found, file,
                    fmt::format("the snapshot length of the capture cut {} packets", cut_packets));
    }
    end_unless(found.empty(), found);
    return packets;
}

/// The captures that the arguments name, if any.
std::vector<Measured> named_captures(const BenchStagesArguments& given) {
    std::vector<Measured> captures;
    for (const std::string& file : given.captures) {
        captures.push_back({file, file, packets_of(file)});
    }
    return captures;
}

/// Generates a capture of each shape.
std::vector<Measured> made_captures(const BenchStagesArguments& given,
                                    const std::filesystem::path& folder) {
    std::vector<Measured> captures;
    for (const std::string& shape : given.shapes) {
        const std::string file = folder / (shape + ".pcap");
        Problems problems;
        const std::size_t packets =
            traffic::write_preset(file,
                                  {.preset = shape,
                                   .streams = given.streams,
                                   .series_count = given.bench.series_capacity,
                                   .messages_per_packet = given.messages_per_packet},
                                  problems);
        end_unless(packets != 0, problems);
        captures.push_back({shape, file, packets});
    }
    return captures;
}

/// Uses the first two processors on which this process may run. If there is only one, both threads
/// share it.
void place(actors::StageOptions& options) {
    const actors::Machine machine = actors::read_machine();
    if (!machine.cpus.empty()) {
        options.poller_cpu = static_cast<actors::CpuIndex>(machine.cpus.front().index);
        options.core_cpu =
            static_cast<actors::CpuIndex>(machine.cpus[machine.cpus.size() > 1 ? 1 : 0].index);
    }
}

actors::LoopedCaptures open(const std::vector<Measured>& captures, bool hugepages) {
    std::vector<std::string> files;
    for (const Measured& capture : captures) {
        files.push_back(capture.file);
    }
    Problems problems;
    actors::LoopedCaptures looped = actors::open_looped(files, {.hugepages = hugepages}, problems);
    end_unless(!looped.ports.empty(), problems);
    return looped;
}

actors::CutPollers cut_pollers() {
    using actors::Stage;
    actors::CutPollers pollers{};
    pollers[index_of(Stage::find_line)] = make_cut_poller<Stage::find_line>;
    pollers[index_of(Stage::check)] = make_cut_poller<Stage::check>;
    pollers[index_of(Stage::arbitrate)] = make_cut_poller<Stage::arbitrate>;
    pollers[index_of(Stage::decode)] = make_cut_poller<Stage::decode>;
    pollers[index_of(Stage::route)] = make_cut_poller<Stage::route>;
    return pollers;
}

Exit bench_stages(BenchStagesArguments given) {
    std::optional<TemporaryFolder> folder;
    std::vector<Measured> captures = named_captures(given);
    if (captures.empty()) {
        captures = made_captures(given, folder.emplace().path());
    }
    const actors::LoopedCaptures looped = open(captures, given.hugepages);
    place(given.bench);
    given.bench.udp_checksum =
        given.trusting ? nic::ChecksumCheck::off : nic::ChecksumCheck::software;
    const std::vector<feed::LineConfig> lines =
        feed::opra::published_lines(feed::opra::published_lines());
    std::vector<actors::StageFigures> figures;
    for (std::size_t i = 0; i < captures.size(); ++i) {
        actors::StageBench bench{
            *looped.ports[i], captures[i].packets, feed::opra::Opra::name, cut_pollers(), lines,
            given.bench};
        figures.push_back(bench.run());
        figures.back().name = captures[i].name;
    }
    const double tick_ns = nic::Clock{}.tick_ns();
    fmt::print("{}", given.json ? actors::stages_json(figures, tick_ns)
                                : actors::stages_text(figures, tick_ns));
    return Exit::ok;
}

}  // namespace

void add_bench_stages(CLI::App& app, Outcome& outcome) {
    const auto [command, given] =
        add_command(app, outcome, "stages",
                    "Cost of each stage of a message's path, in ns and cycles", bench_stages);
    command->footer(
        "DPDK's net_pcap replays generated traffic. Paths that end after each stage run in turn,\n"
        "and the cost of a stage is the difference of two paths. Medians over runs. Needs no\n"
        "hugepages and no NIC, but two processors without other work.\n"
        "Exit status: 0 success, 1 it failed or a capture was not read to its end, 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike bench stages\n"
        "  pinstrike bench stages --shape full-mix --streams AB --cores 2\n"
        "  pinstrike bench stages --capture loop.pcap --json");
    command->add_option("--shape", given->shapes, "Traffic to measure on (default: all four)")
        ->check(CLI::IsMember(traffic::preset_names));
    command
        ->add_option("--capture", given->captures,
                     "Captures instead, as generate --preset writes them")
        ->check(CLI::ExistingFile)
        ->excludes("--shape");
    command->add_option("--streams", given->streams, "A, or AB: each packet twice")
        ->check(CLI::IsMember({"A", "AB"}))
        ->capture_default_str();
    command
        ->add_option("--messages-per-packet", given->messages_per_packet,
                     "Messages of each packet, as far as they fit, instead of the shape's number")
        ->check(CLI::Range(1, 255))
        ->excludes("--capture");
    add_number(*command, "--cores", given->bench.cores_count, 1, 64,
               "Actor cores to which messages are routed");
    add_number(*command, "--series", given->bench.series_capacity, 1'000, 10'000'000,
               "Series of the traffic and the book");
    add_number(*command, "--runs", given->bench.runs, 1, 1000,
               "Number of runs; the figures are medians over them");
    add_number(*command, "--seconds", given->bench.seconds, 0.001, 60.0,
               "Duration of each path in each run");
    command->add_flag("--trusting", given->trusting,
                      "Verify no UDP checksums, as with a NIC that verifies them");
    command->add_flag("--hugepages", given->hugepages, "Buffers in hugepages");
    command->add_flag("--counting", given->bench.counting,
                      "One loop for each path, on a simulated clock: to count instructions");
    command->add_flag("--json", given->json, "One JSON object instead of tables");
}

}  // namespace pinstrike::command
