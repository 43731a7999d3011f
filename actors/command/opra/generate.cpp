// path: cold
//
// `pinstrike generate`: writes realistic OPRA traffic to a capture or sends it on an interface. It
// also writes the truth of the traffic: the account and the book that a handler must get from it.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/command/opra/generate_output.h"
#include "config/units.h"
#include "config/whole_file.h"
#include "feed/opra/lines.h"
#include "feed/opra/traffic/delivery.h"
#include "feed/opra/traffic/presets.h"
#include "feed/opra/traffic/series_map_file.h"
#include "feed/opra/traffic/traffic_config.h"
#include "feed/opra/traffic/traffic_session.h"
#include "feed/opra/traffic/truth_account.h"
#include "feed/opra/traffic/truth_book.h"

#include <fmt/core.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::command {

namespace {

namespace traffic = feed::opra::traffic;
using feed::opra::PacketShape;
using feed::opra::StreamFaults;
using feed::opra::TrafficConfig;

struct GenerateOptions {
    TrafficConfig traffic;
    std::string preset;
    std::string lines = "1-96";
    std::string streams = "AB";
    std::string out;
    std::string interface;
    std::string truth;
    std::string series_map;
    bool no_session = false;
    std::int64_t for_ns = 0;  ///< 0: the traffic once
    double skew_a_us = 0;
    double skew_b_us = 0;
    double retransmit_after_us = 1000;
    std::optional<std::uint64_t> messages;
    std::optional<std::uint64_t> packets;
};

/// Gives each block of the session to all its consumers.
struct Audience final : traffic::BlockSink {
    Audience(traffic::Delivery& to, bool keeps) : delivery(to), keeps_truth(keeps) {}

    void block(const traffic::SentBlock& block) override {
        ++blocks;
        messages += block.messages.size();
        delivery.block(block);
        if (keeps_truth) {
            book.block(block);
        }
    }

