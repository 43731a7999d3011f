// path: cold
//
// `pinstrike record cut`: a part of a recording as one capture.
#include "actors/command/command.h"
#include "actors/command/progress.h"
#include "actors/command/range_options.h"
#include "actors/topology/feed_config.h"
#include "config/whole_file.h"
#include "feed/event/series_key.h"
#include "feed/recording/left_out.h"
#include "feed/recording/recorded_packets.h"
#include "feed/venue_services.h"
#include "nic/capture/capture_writer.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::command {
namespace {

struct RecordCutArguments {
    std::string folder;
    RangeOptions range;
    std::string stream;
    std::string out;
    std::vector<std::string> underlyings;
};

/// Which packets of the range are written. Without symbols: all.
class Selection {
  public:
    explicit Selection(const std::vector<std::string>& roots) {
        for (const std::string& root : roots) {
            symbols_.push_back(feed::symbol_word_of(root));
        }
    }

    [[nodiscard]] std::string_view file_comment() const {
        return symbols_.empty() ? std::string_view{} : feed::cut_comment;
    }

    /// Whether the packet is written; then `comment` is that of the packet.
    [[nodiscard]] bool takes(std::span<const std::byte> frame, std::uint16_t line,
                             std::string& comment) {
        comment.clear();
        if (symbols_.empty()) {
            return true;
        }
        const auto payload = line == 0 ? std::nullopt : feed::payload_of(frame);
        const feed::Concern concern = payload     ? services_.concern_of(*payload, symbols_)
                                      : line == 0 ? feed::Concern::other
                                                  : feed::Concern::damaged;
        if (concern == feed::Concern::wanted) {
            comment = left_out_.take_comment(line);
            return true;
        }
        ++(concern == feed::Concern::other ? others_ : damaged_);
        const auto numbers = concern == feed::Concern::other && payload
                                 ? services_.numbers_of(*payload)
                                 : std::nullopt;
        if (numbers) {
            left_out_.add(line, *numbers);
        }
        return false;
    }

    /// Says how many packets takes() refused.
    void report() const {
        if (!symbols_.empty()) {
            complain("{} packets of other underlyings or of no line, and {} damaged ones left out",
                     others_, damaged_);
        }
    }

  private:
    const feed::VenueServices& services_ = feed::venue_services(actors::FeedConfig{}.kind);
    std::vector<std::uint64_t> symbols_;
    feed::LeftOut left_out_;
    std::uint64_t others_ = 0;
    std::uint64_t damaged_ = 0;
};

feed::PacketRange range_of(const RecordCutArguments& given, const feed::RecordedPackets& packets) {
    feed::PacketRange range = range_of(given.range, packets);
    if (!given.stream.empty()) {
        range.stream = given.stream == "A" ? feed::Stream::a : feed::Stream::b;
    }
    return range;
}

/// Writes the packets of the range, and returns their number. Ends the command if the output fails.
std::uint64_t write(feed::RecordedPackets& packets, Selection& selection, const std::string& out) {
    Problems problems;
    WholeFile file{out};
    if (file.where().empty()) {
        complain("{}: {}", out, std::strerror(file.error()));
        throw Ended{};
    }
    auto writer = nic::CaptureWriter::open(file.where(), problems, selection.file_comment());
    end_unless(writer.has_value(), problems);
    std::uint64_t count = 0;
    std::string comment;
    {
        Progress progress{"packets", [&packets] { return packets.share_read(); }};
        while (const auto packet = packets.next()) {
            progress.step(count);
            if (selection.takes(packet->frame, packets.origin().line, comment)) {
                writer->write(packet->frame, packet->ts_ns, comment);
                ++count;
            }
        }
    }
    end_unless(writer->close(problems), problems);
    if (!file.commit()) {
        complain("{}: {}", out, std::strerror(errno));
        throw Ended{};
    }
    return count;
}

Exit cut(const RecordCutArguments& given) {
    if (!given.underlyings.empty() && !given.out.ends_with(".pcapng")) {
        complain(
            "--out {}: expected a name that ends in .pcapng, because comments of packets state "
            "what --underlyings leaves out",
            given.out);
        return Exit::usage;
    }
    feed::RecordedPackets packets = open_recording(given.folder);
    packets.select(range_of(given, packets));
    Selection selection{given.underlyings};
    const std::uint64_t count = write(packets, selection, given.out);
    for (const std::string& text : packets.damage()) {
        complain("{}", text);
    }
    complain("{} packets written", count);
    selection.report();
    if (packets.not_recorded() != 0) {
        complain("up to {} packets are missing because they were not recorded",
                 packets.not_recorded());
    }
    return packets.damage().empty() && count != 0 ? Exit::ok : Exit::failed;
}

}  // namespace

void add_record_cut(CLI::App& record, Outcome& outcome) {
    const auto [command, given] =
        add_command(record, outcome, "cut", "A part of a recording as one capture", cut);
    command->footer(
        "The packets of all pollers, merged by time; `replay`, `decode`, `record export` and\n"
        "Wireshark read the capture. Moments are in New York time, or in UTC with a Z behind\n"
        "them. Without a date the recording must be of one day.\n"
        "With --underlyings, packets without a message of these are left out, except those that\n"
        "concern a whole line, such as resets. Comments of the packets that follow state the\n"
        "messages left out, which a replay does not count as lost.\n"
        "Exit status: 0 success; 1 no packet is in the range, the output failed, or a part of\n"
        "the recording is damaged; 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike record cut recording --from 14:00 --to 14:05 --lines 1-4 --out part.pcapng\n"
        "  pinstrike record cut recording --from 2026-11-25T19:00Z --stream A --out a.pcap\n"
        "  pinstrike record cut recording --underlyings SPY,QQQ --out spy-qqq.pcapng");
    command->add_option("FOLDER", given->folder, "The folder of the recording")->required();
    add_range(*command, given->range);
    command->add_option("--stream", given->stream, "A or B (default: both)")
        ->check(CLI::IsMember({"A", "B"}));
    add_underlyings(*command, given->underlyings,
                    "Only packets with a message of these underlyings, by root (default: "
                    "all packets)");
    command
        ->add_option("--out", given->out,
                     "The capture to write: pcapng if it ends in .pcapng, else pcap")
        ->required();
}

}  // namespace pinstrike::command
