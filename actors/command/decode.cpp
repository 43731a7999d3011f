// path: cold
//
// `pinstrike decode`: prints every message of captures, or of a part of a recording, in the order
// of the packets, without arbitration or filter. It counts the packets that it cannot use, and
// reports them.
#include "actors/command/command.h"
#include "actors/command/passed_over.h"
#include "actors/command/progress.h"
#include "actors/command/range_options.h"
#include "actors/topology/load_config.h"
#include "feed/recording/recorded_packets.h"
#include "feed/venue_services.h"
#include "nic/capture/capture_files.h"
#include "nic/capture/capture_reader.h"
#include "nic/capture/cut_frame.h"
#include "nic/capture/tunnel.h"
#include "nic/packet/datagram.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace pinstrike::command {

namespace {

/// Returns line and stream by group and port, for production and retransmission groups.
std::map<nic::Group, feed::Origin> origins_of(const std::vector<feed::LineConfig>& lines) {
    std::map<nic::Group, feed::Origin> origins;
    for (const feed::LineConfig& line : lines) {
        for (std::size_t stream = 0; stream < feed::streams_count; ++stream) {
            const feed::Origin origin{line.number, stream == 0 ? 'A' : 'B'};
            origins[line.streams[stream]] = origin;
            origins[line.retransmission[stream]] = origin;
        }
    }
    return origins;
}

/// Not in the middle of the messages.
bool shows_progress() {
    return ::isatty(STDOUT_FILENO) == 0;
}

class Decoder {
  public:
    Decoder(bool as_json, const actors::FeedConfig& config)
        : json_(as_json),
          venue_(feed::venue_services(config.kind)),
          origins_(origins_of(config.lines)) {}

    /// Decodes all packets of one capture. Prints an error on standard error and returns false if
    /// the capture cannot be read to its end, or if its snapshot length cut packets of lines.
    bool decode_file(const std::string& path, Progress& progress) {
        Problems problems;
        auto reader = nic::CaptureReader::open(path, problems);
        for (const Problem& problem : problems) {
            const std::string place = problem.place.text();
            complain("{}{}{}", place, place.empty() ? "" : ": ", problem.text);
        }
        if (!reader) {
            return false;
        }
        nic::CapturedFrame frame;
        nic::TunnelExit tunnel;
        PassedOver passed_over;
        std::uint64_t cut_packets = 0;
        for (std::uint64_t packet = 1; reader->next(frame); ++packet) {
            progress.step(++packets_);
            frame.bytes = tunnel.inside(frame);
            const auto cut = nic::group_of_cut(frame);
            cut_packets += cut && origins_.contains(*cut) ? 1 : 0;
            decode_frame(frame.bytes, packet, passed_over);
            if (out_.size() >= flush_bytes) {
                flush();
            }
        }
        progress.clear();
        report(passed_over, path);
        if (cut_packets != 0) {
            complain("{}: the snapshot length of the capture cut {} packets of lines", path,
                     cut_packets);
        }
        const std::string complaint = reader->complaint();
        if (!complaint.empty()) {
            complain("{}", complaint);
        }
        return cut_packets == 0 && complaint.empty();
    }

    /// Decodes the selected packets of a recording. Prints an error on standard error and returns
    /// false if a part of them is damaged.
    bool decode_recording(const std::string& folder, feed::RecordedPackets& packets) {
        PassedOver passed_over;
        Progress progress{"packets", [&packets] { return packets.share_read(); }, shows_progress()};
        while (const auto packet = packets.next()) {
            progress.step(++packets_);
            decode_frame(packet->frame, packets_, passed_over);
            if (out_.size() >= flush_bytes) {
                flush();
            }
        }
        progress.clear();
        report(passed_over, folder);
        for (const std::string& text : packets.damage()) {
            complain("{}", text);
        }
        return packets.damage().empty();
    }

    /// If there were packets that may have held market data, and none of them reached a line,
    /// prints this on standard error and returns false.
    [[nodiscard]] bool reached_lines() const {
        const bool reached = candidates_ == 0 || to_lines_ != 0;
        if (!reached) {
            complain("none of {} packets reached a line", candidates_);
        }
        return reached;
    }

    /// Ends the command if the output cannot be written.
    void flush() {
        if (std::fwrite(out_.data(), 1, out_.size(), stdout) != out_.size() ||
            std::fflush(stdout) != 0) {
            complain("cannot write: {}", std::strerror(errno));
            throw Ended{};
        }
        out_.clear();
    }

