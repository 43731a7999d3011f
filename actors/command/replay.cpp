// path: cold
//
// `pinstrike replay`: captures through the production path, poller thread, rings, cores and actors.
// The input can wait, so nothing is refused.
#include "actors/command/command.h"
#include "actors/command/drive.h"
#include "actors/command/print_problems.h"
#include "actors/load_config.h"
#include "config/units.h"
#include "feed/opra/lines.h"
#include "nic/capture_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::command {
namespace {

/// "max", "real", or "x2.5".
std::optional<nic::Pace> parse_pace(const std::string& text) {
    if (text == "max") {
        return nic::Pace{0};
    }
    if (text == "real") {
        return nic::Pace{1};
    }
    const auto factor = text.rfind('x', 0) == 0 ? parse_number(text.substr(1)) : std::nullopt;
    return factor && *factor > 0 ? std::optional{nic::Pace{*factor}} : std::nullopt;
}

/// One poller and one core for all published lines.
actors::FeedConfig default_config() {
    actors::FeedConfig config;
    config.lines = feed::opra::published_lines(feed::opra::published_lines());
    actors::PollerConfig poller;
    poller.name = "poll0";
    for (const feed::LineConfig& line : config.lines) {
        poller.lines.push_back(line.number);
    }
    config.pollers.push_back(std::move(poller));
    actors::CoreConfig core;
    core.name = "core0";
    core.wait = actors::WaitStrategy::park;
    config.cores.push_back(std::move(core));
    config.log_level = actors::LogLevel::warning;  // its output is what it found
    return config;
}

/// The config's threads and lines, fed by the captures alone.
void feed_from(actors::FeedConfig& config, const std::vector<std::string>& files, nic::Pace pace) {
    nic::PortConfig port;
    port.name = "capture";
    port.kind = nic::PortKind::pcap;
    port.files = files;
    port.pace = pace;
    config.ports = {port};
    config.when_full = actors::WhenFull::wait;
    for (actors::PollerConfig& poller : config.pollers) {
        poller.ports = {port.name};
        if (pace.factor != 0) {
            poller.wait = actors::WaitStrategy::park;
        }
    }
}

/// Are all files there, and captures? Tells what is wrong with each.
bool readable(const std::vector<std::string>& files) {
    Problems problems;
    for (const std::string& file : files) {
        if (file != "-") {
            static_cast<void>(nic::CaptureReader::open(file, problems));
        }
    }
    print_problems(problems);
    return problems.empty();
}

struct Arguments {
    std::vector<std::string> files;
    std::string config;
    std::string pace = "max";
    DriveOptions drive;
};

Exit replay(const Arguments& given) {
    std::optional<actors::FeedConfig> config;
    if (given.config.empty()) {
        config = default_config();
    } else {
        Problems problems;
        config = actors::load_config(given.config, problems);
        print_problems(problems);
        if (!config) {
            return Exit::config;
        }
    }
    if (!readable(given.files)) {
        return Exit::failed;
    }
    feed_from(*config, given.files, *parse_pace(given.pace));
    DriveOptions options = given.drive;
    options.config_file = given.config;
    return drive(*config, options);
}

}  // namespace

void add_replay(CLI::App& app, Outcome& outcome) {
    auto given = std::make_shared<Arguments>();
    CLI::App* command =
        app.add_subcommand("replay", "Run captures through the production path, refusing nothing");
    command->footer(
        "Several files are merged by time. Without --config: all published lines, one poller, one\n"
        "core with a book. Timers run on the captures' time: every pace gives the same events.\n"
        "Exit status: 0 right, 1 unreadable file or unbalanced account, 78 wrong config.\n"
        "\nExamples:\n"
        "  pinstrike replay day.pcap --account account.json --book book.json\n"
        "  pinstrike replay a.pcap b.pcap --pace x10 --config config/opra.yaml");
    command->add_option("FILE", given->files, "Captures: pcap or pcapng (-: standard input)")
        ->required();
    command->add_option("--config", given->config, "Threads, lines and book of this config");
    command->add_option("--pace", given->pace, "max, real, or xN (N times real)")
        ->capture_default_str()
        ->check([](const std::string& text) {
            return parse_pace(text) ? std::string{} : text + " is none of max, real, xN";
        });
    command->add_option("--account", given->drive.account_file,
                        "Write the account as JSON at the end (-: standard output)");
    command->add_option("--book", given->drive.book_file,
                        "Write every series' state at the end (-: standard output)");
    command->callback([given, &outcome] { outcome.status = replay(*given); });
}

}  // namespace pinstrike::command
