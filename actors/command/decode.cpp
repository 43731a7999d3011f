// path: cold
//
// `pinstrike decode`: every message of captures, packet by packet as they stand, without
// arbitration or filter.
#include "actors/command/command.h"
#include "actors/command/print_problems.h"
#include "feed/opra/json.h"
#include "feed/opra/lines.h"
#include "feed/opra/parse.h"
#include "nic/capture_reader.h"
#include "nic/datagram.h"

#include <fmt/core.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pinstrike::command {

namespace {

namespace opra = feed::opra;

/// Line and stream by group and port: production and retransmission alike.
std::map<nic::Group, opra::Origin> origins_of(const std::vector<feed::LineConfig>& lines) {
    std::map<nic::Group, opra::Origin> origins;
    for (const feed::LineConfig& line : lines) {
        for (std::size_t stream = 0; stream < feed::streams_count; ++stream) {
            const opra::Origin origin{line.number, stream == 0 ? 'A' : 'B'};
            origins[line.streams[stream]] = origin;
            origins[line.retransmission[stream]] = origin;
        }
    }
    return origins;
}

/// The reason to tell of a block that cannot be decoded as a whole or to its end; empty: none. A
/// block of no messages has nothing to decode.
std::string_view reason_of(const opra::CheckResult& result) {
    const std::uint32_t told =
        result.reasons & ~opra::remarks & ~opra::reason_bit(opra::BlockReject::no_messages);
    if (told == 0) {
        return {};
    }
    return row_of(static_cast<opra::BlockReject>(std::countr_zero(told))).sentence;
}

std::optional<std::uint32_t> sequence_of_block(std::span<const std::byte> payload) {
    if (payload.size() < opra::block::header_bytes ||
        opra::get<opra::block::version>(payload.data()) != 6) {
        return std::nullopt;
    }
    return opra::get<opra::block::sequence>(payload.data());
}

class Decoder {
  public:
    explicit Decoder(bool json) : json_(json), origins_(origins_of(published())) {}

    /// All packets of one capture; false, with a message on stderr, where it cannot be read to its
    /// end or the output cannot be written.
    bool decode_file(const std::string& path) {
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
        for (std::uint64_t packet = 1; reader->next(frame); ++packet) {
            decode_frame(frame.bytes, packet);
            if (out_.size() >= flush_bytes && !flush()) {
                return false;
            }
        }
        if (!reader->complaint().empty()) {
            complain("{}: {}", path, reader->complaint());
            return false;
        }
        return true;
    }

    /// False, with a message on stderr, where the output cannot be written.
    bool flush() {
        const bool written = std::fwrite(out_.data(), 1, out_.size(), stdout) == out_.size() &&
                             std::fflush(stdout) == 0;
        if (!written) {
            complain("cannot write: {}", std::strerror(errno));
        }
        out_.clear();
        return written;
    }

  private:
    static constexpr std::size_t flush_bytes = 1 << 16;

    static std::vector<feed::LineConfig> published() {
        const auto numbers = opra::published_lines();
        return opra::published_lines(numbers);
    }

    void decode_frame(std::span<const std::byte> bytes, std::uint64_t packet) {
        nic::Packet frame;
        frame.bytes = bytes.data();
        frame.length_bytes = static_cast<std::uint32_t>(bytes.size());
        nic::Datagram datagram;
        if (nic::parse_udp(frame, nic::ChecksumCheck::off, datagram) != nic::not_dropped) {
            return;
        }
        const auto found = origins_.find({{datagram.group_ip}, datagram.port});
        const opra::Origin origin = found == origins_.end() ? opra::Origin{} : found->second;
        const opra::Parsed parsed = opra::parse_block(datagram.payload, true);
        const std::size_t count = parsed.block ? parsed.block->messages.size() : 0;
        for (std::size_t i = 0; i < count; ++i) {
            json_ ? opra::append_json(out_, origin, *parsed.block, i)
                  : opra::append_text(out_, origin, *parsed.block, i);
        }
        if (const std::string_view reason = reason_of(parsed.result); !reason.empty()) {
            const opra::BlockError error{reason, origin, sequence_of_block(datagram.payload),
                                         packet};
            json_ ? opra::append_json(out_, error) : opra::append_text(out_, error);
        }
    }

    bool json_;
    std::map<nic::Group, opra::Origin> origins_;
    std::string out_;
};

struct DecodeOptions {
    std::vector<std::string> files;
    bool json = false;
    bool text = false;
};

Exit decode(const DecodeOptions& options) {
    Decoder decoder{options.json};
    bool good = true;
    for (const std::string& file : options.files) {
        good = decoder.decode_file(file) && good;
    }
    return decoder.flush() && good ? Exit::ok : Exit::failed;
}

}  // namespace

void add_decode(CLI::App& app, Outcome& outcome) {
    auto options = std::make_shared<DecodeOptions>();
    CLI::App* command = app.add_subcommand("decode", "Print every message of captures");
    command->footer(
        "Examples:\n"
        "  pinstrike decode morning.pcap\n"
        "  pinstrike decode a.pcap b.pcapng --json | jq 'select(.symbol == \"SPXW\")'");
    command->add_option("FILE", options->files, "Captures, pcap or pcapng, one after the other")
        ->required();
    CLI::Option* json =
        command->add_flag("--json", options->json, "One canonical JSON object a line");
    command->add_flag("--text", options->text, "One line for people a message (the default)")
        ->excludes(json);
    command->callback([options, &outcome] { outcome.status = decode(*options); });
}

}  // namespace pinstrike::command