    traffic::Delivery& delivery;
    traffic::BookTruth book;
    bool keeps_truth;
    std::uint64_t blocks = 0;
    std::uint64_t messages = 0;
};

/// Parses numbers of lines such as "1-96,220". Ends the command if they are wrong.
std::vector<feed::LineConfig> lines_of(std::string_view text) {
    const auto numbers = parse_ranges(text);
    if (!numbers) {
        complain("--lines: found {}, expected numbers and ranges", text);
        throw Ended{Exit::usage};
    }
    std::vector<feed::LineConfig> lines;
    for (const std::uint16_t number : *numbers) {
        const auto line = feed::opra::published_line(number);
        if (!line) {
            complain("--lines: found {}, which is no line of OPRA", number);
            throw Ended{Exit::usage};
        }
        lines.push_back(*line);
    }
    const bool speaks = std::ranges::any_of(lines, [](const feed::LineConfig& line) {
        return traffic::use_of_line(line.number) != traffic::LineUse::maps;
    });
    if (!speaks) {
        complain("--lines: expected a line of 1-96 or 201-204");
        throw Ended{Exit::usage};
    }
    return lines;
}

void apply_preset(GenerateOptions& options) {
    if (options.preset.empty()) {
        return;
    }
    traffic::shape_as(options.preset, options.traffic);
    options.no_session = true;
    options.streams = "A";
    if (!options.messages && !options.packets) {
        options.packets = traffic::preset_packets;
    }
}

TrafficConfig traffic_of(GenerateOptions& options, std::size_t lines_count) {
    apply_preset(options);
    TrafficConfig config = options.traffic;
    config.session = !options.no_session;
    config.lines_count = lines_count;
    config.packets_count = options.packets.value_or(0);
    if (options.messages) {
        config.messages_count = *options.messages;
    } else if (options.packets && options.no_session) {
        config.messages_count = std::numeric_limits<std::uint64_t>::max();
    }
    config.a.skew_ns = static_cast<std::int64_t>(options.skew_a_us * 1e3);
    config.b.skew_ns = static_cast<std::int64_t>(options.skew_b_us * 1e3);
    config.retransmitted_after_ns = static_cast<std::int64_t>(options.retransmit_after_us * 1e3);
    return config;
}

/// If a hole lasts longer than this, a handler may have declared messages lost that arrive later.
/// Its book then depends on its window, so there is no exact truth for the book.
constexpr std::int64_t exact_book_hole_ns = 1'000'000;

bool write_stream(const std::string& path, const std::function<void(std::ostream&)>& put) {
    WholeFile whole{path};
    std::ofstream file{whole.where()};
    put(file);
    file.close();
    return file.good() && whole.commit();
}

bool write_truth(const std::string& prefix, const Audience& audience,
                 const traffic::AccountTruth& account, std::int64_t longest_hole_ns) {
    bool good =
        write_stream(prefix + ".account.json", [&](std::ostream& out) { account.write(out); });
    if (account.nothing_lost() && longest_hole_ns < exact_book_hole_ns) {
        good = write_stream(prefix + ".book.json",
                            [&](std::ostream& out) { audience.book.write(out); }) &&
               good;
    } else {
        std::remove((prefix + ".book.json").c_str());
        fmt::print("no book truth: {}\n", account.nothing_lost()
                                              ? "copies are too late for an exact one"
                                              : "messages were lost on both streams");
    }
    return good;
}

void write_series_map(const std::string& path, const TrafficConfig& config,
                      const std::vector<feed::LineConfig>& lines) {
    const auto put = [&](std::ostream& out) { traffic::write_series_map(out, config, lines); };
    if (!path.empty() && !write_stream(path, put)) {
        complain("cannot write {}", path);
        throw Ended{};
    }
}

Exit generate(GenerateOptions options) {
    const bool packets = !options.out.empty() || !options.interface.empty();
    const bool both = !options.out.empty() && !options.interface.empty();
    if (both || (!packets && options.series_map.empty())) {
        complain("generate: expected one of --out and --interface, or --series-map");
        return Exit::usage;
    }
    const std::vector<feed::LineConfig> lines = lines_of(options.lines);
    const TrafficConfig config = traffic_of(options, lines.size());
    if (options.for_ns != 0 && !options.truth.empty()) {
        complain("--for repeats the traffic, and has no truth");
        return Exit::usage;
    }
    write_series_map(options.series_map, config, lines);
    if (!packets) {
        return Exit::ok;  // because only the series map was requested
    }
    if (options.for_ns != 0) {
        return send_loop(config, lines, options.streams, options.interface, options.for_ns);
    }
    const std::unique_ptr<GenerateOutput> output = open_output(options.out, options.interface);
    if (output == nullptr) {
        return Exit::failed;
    }
    traffic::AccountTruth account;
    traffic::Delivery delivery{config, lines, options.streams, *output,
                               options.truth.empty() ? nullptr : &account};
    Audience audience{delivery, !options.truth.empty()};
    traffic::TrafficSession{config, lines, audience}.run();
    delivery.finish();
    const bool good = options.truth.empty() ||
                      write_truth(options.truth, audience, account, delivery.longest_hole_ns());
    if (!good) {
        complain("cannot write the truth to {}.*", options.truth);
    }
    fmt::print("{} messages in {} blocks\n", audience.messages, audience.blocks);
    return output->finish() && good ? Exit::ok : Exit::failed;
}

void add_faults(CLI::App& command, const std::string& stream, StreamFaults& faults,
                double& skew_us) {
    const auto share = [&](const std::string& name, double& value, const std::string& what) {
        command.add_option("--" + name + "-" + stream, value, what)
            ->check(CLI::Range(0.0, 1.0))
            ->group("Faults of stream " + stream);
    };
    share("loss", faults.loss, "Share of packets lost");
    share("duplicate", faults.duplicate, "Share of packets sent twice");
    share("reorder", faults.reorder, "Share of packets delayed by up to 200 us");
    share("corrupt", faults.corrupt, "Share of packets with a damaged byte");
    command.add_option("--skew-" + stream, skew_us, "Microseconds behind the other stream")
        ->check(CLI::NonNegativeNumber)
        ->group("Faults of stream " + stream);
}

/// A validator for CLI11, which would read -1 as the largest unsigned number.
std::string is_count(const std::string& text) {
    return text.starts_with('-') ? text + " is below 0" : std::string{};
}

void add_retransmission(CLI::App& command, GenerateOptions& options) {
    const auto share = [&](const char* name, double& value, const char* what) {
        command.add_option(name, value, what)
            ->check(CLI::Range(0.0, 1.0))
            ->group("Retransmission groups");
    };
    share("--retransmit", options.traffic.retransmitted,
          "Share of the packets lost on both streams that are retransmitted");
    share("--retransmit-others", options.traffic.retransmitted_to_others,
          "Share of the other packets that are retransmitted, as for another receiver");
    command
        .add_option("--retransmit-after", options.retransmit_after_us,
                    "Microseconds after the loss can be known")
        ->check(CLI::NonNegativeNumber)
        ->group("Retransmission groups");
}

void add_traffic(CLI::App& command, GenerateOptions& options) {
    TrafficConfig& config = options.traffic;
    static const std::map<std::string, PacketShape> shapes{{"full", PacketShape::full},
                                                           {"ordinary", PacketShape::ordinary},
                                                           {"blend", PacketShape::blend}};
    command.add_option("--seed", config.seed, "The same seed makes the same bytes")
        ->check(is_count);
    command
        .add_option_function<std::string>(
            "--shape", [&config](const std::string& name) { config.shape = shapes.at(name); },
            "full: blocks of 1000 bytes; ordinary: 2.26 messages on average; blend: bursts")
        ->check(CLI::IsMember(&shapes));
    command
        .add_option("--messages", options.messages,
                    "Approximate number of messages, at which the day ends")
        ->check(is_count);
    command
        .add_option("--packets", options.packets,
                    "Approximate number for each stream, at which the day ends too")
        ->check(is_count);
    command.add_option("--rate", config.rate_messages_per_second, "Messages a second")
        ->check(CLI::PositiveNumber);
    command.add_option("--mix", config.mix, "0: plain short quotes; 1: the realistic mix")
        ->check(CLI::Range(0.0, 1.0));
    command.add_option("--lines", options.lines, "Lines, as in 1-96,201-204,220");
    command.add_option("--series", config.series_count, "Series listed")->check(is_count);
    command.add_option("--roots", config.roots_count, "Roots of the series")->check(is_count);
    command.add_option("--maps", config.maps_count, "Series maps at the start of day")
        ->check(is_count);
    command.add_option("--test-symbols", config.test_symbols, "Share of reserved test symbols")
        ->check(CLI::Range(0.0, 1.0));
    command
        .add_option("--burst-factor", config.burst_factor, "Rate in bursts over the ordinary rate")
        ->check(CLI::Range(1.0, 1000.0));
    command.add_option("--burst-share", config.burst_share, "Share of the time in bursts")
        ->check(CLI::Range(0.0, 0.9));
    command.add_option("--preset", options.preset, "A capture for measurements, on stream A alone")
        ->check(CLI::IsMember(traffic::preset_names));
    command.add_flag("--no-session", options.no_session, "Mid-day: no start, no end");
    command
        .add_option("--first-sequence", config.first_sequence, "Number of the first data message")
        ->check(CLI::PositiveNumber);
    command.add_option("--restarts", config.restarts_count, "Number of cold restarts")
        ->check(is_count);
    command.add_flag("--disaster", config.disaster, "The disaster site takes over during the day");
    command.add_flag("--rollover-reset", config.rollover_reset, "Announce the wrap by a reset");
    command.add_flag(
        "--end-with-reset", config.end_with_reset,
        "End with a reset to 0 on every line, so that the capture may be looped without end");
}

}  // namespace