  private:
    static constexpr std::size_t flush_bytes = 1 << 16;

    void report(const PassedOver& passed_over, const std::string& path) {
        candidates_ += passed_over.candidates();
        for (const std::string& line : passed_over.lines(path)) {
            complain("{}", line);
        }
    }

    void decode_frame(std::span<const std::byte> bytes, std::uint64_t packet,
                      PassedOver& passed_over) {
        nic::Packet frame;
        frame.bytes = bytes.data();
        frame.length_bytes = static_cast<std::uint32_t>(bytes.size());
        nic::Datagram datagram;
        if (!passed_over.parse(frame, datagram)) {
            return;
        }
        const auto found = origins_.find({{datagram.group_ip}, datagram.port});
        if (found == origins_.end()) {
            passed_over.count_unknown(datagram);
        } else {
            ++to_lines_;
        }
        const feed::Origin origin = found == origins_.end() ? feed::Origin{} : found->second;
        venue_.append_datagram(out_, datagram.payload, origin, packet, json_);
    }

    bool json_;
    const feed::VenueServices& venue_;
    std::map<nic::Group, feed::Origin> origins_;
    std::string out_;
    std::uint64_t packets_ = 0;     ///< of all files
    std::uint64_t candidates_ = 0;  ///< packets that may have held market data
    std::uint64_t to_lines_ = 0;
};

struct DecodeOptions {
    std::vector<std::string> files;
    std::string config;
    RangeOptions range;  ///< of a recording
    bool json = false;
    bool text = false;
};

/// The venue and lines of the config, or all published lines of the default venue if there is no
/// config.
actors::FeedConfig config_of(const std::string& config_file) {
    actors::FeedConfig config;
    if (config_file.empty()) {
        config.lines = feed::venue_services(config.kind).published_lines();
    } else {
        config = load_or_end(actors::load_config, config_file);
    }
    return config;
}

bool decode_part(const DecodeOptions& options, Decoder& decoder) {
    if (options.files.size() != 1) {
        complain("--from, --to and --lines: expected the folder of one recording, found {} names",
                 options.files.size());
        throw Ended{Exit::usage};
    }
    const std::string& folder = options.files.front();
    feed::RecordedPackets packets = open_recording(folder);
    packets.select(range_of(options.range, packets));
    return decoder.decode_recording(folder, packets);
}

bool decode_files(const DecodeOptions& options, Decoder& decoder) {
    Problems problems;
    const std::vector<std::string> files = nic::capture_files(options.files, problems);
    print_problems(problems);
    bool good = problems.empty();
    Progress progress{"packets", share_of_files(files), shows_progress()};
    for (const std::string& file : files) {
        good = decoder.decode_file(file, progress) && good;
    }
    return good;
}

Exit decode(const DecodeOptions& options) {
    Decoder decoder{options.json, config_of(options.config)};
    const bool good =
        options.range.any() ? decode_part(options, decoder) : decode_files(options, decoder);
    decoder.flush();
    return decoder.reached_lines() && good ? Exit::ok : Exit::failed;
}

}  // namespace

void add_decode(CLI::App& app, Outcome& outcome) {
    const auto [command, options] =
        add_command(app, outcome, "decode", "Print every message of captures", decode);
    command->footer(
        "Standard error reports at the end of each capture how many packets held no block, and\n"
        "why.\n"
        "Exit status: 0 success; 1 a file was not read to its end, packets of a line were cut by\n"
        "the snapshot length, or packets came and none reached a line (packets of other protocols\n"
        "such as ARP or TCP do not count); 78 wrong config.\n\n"
        "Examples:\n"
        "  pinstrike decode morning.pcap\n"
        "  pinstrike decode a.pcap b.pcapng --json | jq 'select(.symbol == \"SPXW\")'\n"
        "  pinstrike decode /var/lib/pinstrike/opra/record --from 14:00 --to 14:05 --lines 1-4");
    command
        ->add_option("FILE", options->files,
                     "Captures, one after the other: pcap or pcapng, also compressed (gzip, zstd, "
                     "lz4, xz); a folder stands for all captures in it")
        ->required();
    add_range(*command, options->range);
    command->add_option("--config", options->config,
                        "Find lines by the groups of this config (default: all published lines)");
    CLI::Option* as_json =
        command->add_flag("--json", options->json, "One canonical JSON object for each message");
    command->add_flag("--text", options->text, "One readable line for each message (the default)")
        ->excludes(as_json);
}

}  // namespace pinstrike::command