void add_generate(CLI::App& app, Outcome& outcome) {
    const auto [command, options] =
        add_command(app, outcome, "generate",
                    "Generate realistic OPRA traffic, and its expected results", generate);
    command->footer(
        "Exit status: 0 success; 1 it failed; 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike generate --out day.pcap --messages 100000 --series 20000 --truth day\n"
        "  pinstrike generate --out lossy.pcap --loss-a 0.01 --loss-b 0.01 --truth lossy\n"
        "  pinstrike generate --out loop.pcap --preset ordinary\n"
        "  pinstrike generate --series-map series.csv --series 1500000\n"
        "  pinstrike generate --interface veth0 --messages 1000000 --rate 200000\n"
        "  pinstrike generate --interface veth0 --for 60s --rate 500000");
    command->add_option("--out", options->out, "Capture to write (.pcap, .pcapng)");
    command->add_option("--interface", options->interface,
                        "Interface on which to send, in real time");
    add_duration(*command, "--for", options->for_ns,
                 "How long: 8h, 10m, 60s, 500ms. Sends a loop of the traffic, which has no truth")
        ->needs("--interface");
    command->add_option("--streams", options->streams, "Streams to generate")
        ->check(CLI::IsMember({"A", "B", "AB"}));
    command->add_option("--truth", options->truth,
                        "Write PREFIX.account.json and, if nothing is lost, PREFIX.book.json");
    command->add_option("--series-map", options->series_map,
                        "Write the day's series and their lines, for a config's series_map");
    add_traffic(*command, *options);
    add_faults(*command, "a", options->traffic.a, options->skew_a_us);
    add_faults(*command, "b", options->traffic.b, options->skew_b_us);
    add_retransmission(*command, *options);
}

}  // namespace pinstrike::command
